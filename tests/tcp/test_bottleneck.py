"""Rate-limited paths: the chain behind a bottleneck that the flow fills, against its twin and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sack_twin
import slow_start_twin
from strategies import RTT
from tcpstream import InputError, Path, Video, live, stored, throughput
from tcpstream.explore.load import rtt_for
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.independent import IndependentBacklog
from tcpstream.tcp import chain_key, chain_of, reno_sack
from tcpstream.tcp.bottleneck import line


def limited(pipe, buffer, **others):
    """A path that carries `pipe` packets a round."""
    usual = {"sender": "classic", "loss": 0.08, "rtt": RTT, "timeout_ratio": 1.5, "backoff": "paper"}
    usual |= {"tcp": "reno-sack"}
    return Path(**(usual | {"bottleneck": pipe / others.get("rtt", RTT), "buffer": buffer} | others))


@st.composite
def limited_paths(draw, largest=12):
    return limited(
        draw(st.floats(2, largest)),
        draw(st.integers(0, largest)),
        loss=draw(st.floats(1e-4, 0.5)),
        timeout_ratio=draw(st.floats(1, 4)),
        rounds_per_increase=draw(st.sampled_from([1, 2])),
        halving=draw(st.sampled_from(["floor", "ceil"])),
        initial_window=draw(st.sampled_from([None, 1, 2])),
        detection=draw(st.sampled_from(["duplicates", "rack"])),
    )


def test_windows_grow_by_a_packet_a_round_and_then_by_acknowledgements_at_the_rate():
    """Above C R the square of the window grows by 2 C R a round."""
    path = limited(40, 60)
    windows = line(path)
    assert windows[:40].tolist() == list(range(1, 41))
    rounds = len(windows) - 40
    assert rounds == pytest.approx((100**2 - 40**2) / (2 * 40), abs=1)
    assert len(line(limited(40, 60, rounds_per_increase=2))) == pytest.approx(80 + 2 * rounds, abs=2)
    assert path.max_window == 100
    assert windows[-1] >= 99


@settings(max_examples=40)
@given(limited_paths())
def test_rows_sum_to_one_and_nothing_is_faster_than_the_bottleneck(path):
    chain = chain_of(path)
    arrays = chain.written_out
    np.testing.assert_allclose(np.bincount(arrays.from_state, arrays.probability), 1, rtol=0, atol=1e-12)
    assert chain.graph.windows.max() <= math.ceil(path.pipe)
    assert throughput(path) <= path.bottleneck
    n = len(arrays.labels)
    matrix, packets, rounds = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    np.add.at(matrix, (arrays.from_state, arrays.to_state), arrays.probability)
    np.add.at(packets, arrays.from_state, arrays.probability * arrays.received)
    np.add.at(rounds, arrays.from_state, arrays.probability * arrays.rounds)
    balance = matrix.T - np.eye(n)
    balance[-1] = 1.0
    law = np.linalg.solve(balance, np.eye(n)[-1])
    assert chain.packets_per_round == pytest.approx(law @ packets / (law @ rounds), rel=1e-9)


def test_without_losses_it_is_the_sawtooth():
    """From half of W_max to W_max by a packet a round, and the round that repairs: without a buffer it is 3/4 of C."""
    path = limited(100, 0, loss=1e-9)
    repair = int(reno_sack(path).graph.windows[reno_sack(path).graph.overflow_state])
    packets, rounds = sum(range(50, 101)) + repair, 52
    assert throughput(path) * RTT == pytest.approx(packets / rounds, rel=1e-5)
    assert throughput(path) == pytest.approx(0.75 * path.bottleneck, rel=0.01)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("buffer", [100, 150])
def test_a_buffer_of_the_pipe_keeps_the_bottleneck_busy(b, buffer):
    path = limited(100, buffer, loss=1e-9, rounds_per_increase=b)
    assert throughput(path) == pytest.approx(path.bottleneck, rel=0.01)


def test_a_bottleneck_that_is_never_reached_is_none():
    free = Path(sender="classic", loss=0.2, rtt=RTT, timeout_ratio=1.5, tcp="reno-sack")
    assert throughput(limited(120, 0, loss=0.2, backoff="rfc6298")) == pytest.approx(throughput(free), rel=1e-9)


CASES = [
    (4.5, 3, 1, {}), (3, 0, 1, {}), (2, 6, 1, {"detection": "rack"}), (3.3, 4, 2, {"halving": "ceil"}),
    (4.5, 3, 1, {"tcp": "cubic", "rtt": 1.0}), (3, 0, 1, {"tcp": "cubic"}),
    (2.6, 6, 1, {"tcp": "cubic", "detection": "rack"}),
]  # fmt: skip


@pytest.mark.parametrize(("pipe", "buffer", "b", "others"), CASES)
def test_stored_is_its_twin(pipe, buffer, b, others):
    path = limited(pipe, buffer, rounds_per_increase=b, **others)
    video = Video(packet_rate=17, duration=2)
    result = stored(path, video)
    for tau in (0.0, 0.35, 1.0):
        late, alpha = sack_twin.stored(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
        assert result.no_late_probability(tau) == pytest.approx(alpha, abs=1e-12)
    assert result.error_bound < 1e-12


@pytest.mark.parametrize(
    ("pipe", "buffer", "b", "others"),
    [
        *CASES[:4],
        pytest.param(*CASES[4], marks=pytest.mark.long),
        CASES[5],
        pytest.param(*CASES[6], marks=pytest.mark.long),
    ],
)
def test_live_is_its_twin(pipe, buffer, b, others):
    path = limited(pipe, buffer, rounds_per_increase=b, **others)
    m = 1
    result = live(path, Video(packet_rate=m / path.rtt))
    ahead = np.array([0, 1, 3, 8, 20])
    twin = sack_twin.live(path, m, ahead, 700)
    assert result.late_fraction(ahead * path.rtt / m) == pytest.approx(twin, rel=1e-7, abs=1e-10)
    assert result.error_bound < 1e-11


@pytest.mark.parametrize(
    ("pipe", "buffer", "b", "others"), [*CASES[:6], pytest.param(*CASES[6], marks=pytest.mark.long), *CASES[7:]]
)
def test_finite_live_is_its_twin(pipe, buffer, b, others):
    path, m = limited(pipe, buffer, rounds_per_increase=b, **others), 2
    video = Video(packet_rate=m / path.rtt, duration=3)
    result = live(path, video)
    for tau in (0.0, 0.25, 1.0):
        late = sack_twin.stream(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
    assert result.error_bound < 1e-12


def wave(path, m, t, entered):
    """What an epoch leaves of a wave exp(t D), from every transition: entries are after losses and overflows.

    The factor, the law of the entries, and how much an entry is worth.
    """
    chain = chain_of(path)
    arrays, n = chain.written_out, chain.graph.size + 14
    values = arrays.probability * np.exp(t * (m * arrays.rounds - arrays.received))
    states = arrays.from_state < chain.graph.size
    whole = states & (arrays.received == np.append(chain.graph.windows, np.zeros(14, dtype=int))[arrays.from_state])
    goes_on = (whole & (arrays.from_state != chain.graph.size - 1)) | (arrays.to_state >= chain.graph.size)
    on, entering = np.zeros((2, n, n), dtype=complex)
    np.add.at(on, (arrays.from_state[goes_on], arrays.to_state[goes_on]), values[goes_on])
    np.add.at(entering, (arrays.from_state[~goes_on], arrays.to_state[~goes_on]), values[~goes_on])
    epoch = np.linalg.solve(np.eye(n) - on, entering)[np.ix_(entered, entered)]
    values, left = np.linalg.eig(epoch.T)
    others, right = np.linalg.eig(epoch)
    largest = np.argmax(np.abs(values))
    law, worth = left[:, largest], right[:, np.argmax(np.abs(others))]
    return values[largest], law / law.sum(), worth * law.sum() / (law @ worth)


@pytest.mark.parametrize("initial", [None, 3])
@pytest.mark.parametrize("loss", [0.05, 1e-4])
def test_waves_are_those_of_the_transitions(loss, initial):
    path, m, t = limited(4.5, 3, loss=loss, initial_window=initial), 2, np.array([0.0, 0.005, 0.01, 0.01 + 0.02j])
    backlog = IndependentBacklog(chain_of(path), Lattice(m, 1))
    found = [one[..., 30:] for one in backlog.waves(np.append(np.full(30, t[0]), t).astype(complex))]
    expected = zip(*[wave(path, m, one, backlog.entered) for one in t])
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one.T, np.array(other), rtol=1e-6, atol=1e-9)
    assert found[0][0] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("pipe", "buffer", "m"), [(33, 0, 20), (20, 20, 14), (20, 10, 15)])
def test_live_without_losses_is_a_cycle(pipe, buffer, m):
    """Followed round by round; hardly any loss disturbs it, and nothing wears out waves of the backlog."""
    path = limited(pipe, buffer, loss=1e-9)
    chain = reno_sack(path)
    ahead, late, state, behind = np.array([0, 5, 20, 40]), np.zeros(4), chain.graph.start, 0
    rounds = 20_000
    for i in range(2 * rounds):
        if behind:
            behind = max(behind + m - int(chain.graph.windows[state]), 0)
            [(state, _)] = chain.graph.growth.of(state)
        else:
            behind = m  # nothing to send
        if i >= rounds:
            late += np.minimum(m, np.maximum(behind - ahead, 0))
    found = live(path, Video(packet_rate=m / RTT), accuracy="exact")
    np.testing.assert_allclose(found.late_fraction(ahead * RTT / m), late / (rounds * m), rtol=2e-3, atol=1e-5)


def test_slow_start_ends_when_the_buffer_is_full():
    """From 10: 20, 40, 73.3 by acknowledgements at the rate; then 106 would not fit."""
    path = limited(33.3, 60, loss=0.01, initial_window=10)
    chain = chain_of(path)
    assert chain.graph.windows[:4].tolist() == [10, 20, 33, 33]
    repair = reno_sack(limited(33.3, 60, loss=0.01)).graph.overflow_state
    behind = chain.graph.size - reno_sack(limited(33.3, 60, loss=0.01)).graph.size
    assert chain.graph.grow_to[:4].tolist() == [1, 2, 3, behind + repair]
    assert chain.graph.overflow_state == behind + repair


def test_a_timeout_halves_what_is_in_flight():
    """Thresholds are of windows, not of what was sent of them: they reach above C R / 2."""
    path = limited(10, 30, loss=1e-3, initial_window=2)
    chain = chain_of(path)
    first = chain.graph.restart
    climbing = chain.graph.windows[first : first + 4].tolist()
    assert climbing == [2, 4, 8, 10]  # windows of 2, 4, 8 and 16, below the largest threshold of 20
    assert dict(chain.graph.growth.of(first + 2))[first + 3] > 0.05


SLOW = [(5.3, 9, 1, 2), (4, 3, 2, 1), (3, 4, 1, 6)]


@pytest.mark.parametrize(("pipe", "buffer", "b", "initial"), SLOW)
@pytest.mark.parametrize("loss", [0.01, 0.2])
def test_throughput_is_that_of_the_chain_that_remembers_thresholds(pipe, buffer, b, initial, loss):
    path = limited(pipe, buffer, rounds_per_increase=b, initial_window=initial, loss=loss)
    T, _ = slow_start_twin.long_run(path)
    assert chain_of(path).packets_per_round == pytest.approx(T, rel=1e-9)


@pytest.mark.parametrize(
    ("pipe", "buffer", "b", "initial"), [pytest.param(*SLOW[0], marks=pytest.mark.long), *SLOW[1:]]
)
def test_slow_start_is_its_twin(pipe, buffer, b, initial):
    path = limited(pipe, buffer, rounds_per_increase=b, initial_window=initial)
    moves, rules = slow_start_twin.chain(slow_start_twin.long_run(path)[1]), slow_start_twin.Rules(path)
    result = stored(path, Video(packet_rate=17, duration=2))
    for tau in (0.0, 0.5):
        late, _ = sack_twin.stored(path, result.video, tau, moves, rules)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
    ahead = np.array([0, 1, 3, 8, 20])
    twin = sack_twin.live(path, 1, ahead, 700, moves, rules)
    assert live(path, Video(packet_rate=8)).late_fraction(ahead / 8) == pytest.approx(twin, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("initial", [None, 3])
def test_a_long_live_stream_is_as_an_endless_one(initial):
    path = limited(6, 5, loss=0.03, initial_window=initial)
    rate = 3 / RTT
    endless, long = (live(path, Video(packet_rate=rate, duration=duration)) for duration in (None, 500))
    taus = [0.0, 0.5, 1.0]
    assert long.late_fraction(taus) == pytest.approx(endless.late_fraction(taus), rel=0.03)


def test_sources_depend_on_the_round_trip_time():
    paths = [limited(10, 5, rtt=rtt, bottleneck=80.0) for rtt in (0.125, 0.25)]
    assert chain_key(paths[0]) != chain_key(paths[1])
    with pytest.raises(InputError, match="needs a path without bottleneck"):
        rtt_for(
            sender="classic",
            loss=0.1,
            timeout_ratio=2,
            packet_rate=10,
            T_over_mu=2,
            tcp="reno-sack",
            bottleneck=80,
            buffer=5,
        )


def test_what_is_whole_stays_whole():
    path = Path(sender="classic", loss=0.1, rtt=0.07, timeout_ratio=2, tcp="reno-sack", bottleneck=100, buffer=3)
    assert 100 * 0.07 > 7
    assert (path.pipe, path.max_window) == (7, 10)
    assert math.isinf(Path(sender="classic", loss=0.1, rtt=0.07, timeout_ratio=2).pipe)


@pytest.mark.parametrize("tcp", ["reno-sack", "cubic"])
def test_timeouts_that_never_happen(tcp):
    """Large windows and next to no losses: rounding decides where a timeout would lead, and nothing depends on it."""
    path = Path(loss=1e-9, rtt=0.15, sender="linux", tcp=tcp, bottleneck=2083.3, buffer=312)
    assert throughput(path) == pytest.approx(path.bottleneck, rel=1e-3)


def test_overflows_decide_where_nothing_else_is_lost():
    """T is C, and a video of .95 C has no packet late once the first slow start is over."""
    path = Path(loss=1e-9, rtt=0.05, sender="linux", tcp="reno-sack", bottleneck=600, buffer=30)
    result = stored(path, Video(packet_rate=570, duration=40), accuracy="fine")
    late = result.late_fraction([0.1, 0.5])
    assert late[0] < 1e-3
    assert late[1] < 1e-5

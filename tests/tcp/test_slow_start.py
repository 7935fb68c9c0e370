"""Slow start: the chains against those that remember their thresholds, every state written out."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sack_twin
import slow_start_twin as twin
from strategies import paths
from tcpstream import InputError, Path, Video, live, stored
from tcpstream.errors import unremarked
from tcpstream.sim import Bernoulli, Link, Tcp, simulate, single_path
from tcpstream.tcp import chain_key, chain_of
from tcpstream.tcp.slow_start import SETTLED, windows
from tcpstream.transient.select import backlogged


def sent(path, tcp, initial_window):
    """The same path with another TCP."""
    values = {
        name.removesuffix("_s").removesuffix("_pps"): value
        for name, value in path.to_dict().items()
        if name not in ("rto_s", "rto_assumed", "losses", "sender")
    }
    with unremarked():
        return Path(**({"sender": "classic"} | values | {"tcp": tcp, "initial_window": initial_window}))


@st.composite
def slow_paths(draw, **limits):
    path = draw(paths(**limits))
    return sent(path, draw(st.sampled_from(["reno", "reno-sack"])), draw(st.integers(1, path.max_window)))


def test_windows():
    """RFC 5681: an acknowledgement adds a packet. With one for two packets, and one for the last of an odd number."""
    assert windows(10, 100, 1) == [10, 20, 40, 80]
    assert windows(2, 17, 2) == [2, 3, 5, 8, 12]
    assert windows(1, 1, 1) == []


@settings(max_examples=40)
@given(slow_paths(largest_loss=0.6, smallest_loss=1e-3, largest_window=14))
@example(Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=2, max_window=2, tcp="reno-sack", initial_window=1))
@example(Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=2, max_window=3, tcp="reno-sack", initial_window=1))
def test_throughput_is_that_of_the_chain_that_remembers(path):
    T, law = twin.long_run(path)
    chain = chain_of(path)
    assert chain.packets_per_round == pytest.approx(T, rel=1e-9)
    shares = np.zeros_like(law)  # of thresholds, from where slow start ends
    left = 1.0
    if chain.graph.restart < chain.graph.n_preamble:
        state = chain.graph.restart
        while state is not None:
            following = None
            for target, share in chain.graph.growth.of(state):
                if target < chain.graph.n_preamble:
                    following, going_on = target, share
                else:
                    shares[chain.graph.windows[target]] += left * share
            state, left = following, left * going_on if following is not None else left
        expected = law.copy()
        if path.rounds_per_increase == 1 and path.max_window > 2:
            expected[3] += expected[2]
            expected[2] = 0
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=SETTLED)  # it settles to this
    arrays = chain.written_out
    np.testing.assert_allclose(np.bincount(arrays.from_state, arrays.probability), 1, rtol=0, atol=1e-12)


@settings(max_examples=15)
@given(slow_paths(largest_loss=0.5, largest_window=9))
def test_tilted_matrix_is_that_of_the_transitions(path):
    chain, theta, m = chain_of(path), 0.07, 1.3
    rows, columns, values = chain.transform(theta, m)
    arrays = chain.written_out
    weights = arrays.probability * np.exp(theta * (m * arrays.rounds - arrays.received))
    n = len(arrays.labels)
    every = np.zeros((n, n))
    np.add.at(every, (arrays.from_state, arrays.to_state), weights)
    inside = np.flatnonzero(np.array(arrays.labels)[:, 2] == 0)  # short rounds are part of the round before
    short = np.flatnonzero(np.array(arrays.labels)[:, 2] > 0)
    expected = every[np.ix_(inside, inside)] + every[np.ix_(inside, short)] @ every[np.ix_(short, inside)]
    found = np.zeros_like(expected)
    np.add.at(found, (rows, columns), values)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
    going_on = np.zeros((n, n))
    np.add.at(going_on, (arrays.from_state, arrays.to_state), arrays.probability)
    for means, numbers in zip(chain.per_transition, (arrays.received, arrays.rounds)):
        each = np.bincount(arrays.from_state, arrays.probability * numbers, n)
        whole = each[inside] + going_on[np.ix_(inside, short)] @ each[short]
        np.testing.assert_allclose(means, whole, rtol=1e-10, atol=1e-12)


def test_the_first_slow_start_grows_before_its_loss_shows():
    """Of 10 packets 4 arrive: they let out 8, and half of 14 remains; in congestion avoidance 4 and half of 10."""
    chain = chain_of(made("reno", 60, 1, 2, "floor", 10))
    state, delivered, sent, window = chain.first_slow_start_losses
    (at,) = np.flatnonzero((state == 0) & (delivered == 4))
    assert (sent[at], window[at]) == (8, 14)
    assert (sent.max(), window.max()) == (59, 60)  # at most W_max in flight, one of them lost
    arrays = chain.written_out
    labels = {tuple(label): number for number, label in enumerate(arrays.labels)}
    avoidance = next(s for s in range(chain.graph.n_preamble, chain.graph.size) if chain.graph.windows[s] == 10)
    assert labels[8, 0, 6, 0, 0] in arrays.to_state[arrays.from_state == 0]
    assert labels[4, 0, 6, 0, 0] in arrays.to_state[arrays.from_state == avoidance]


CASES = [
    ("reno", 11, 1, 1, "floor", 3),
    ("reno", 9, 2, 2.4, "ceil", 2),
    ("reno", 4, 1, 1.5, "floor", 4),
    ("reno-sack", 7, 1, 1.5, "floor", 2),
    ("reno-sack", 6, 2, 1, "ceil", 1),
]


def made(tcp, window, b, ratio, halving, initial, loss=0.1):
    return Path(
        sender="classic",
        loss=loss, rtt=0.125, timeout_ratio=ratio, max_window=window, rounds_per_increase=b, halving=halving, tcp=tcp,
        initial_window=initial, backoff="paper",
    )  # fmt: skip


@pytest.mark.parametrize("packets", [8, 50])  # the first slow start delivers 9 and more
@pytest.mark.parametrize("case", CASES)
def test_stored_is_its_twin(case, packets):
    path = made(*case)
    moves = twin.chain(twin.long_run(path)[1])
    video = Video(packet_rate=20, duration=packets / 20)
    result = stored(path, video)
    for tau in (0.0, 0.35, 1.0):
        late, alpha = sack_twin.stored(path, video, tau, moves, twin.Rules(path))
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
        assert result.no_late_probability(tau) == pytest.approx(alpha, abs=1e-12)
    assert result.error_bound < 1e-12


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, marks=[pytest.mark.long] * (case is CASES[1])) for case in CASES),
        pytest.param(("reno", 12, 2, 1, "floor", 2), marks=pytest.mark.long),
        pytest.param(("reno-sack", 13, 1, 1, "floor", 2), marks=pytest.mark.long),
        ("reno", 2, 2, 2, "floor", 1),  # slow start leads into the middle of the largest window
        ("reno-sack", 2, 2, 2, "floor", 1),
    ],
)
def test_live_is_its_twin(case):
    path = made(*case, loss=0.04)
    moves = twin.chain(twin.long_run(path)[1])
    result = live(path, Video(packet_rate=8))
    ahead = np.array([0, 1, 3, 8, 20])
    expected = sack_twin.live(path, 1, ahead, 700, moves, twin.Rules(path))
    assert result.late_fraction(ahead / 8) == pytest.approx(expected, rel=1e-7, abs=1e-10)
    assert result.error_bound < 1e-11


@pytest.mark.parametrize("case", CASES)
def test_finite_live_is_its_twin(case):
    path, m = made(*case), 2
    moves = twin.chain(twin.long_run(path)[1])
    video = Video(packet_rate=m / path.rtt, duration=2.5)
    result = live(path, video)
    for tau in (0.0, 0.25, 1.0):
        late = sack_twin.stream(path, video, tau, moves, twin.Rules(path))
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
    assert result.error_bound < 1e-12


def test_packets():
    """The simulated sender of RFC 6675, without rate reduction in proportion, is near; without slow start far more."""
    R, rounds, runs = 0.1, 30, 150
    tcp = Tcp("sack", max_window=64, initial_window=10, timer="rfc6298", granularity=0.2, min_rto=0.2)
    wire = single_path(Link(R / 2, loss=Bernoulli(0.002)), Link(R / 2), tcp)
    ends, seen = R * np.arange(1, rounds + 1), np.zeros(rounds)
    for seed in range(runs):
        flow = simulate(wire, (rounds + 1) * R, np.random.default_rng(seed)).flows[0]
        seen += np.searchsorted(flow.times, ends) / runs
    ratios = {}
    for window in (10, None):
        path = Path(
            sender="classic", loss=0.002, rtt=R, timeout_ratio=3, max_window=64, tcp="reno-sack", initial_window=window
        )
        transient, mean = backlogged(chain_of(path), 10_000), np.zeros(rounds)
        for i in range(rounds):
            transient.step()
            law = transient.distribution()
            mean[i] = (law.origin + np.arange(len(law.mass))) @ law.mass
        ratios[window] = seen / mean
    assert ratios[10].min() > 0.96
    assert ratios[10].max() < 1.07
    assert ratios[None].min() > 2


def test_what_is_not_solved_is_refused():
    path = made("reno", 30, 1, 2, "floor", 10)
    with pytest.raises(InputError, match="slow start is solved in steps of a packet: leave out quantum"):
        stored(path, Video(packet_rate=10, duration=10), quantum=4)


def test_the_default_largest_window_is_not_below_the_initial_one():
    assert Path(sender="classic", loss=0.5, rtt=0.1, rto=0.2, initial_window=10).max_window == 10
    assert chain_key(Path(sender="classic", loss=0.5, rtt=0.1, rto=0.2, max_window=10)) != chain_key(
        Path(sender="classic", loss=0.5, rtt=0.1, rto=0.2, initial_window=10)
    )

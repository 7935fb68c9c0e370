"""CUBIC with SACK and independent losses: its lines, the chain, solvers and agent."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubic_agent
import sack_agent
import sack_twin
from monte_carlo import packets_due
from tcpstream import AccuracyError, InputError, Path, Video, live, stored, stored_many, throughput
from tcpstream.errors import unremarked
from tcpstream.explore import rtt_for
from tcpstream.explore.batches import chunks
from tcpstream.kernels.cubic_line import cubic_line
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.decay import decay_rate, safe_lead
from tcpstream.stationary.independent import IndependentBacklog
from tcpstream.stationary.solve import drain_rounds
from tcpstream.tcp import chain_key, chain_of, cubic
from tcpstream.tcp import sack_recovery as recovery
from tcpstream.variants import enough_cubic

module = importlib.import_module("tcpstream.tcp.cubic")  # the package has the function by that name


@st.composite
def cubic_paths(draw, largest_window=40):
    """Round trips from a millisecond to two seconds, windows from 1."""
    with unremarked():
        return Path(
            sender="classic",
            loss=draw(st.floats(1e-3, 0.9)),
            rtt=draw(st.floats(1e-3, 2.0)),
            timeout_ratio=draw(st.floats(1, 4)),
            max_window=draw(st.integers(1, largest_window)),
            backoff=draw(st.sampled_from(["rfc6298", "paper"])),
            halving=draw(st.sampled_from(["floor", "ceil"])),
            tcp="cubic",
        )


def line(start, plateau, rtt, *, already=0, fresh=False, largest=10**9, most=1e4):
    return cubic_line(start, plateau, already, 0.4, rtt, 9 / 17, fresh, largest, most)


def test_growth_by_hand():
    """RFC 9438 with W_max = 1000 packets, cwnd_epoch = 700, R = 1 s: K = (300 / 0.4)^(1/3) = 9.08560 s.

    In round n the target is W_cubic((n + 1) R), a round ahead, and of what is missing to it a share of about 1 - 1/e is
    added, a packet for cwnd / (target - cwnd) acknowledgements.
    """
    windows, K = line(700, 1000, 1.0)[:8], 750 ** (1 / 3)
    assert windows[0] == 700
    for n in range(1, 8):
        target = 1000 - 0.4 * (K - (n + 1)) ** 3
        added = (windows[n] - windows[n - 1]) / (target - windows[n - 1])
        assert 0.55 < added < 0.85


def test_small_windows_by_hand():
    """Four packets after a loss at seven, R = 0.3 s, half of the first round done, as tcp_cubic.c counts.

    K = 1.957 s. Target at 0.3 s: 7 - 1 = 6, two acknowledgements for a packet each, and there are two: 5. At 0.6 s: 7,
    again two for each, five acknowledgements: the window is 6 after two, from there on it is six each: 6 with three in
    hand. At 0.9 s: 7 and three in hand: after three more it is 7. Then nothing to reach, but W_est = 4 + 9/17 a round.
    """
    assert line(4, 7, 0.3, already=2)[:8].tolist() == [5, 6, 7, 7, 7, 7, 7, 7]


def test_growth_is_as_reno_where_round_trips_are_short():
    """9/17 packets a round (RFC 9438, Section 4.3), beyond the window before the loss too, as in Linux."""
    windows = line(70, 100, 1e-6)[:100]
    np.testing.assert_allclose(windows, 70 + 9 / 17 * np.arange(100), atol=3)


def test_growth_is_at_most_by_a_half_in_a_round():
    windows = line(2, 2, 30.0, most=1e4)[:20]
    np.testing.assert_allclose(windows[1:], 1.5 * windows[:-1], atol=1)


def test_growth_without_a_window_to_compare_with():
    """A packet for twenty acknowledgements at least (tcp_cubic.c), where CUBIC would stay."""
    np.testing.assert_allclose(
        line(1000, 1000, 1e-6, fresh=True, most=1e5)[:10], 1000 * 1.05 ** np.arange(10), rtol=0.01
    )


def test_a_loss_before_the_plateau_aims_lower():
    """RFC 9438, Section 4.7: at 20 packets, below the plateau, W_max is 20 (1 + 0.7) / 2 = 17, else 20."""
    chain = cubic(Path(sender="classic", loss=0.01, rtt=0.3, rto=0.9, max_window=40, tcp="cubic"))
    starts = np.unique(chain.recover_to[chain.graph.windows == 20])
    repaired = {tuple(chain.graph.windows[one + 1 : one + 9].tolist()) for one in starts}
    assert {tuple(line(14, plateau, 0.3, already=7)[:8].tolist()) for plateau in (17, 20)} <= repaired


@pytest.mark.parametrize("rtt", [0.02, 0.1])
def test_periodic_losses(rtt):
    """Mean window 1.054 (R/p)^(3/4) if every N-th packet is lost: RFC 9438, Section 5.1, Equation 5 with C = 0.4."""
    W = 100_000
    windows = line(7 * W // 10, W, rtt, most=np.inf, largest=W + 100)[: round((0.3 * W / 0.4) ** (1 / 3) / rtt)]
    assert np.mean(windows) / (rtt * np.sum(windows)) ** 0.75 == pytest.approx(1.054, abs=0.003)


def test_random_losses(monkeypatch):
    """Mean window 1.30 (R/p)^(3/4) as p falls, without fast convergence.

    S. Poojary and V. Sharma, "An asymptotic approximation for TCP CUBIC", Queueing Systems 91 (2019).
    """
    monkeypatch.setattr(module, "CONVERGENCE", 1.0)
    found = []
    for p in (1e-4, 1e-5, 1e-6):
        path = Path(sender="classic", loss=p, rtt=0.1, rto=0.3, tcp="cubic")
        found.append(throughput(path) * path.rtt / (path.rtt / p) ** 0.75)
    assert found[0] > found[1] > found[2] == pytest.approx(1.30, abs=0.004)


@pytest.mark.parametrize("p", [0.001, 0.003, 0.01])
def test_as_fast_as_reno_where_round_trips_are_short(p):
    """The aim of Section 4.3, met within a tenth: whole packets, and the lag of W_est, matter."""
    usual = {"sender": "classic", "loss": p, "rtt": 0.005, "rto": 0.2}
    ratio = throughput(Path(**usual, tcp="cubic")) / throughput(Path(**usual, tcp="reno-sack"))
    assert ratio == pytest.approx(1, abs=0.1)


@settings(max_examples=50)
@given(cubic_paths())
def test_states(path):
    chain = cubic(path)
    w, W = chain.graph.windows, path.max_window
    assert w.min() == 1
    assert w[-1] == W
    assert chain.graph.grow_to[-1] == chain.graph.size - 1
    others = chain.graph.grow_to[:-1]
    assert np.all((others == np.arange(1, chain.graph.size)) | (others == chain.graph.size - 1))
    assert w[chain.graph.start] == 1
    assert w[chain.graph.restart] == min(2, W)
    np.testing.assert_allclose(chain.recover_share.sum(axis=1), 1, rtol=1e-15)
    assert chain.recover_share.min() >= 0
    assert np.all(chain.recover_to[w == 1] == -1)
    assert np.all(chain.recover_to[w > 1] >= 0)


@settings(max_examples=20)
@given(cubic_paths(largest_window=12))
def test_tilted_matrix_and_throughput_are_those_of_the_transitions(path):
    chain, theta, m = chain_of(path), 0.07, 1.3
    arrays = chain.written_out
    n = len(arrays.labels)

    def dense(values):
        matrix = np.zeros((n, n))
        np.add.at(matrix, (arrays.from_state, arrays.to_state), arrays.probability * values)
        return matrix

    rows, columns, values = chain.transform(theta, m)
    found = np.zeros((n, n))
    np.add.at(found, (rows, columns), values)
    expected = dense(np.exp(theta * (m * arrays.rounds - arrays.received)))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
    matrix = dense(1.0)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
    balance = matrix.T - np.eye(n)
    balance[-1] = 1.0
    law = np.linalg.solve(balance, np.eye(n)[-1])
    mean = (law @ dense(arrays.received)).sum() / (law @ dense(arrays.rounds)).sum()
    assert chain.packets_per_round == pytest.approx(mean, rel=1e-9)


def without_lines(chain):
    """The same source, but nobody is told that its states lie on lines."""
    plain = type("Plain", (type(chain),), {"meeting": None})
    return plain(**{name: getattr(chain, name) for name in chain.__dataclass_fields__})


def test_lines_are_eliminated_first():
    """Above 600 states the sparse solve is told the order; above 200 decay rates watch where lines meet."""
    chain = cubic(Path(sender="classic", loss=0.05, rtt=0.1, rto=0.3, max_window=22, tcp="cubic"))
    assert chain.graph.size > 600
    assert chain.junction_states is not None
    plain, m = without_lines(chain), 0.8 * chain.packets_per_round
    assert plain.packets_per_round == pytest.approx(chain.packets_per_round, rel=1e-11)
    assert decay_rate(plain, m) == pytest.approx(decay_rate(chain, m), rel=1e-8)
    assert safe_lead(plain, m, 1e-17) == pytest.approx(safe_lead(chain, m, 1e-17), rel=1e-6)
    assert drain_rounds(plain, m)[1] == pytest.approx(drain_rounds(chain, m)[1], rel=1e-8, abs=1e-8)


PATHS = [
    Path(sender="classic", loss=0.05, rtt=0.1, rto=0.25, max_window=14, tcp="cubic"),
    Path(sender="classic", loss=0.1, rtt=0.5, rto=0.5, max_window=16, tcp="cubic"),
    Path(sender="classic", loss=0.002, rtt=0.2, rto=0.4, tcp="cubic"),
]


@pytest.mark.parametrize("path", PATHS, ids=["friendly", "cubic", "grid"])
def test_agent_throughput(path):
    """Windows up to 20 packets all have a line; the others lie between two, for 0.003 of T at most."""
    rng, T = np.random.default_rng(3), throughput(path)
    batches = sack_agent.throughput(*cubic_agent.plain(path), 50, 10_000, rng) / path.rtt
    between = 0.0 if path.max_window <= 20 else 0.003
    assert abs(batches.mean() - T) < 4 * batches.std(ddof=1) / np.sqrt(50) + between * T


@pytest.mark.parametrize(("p", "rtt"), [(0.02, 0.1), (0.005, 0.05), (0.001, 0.1), (0.001, 0.3)])
def test_grid(monkeypatch, p, rtt):
    """Lines for one window in ten instead of for every one cost at most 0.003 of T (2.0e-3 is the most)."""
    path = Path(sender="classic", loss=p, rtt=rtt, rto=rtt + 0.2, tcp="cubic")
    coarse = throughput(path)
    monkeypatch.setattr(recovery, "RATIO", 1.01)
    assert throughput(path) == pytest.approx(coarse, rel=0.003)


@pytest.mark.parametrize("path", PATHS[:2], ids=["friendly", "cubic"])
def test_agent(path):
    rng, T = np.random.default_rng(1), throughput(path)
    video, taus, runs = Video(packet_rate=0.7 * T, duration=10), [0.0, 0.5, 1.0, 2.0], 8_000
    dues = [packets_due(path, video, tau, "end")[0] for tau in taus]
    due = np.array([np.pad(B, (0, max(map(len, dues)) - len(B)), mode="edge") for B in dues])
    late, never = sack_agent.stored(*cubic_agent.plain(path), due, runs, rng)
    result, f = stored(path, video), late / video.packets
    assert np.all(np.abs(f.mean(0) - result.late_fraction(taus)) < 4 * f.std(0) / np.sqrt(runs))
    alpha = result.no_late_probability(taus)
    assert np.all(np.abs(never.mean(0) - alpha) < 4 * np.sqrt(np.maximum(alpha * (1 - alpha), 1 / runs) / runs))

    m, taus = 0.6 * T * path.rtt, np.array([0.0, 0.1, 0.3, 1.0, 3.0])
    endless = Video(packet_rate=m / path.rtt)
    f = sack_agent.live(*cubic_agent.plain(path), m, endless.packet_rate * taus, 64, 15_000, rng) / (15_000 * m)
    solved = live(path, endless)
    found = solved.late_fraction(taus)
    assert np.all(np.abs(f.mean(0) - found) < 4 * f.std(0) / 8 + solved.lattice_error(taus) * found)


SMALL = [
    {"sender": "classic", "loss": 0.15, "rtt": 0.1, "timeout_ratio": 1, "max_window": 7},
    {"sender": "classic", "loss": 0.12, "rtt": 0.5, "timeout_ratio": 2.4, "max_window": 8, "halving": "ceil"},
    {"sender": "classic", "loss": 0.3, "rtt": 0.1, "timeout_ratio": 1, "max_window": 1},
    {"sender": "classic", "loss": 0.2, "rtt": 0.1, "timeout_ratio": 1.5, "max_window": 2},
]


@pytest.mark.parametrize("case", SMALL, ids=["friendly", "cubic", "one", "two"])
def test_stored_is_its_twin(case):
    path = Path(**case, tcp="cubic")
    video = Video(packet_rate=1.5 / path.rtt, duration=14 * path.rtt)
    result = stored(path, video)
    for tau in (0.0, 3.5 * path.rtt, 8 * path.rtt):
        late, alpha = sack_twin.stored(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
        assert result.no_late_probability(tau) == pytest.approx(alpha, abs=1e-12)
    assert result.error_bound < 1e-12


@pytest.mark.parametrize("case", SMALL, ids=["friendly", "cubic", "one", "two"])
def test_finite_live_is_its_twin(case):
    path = Path(**case, tcp="cubic")
    video = Video(packet_rate=1 / path.rtt, duration=16 * path.rtt)
    result = live(path, video)
    for tau in (0.0, 2.5 * path.rtt, 8 * path.rtt):
        late = sack_twin.stream(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
    assert result.error_bound < 1e-12


@pytest.mark.parametrize(("rtt", "window", "ratio"), [(0.125, 6, 1), pytest.param(1.0, 8, 1, marks=pytest.mark.long)])
def test_live_is_its_twin(rtt, window, ratio):
    path = Path(
        sender="classic", loss=0.08, rtt=rtt, timeout_ratio=ratio, max_window=window, backoff="paper", tcp="cubic"
    )
    result = live(path, Video(packet_rate=1 / rtt))
    ahead = np.array([0, 1, 3, 8, 20])
    twin = sack_twin.live(path, 1, ahead, 600)
    assert result.late_fraction(ahead * rtt) == pytest.approx(twin, rel=1e-7, abs=1e-10)
    assert result.error_bound < 1e-11


def test_losses_between_two_lines(monkeypatch):
    """As for larger windows: 5, 7, 8, 10 and 11 packets have no line."""
    given = [2, 3, 4, 6, 9, 12]
    monkeypatch.setattr(recovery, "RATIO", 1.5)
    assert recovery.grid(12).tolist() == given
    path = Path(sender="classic", loss=0.05, rtt=0.5, rto=0.5, max_window=12, tcp="cubic")
    assert np.any((chain_of(path).recover_share > 0) & (chain_of(path).recover_share < 1))
    film, event = Video(packet_rate=10, duration=8), Video(packet_rate=8, duration=8)
    late, _ = sack_twin.stored(path, film, 0.5, given=given)
    assert stored(path, film).late_fraction(0.5) == pytest.approx(late, abs=1e-12)
    late = sack_twin.stream(path, event, 0.5, given=given)
    assert live(path, event).late_fraction(0.5) == pytest.approx(late, abs=1e-12)


@pytest.mark.parametrize(("rtt", "window", "load"), [(0.1, 9, 0.5), (0.5, 30, 0.8)])
def test_waves_are_what_an_epoch_does_far_from_an_empty_backlog(rtt, window, load):
    """As for Reno in test_stationary; above 20 packets a loss leads to two lines."""
    chain = cubic(Path(sender="classic", loss=0.06, rtt=rtt, timeout_ratio=1.5, max_window=window, tcp="cubic"))
    lattice = Lattice(round(4 * load * chain.packets_per_round), 4)
    backlog = IndependentBacklog(chain, lattice)
    tilt = decay_rate(chain, lattice.packets_due) / backlog.steps_per_packet / 3
    values, left, right = backlog.waves(np.array([0.0, tilt], dtype=complex))
    assert values[0] == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(right[:, 0], 1, atol=1e-6)
    n, position = 30_000, 20_000
    entries = np.zeros((len(left), n))
    entries[:, position] = left[:, 1].real
    tilted = backlog.epoch(entries).entries * np.exp(tilt * (position - np.arange(n)))
    assert values[1].real < 1
    assert right[:, 1].real @ tilted.sum(axis=1) == pytest.approx(values[1].real, rel=1e-6)


def test_round_trip_times_do_not_share_a_transient():
    cases = [
        (
            Path(sender="classic", loss=0.05, rtt=rtt, timeout_ratio=3, max_window=30, tcp="cubic"),
            Video(packet_rate=5, duration=20),
        )
        for rtt in (0.1, 1.0)
    ]
    for case, result in zip(cases, stored_many(cases)):
        assert result.late_fraction([0.5, 3.0]) == pytest.approx(stored(*case).late_fraction([0.5, 3.0]), abs=1e-13)


def test_a_sweep_does_not_take_round_trip_times_for_one_solve():
    rows = [{"loss": 0.01, "rtt": 0.1 + i / 100, "timeout_ratio": 3.0, "packet_rate": 20} for i in range(20)]
    assert len(chunks([row | {"tcp": "reno-sack"} for row in rows], "stored", False)) == 1
    assert len(chunks([row | {"tcp": "cubic"} for row in rows], "stored", False)) == 3


def test_the_default_window_hardly_matters():
    for p, rtt in ((0.01, 0.01), (0.01, 1.0), (1e-3, 0.1)):
        usual = {"sender": "classic", "loss": p, "rtt": rtt, "timeout_ratio": 2, "tcp": "cubic"}
        path = Path(**usual)
        assert path.max_window == enough_cubic(p, rtt)
        wider = throughput(Path(**usual, max_window=2 * path.max_window))
        assert throughput(path) == pytest.approx(wider, rel=1e-3)  # another grid


def test_another_round_trip_time_is_another_source():
    one, other = (
        Path(sender="classic", loss=0.01, rtt=rtt, timeout_ratio=3, max_window=60, tcp="cubic") for rtt in (0.1, 0.4)
    )
    assert chain_key(one) != chain_key(other)
    assert throughput(one) * one.rtt < throughput(other) * other.rtt


def test_what_is_not_solved_is_refused(monkeypatch):
    with pytest.raises(InputError, match="rounds per increase must be 1, got 2"):
        Path(sender="classic", loss=0.1, rtt=0.1, rto=0.2, tcp="cubic", rounds_per_increase=2)
    with pytest.raises(InputError, match="independent losses are solved in steps of a packet"):
        stored(PATHS[0], Video(packet_rate=10, duration=10), quantum=4)
    with pytest.raises(InputError, match="a wanted T/mu needs tcp reno or reno-sack, got cubic"):
        rtt_for(sender="classic", loss=0.01, timeout_ratio=3, packet_rate=20, T_over_mu=1.5, tcp="cubic")
    monkeypatch.setattr(module, "MOST_STATES", 1000)
    with pytest.raises(AccuracyError, match="the chain of cubic has more than 1000 states for a loss rate of"):
        throughput(Path(sender="classic", loss=1e-3, rtt=0.001, rto=0.2, tcp="cubic"))

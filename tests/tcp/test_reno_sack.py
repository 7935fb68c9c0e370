"""Reno with SACK and independent losses: chain, solvers, agent and packets."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sack_agent
import sack_twin
from monte_carlo import packets_due
from strategies import paths
from tcpstream import AccuracyError, InputError, Path, Video, largest_rate, live, stored, throughput
from tcpstream.answers.arrivals import Arrivals
from tcpstream.answers.stored import StoredStreaming
from tcpstream.answers.timeline import Timeline
from tcpstream.errors import unremarked
from tcpstream.sim import Bernoulli, Link, Tcp, simulate, single_path
from tcpstream.tcp import chain_of, reno_sack
from tcpstream.tcp import sack_recovery as recovery


def sack(path, **others):
    values = {
        name.removesuffix("_s").removesuffix("_pps"): value
        for name, value in path.to_dict().items()
        if name not in ("rto_s", "rto_assumed", "sender")
    }
    with unremarked():
        return Path(**({"sender": "classic"} | values | {"tcp": "reno-sack", "losses": "independent"} | others))


def dense(chain, weights):
    arrays = chain.written_out
    matrix = np.zeros((len(arrays.labels),) * 2)
    np.add.at(matrix, (arrays.from_state, arrays.to_state), arrays.probability * weights(arrays))
    return matrix


@settings(max_examples=30)
@given(paths(largest_loss=0.9, smallest_loss=1e-3, largest_window=6), st.booleans())
def test_rows_are_all_fates_of_the_packets(path, rack):
    """Each packet of a round is delivered, repaired or lost for good: all 3^w ways, one by one."""
    path = sack(path, detection="rack" if rack else "duplicates")
    chain, p = reno_sack(path), path.loss
    fates = (1 - p, p, 0.0) if rack else (1 - p, p * (1 - p), p * p)
    arrays = chain.written_out
    for s, w in enumerate(chain.graph.windows.tolist()):
        expected = np.zeros(w + 1), np.zeros(w + 1), np.zeros(w + 1)  # received and recovers; in order and fails; grows
        for fate in itertools.product(range(3), repeat=w):
            chance = np.prod([fates[one] for one in fate])
            received, in_order = fate.count(0), next((i for i, one in enumerate(fate) if one), w)
            kind = 2 if received == w else 0 if received and 2 not in fate else 1
            expected[kind][received if kind == 0 else in_order] += chance
        mine = arrays.from_state == s
        grows, fails = arrays.received == w, arrays.to_state == chain.graph.size
        for kind, chosen in enumerate((~grows & ~fails, fails, grows)):
            chosen = chosen & mine
            found = np.bincount(arrays.received[chosen], arrays.probability[chosen], w + 1)
            np.testing.assert_allclose(found, expected[kind], rtol=1e-9, atol=1e-15)


@settings(max_examples=30)
@given(paths(largest_loss=0.9, smallest_loss=1e-3))
def test_tilted_matrix_and_throughput_are_those_of_the_transitions(path):
    chain, theta, m = chain_of(sack(path)), 0.07, 1.3
    rows, columns, values = chain.transform(theta, m)
    expected = dense(chain, lambda a: np.exp(theta * (m * a.rounds - a.received)))
    found = np.zeros_like(expected)
    np.add.at(found, (rows, columns), values)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)
    matrix = dense(chain, lambda a: np.ones(len(a.received)))
    balance = matrix.T - np.eye(len(matrix))
    balance[-1] = 1.0
    law = np.linalg.solve(balance, np.eye(len(matrix))[-1])
    packets, rounds = ((law @ dense(chain, lambda a, n=name: getattr(a, n))).sum() for name in ("received", "rounds"))
    assert chain.packets_per_round == pytest.approx(packets / rounds, rel=1e-9)


@pytest.mark.parametrize(("b", "constant"), [(1, 1.3098), (2, 1.3098 / np.sqrt(2))])
def test_square_root_law_of_independent_losses(monkeypatch, b, constant):
    """T R sqrt(p) -> 1.31, with delayed acknowledgements 0.93; repairs of one window in ten leave it 2e-4 lower.

    Ott, Kemperman and Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996; Mathis, Semke,
    Mahdavi and Ott, 1997, Table 1, "random loss".
    """
    monkeypatch.setattr(recovery, "RATIO", 1.02)
    errors = []
    for p in (1e-4, 1e-6):
        path = Path(sender="classic", loss=p, rtt=1, rto=3, rounds_per_increase=b, tcp="reno-sack")
        errors.append(constant - throughput(path) * np.sqrt(p))
    assert 0 < errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.1)  # what is left shrinks as a window does


CASES = [
    Path(sender="classic", loss=0.05, rtt=0.1, rto=0.25, max_window=16, tcp="reno-sack"),
    Path(sender="classic", loss=0.2, rtt=0.1, rto=0.1, max_window=9, rounds_per_increase=2, tcp="reno-sack"),
]


@pytest.mark.parametrize("path", CASES, ids=["plain", "delayed"])
def test_agent(path):
    rng, T = np.random.default_rng(1), throughput(path)
    batches = sack_agent.throughput(*sack_agent.plain(path), 50, 10_000, rng) / path.rtt
    assert abs(batches.mean() - T) < 4 * batches.std(ddof=1) / np.sqrt(50)

    video, taus, runs = Video(packet_rate=0.7 * T, duration=10), [0.0, 0.5, 1.0, 2.0], 8_000
    dues = [packets_due(path, video, tau, "end")[0] for tau in taus]
    due = np.array([np.pad(B, (0, max(map(len, dues)) - len(B)), mode="edge") for B in dues])
    late, never = sack_agent.stored(*sack_agent.plain(path), due, runs, rng)
    result, f = stored(path, video), late / video.packets
    assert np.all(np.abs(f.mean(0) - result.late_fraction(taus)) < 4 * f.std(0) / np.sqrt(runs))
    alpha = result.no_late_probability(taus)
    assert np.all(np.abs(never.mean(0) - alpha) < 4 * np.sqrt(np.maximum(alpha * (1 - alpha), 1 / runs) / runs))

    m, taus = np.round(1.2 * T * path.rtt) / 2, np.array([0.0, 0.1, 0.3, 1.0, 2.0])
    endless = Video(packet_rate=m / path.rtt)
    f = sack_agent.live(*sack_agent.plain(path), m, endless.packet_rate * taus, 64, 15_000, rng) / (15_000 * m)
    solved = live(path, endless)
    found = solved.late_fraction(taus)
    assert np.all(np.abs(f.mean(0) - found) < 4 * f.std(0) / 8 + solved.lattice_error(taus) * found)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("halving", ["floor", "ceil"])
@pytest.mark.parametrize("ratio", [1, 2.4])
def test_stored_is_its_twin(b, halving, ratio):
    path = Path(
        sender="classic",
        loss=0.15,
        rtt=0.1,
        timeout_ratio=ratio,
        max_window=6,
        rounds_per_increase=b,
        halving=halving,
        tcp="reno-sack",
    )
    video = Video(packet_rate=17, duration=2)
    result = stored(path, video)
    for tau in (0.0, 0.35, 1.0):
        late, alpha = sack_twin.stored(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
        assert result.no_late_probability(tau) == pytest.approx(alpha, abs=1e-12)
    assert result.error_bound < 1e-12


@pytest.mark.parametrize(("window", "b", "ratio"), [(6, 1, 1), (5, 2, 1), (7, 1, 1.5)])
def test_live_is_its_twin(window, b, ratio):
    path = Path(
        sender="classic",
        loss=0.08, rtt=0.1, timeout_ratio=ratio, max_window=window, rounds_per_increase=b, backoff="paper",
        tcp="reno-sack",
    )  # fmt: skip
    result = live(path, Video(packet_rate=10))
    ahead = np.array([0, 1, 3, 8, 20])
    twin = sack_twin.live(path, 1, ahead, 700)
    assert result.late_fraction(ahead / 10) == pytest.approx(twin, rel=1e-7, abs=1e-10)
    assert result.error_bound < 1e-11


@pytest.mark.parametrize(("loss", "ratio", "window", "rate"), [(0.0033, 2.5, 6, 38.59), (0.1, 2, 2, 5)])
def test_small_windows_leave_short_waves(loss, ratio, window, rate):
    """Losses hardly blur them; corrected as if they were long they would grow."""
    path = Path(sender="classic", loss=loss, rtt=0.1, timeout_ratio=ratio, max_window=window, tcp="reno-sack")
    result = live(path, Video(packet_rate=rate), accuracy="exact")
    assert result.error_bound < 1e-11
    assert max(one.epochs for one in result.backlogs) < 100


@pytest.mark.parametrize(("window", "b", "m"), [(6, 1, 1), (5, 2, 2), (7, 1, 3)])
def test_finite_live_is_its_twin(window, b, m):
    path = Path(
        sender="classic",
        loss=0.1,
        rtt=0.125,
        timeout_ratio=1.5,
        max_window=window,
        rounds_per_increase=b,
        tcp="reno-sack",
    )
    video = Video(packet_rate=m / path.rtt, duration=3)
    result = live(path, video)
    for tau in (0.0, 0.25, 1.0):
        late = sack_twin.stream(path, video, tau)
        assert result.late_fraction(tau) == pytest.approx(late, abs=1e-12)
    assert result.error_bound < 1e-12


def test_a_long_live_stream_is_as_an_endless_one():
    path = Path(sender="classic", loss=0.05, rtt=0.1, rto=0.2, max_window=8, tcp="reno-sack")
    endless, long = (live(path, Video(packet_rate=25, duration=duration)) for duration in (None, 300))
    taus = [0.0, 0.5, 1.0]
    assert long.late_fraction(taus) == pytest.approx(endless.late_fraction(taus), rel=0.02)


def test_a_long_video_forgets_what_is_safely_ahead(monkeypatch):
    monkeypatch.setattr("tcpstream.answers.plan.LONG", 300)
    path = Path(sender="classic", loss=0.05, rtt=0.1, rto=0.2, max_window=8, tcp="reno-sack")
    video = Video(packet_rate=0.3 * throughput(path), duration=100)
    result = stored(path, video, accuracy="exact")
    late = StoredStreaming(path, video, "end", Arrivals(path, [Timeline.of(path, video)])).late_fraction([0.0, 0.5])
    assert result.late_fraction([0.0, 0.5]) == pytest.approx(late, abs=1e-13)
    assert result.error_bound < 1e-11


def test_largest_rate():
    path = CASES[0]
    rate = largest_rate(path, delay=2, duration=20)
    assert stored(path, Video(packet_rate=rate, duration=20)).late_fraction(2) <= 1e-4
    assert stored(path, Video(packet_rate=1.001 * rate, duration=20)).late_fraction(2) > 1e-4


def test_what_is_not_solved_is_refused():
    path = CASES[0]
    with pytest.raises(InputError, match="leave out quantum, or give 1, got 4"):
        stored(path, Video(packet_rate=10, duration=10), quantum=4)
    with pytest.raises(InputError, match="tcp must be one of reno, reno-sack, cubic, bbr, got 'tahoe'"):
        Path(sender="classic", loss=0.1, rtt=0.1, rto=0.2, tcp="tahoe")


@pytest.mark.parametrize(("p", "least", "most"), [(0.001, 0.98, 1.03), (0.01, 1.02, 1.08)])
def test_packets(p, least, most):
    """The simulated sender of RFC 6675 sends a little less: it does not grow in the round of its recovery."""
    R = 0.1
    tcp = Tcp("sack", max_window=2000, slow_start=False, timer="rfc6298", granularity=0.2, min_rto=0.0)
    wire = single_path(Link(R / 2, loss=Bernoulli(p)), Link(R / 2), tcp)
    seen = simulate(wire, 8000 * R / np.sqrt(p), np.random.default_rng(2)).flows[0]
    path = Path(sender="classic", loss=p, rtt=R, timeout_ratio=seen.timeout_ratio, tcp="reno-sack")
    assert least < throughput(path) / seen.throughput < most


@pytest.mark.parametrize(("loss", "window"), [(0.35, 2172), (0.5, 2172), (0.1, 7300)])
def test_windows_of_which_something_is_surely_lost(loss, window):
    """q^w underflows; the probabilities of a round still sum to 1, and the mean of binomial losses is p w."""
    chain = chain_of(Path(loss=loss, rtt=0.05, max_window=window))
    row = chain.repaired[window]
    assert row.sum() == pytest.approx(1, abs=1e-9)
    assert row @ np.arange(len(row)) == pytest.approx(loss * window, rel=1e-9)
    assert throughput(Path(loss=loss, rtt=0.05, max_window=window)) > 0


@pytest.mark.parametrize("more", [{}, {"tcp": "reno-sack"}, {"tcp": "reno-sack", "max_window": 400}])
def test_what_is_too_much_to_write_out_is_refused(more):
    """Before it is tried: a window of 400 packets has 80,000 ways to lose some of them."""
    with pytest.raises(AccuracyError, match="transitions written out, more than 5,000,000"):
        chain_of(Path(loss=0.05, rtt=0.1, **more)).transitions()

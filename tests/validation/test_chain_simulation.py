"""The simulation of window chains, against the transitions that it simulates and against exact answers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from chain_simulation.arrays import source
from chain_simulation.direct import simulate
from chain_simulation.rounds import BEFORE, FRESH, GOOD, LEVEL, SHORT, STATE, WAIT, begin, send, until_loss
from chain_simulation.splitting import split
from tcpstream import Path, Video, live, stored
from tcpstream.tcp import BurstChain, chain_of

PATHS = {
    "reno": Path(sender="classic", loss=0.1, rtt=0.1, rto=0.33, max_window=7),
    "slow start": Path(sender="classic", loss=0.1, rtt=0.1, rto=0.33, max_window=9, initial_window=4, detection="rack"),
    "delayed": Path(
        sender="classic", loss=0.1, rtt=0.1, rto=0.3, max_window=6, rounds_per_increase=2, initial_window=2
    ),
    "sack": Path(sender="classic", loss=0.2, rtt=0.1, rto=0.3, max_window=6, tcp="reno-sack"),
    "cubic": Path(sender="classic", loss=0.1, rtt=0.1, rto=0.37, max_window=8, tcp="cubic", initial_window=4),
}

VISITS = 4_000


def label(chain, tcp):
    """The row of `Chain.transitions` that a TCP is in."""
    S, W = chain.graph.size, chain.graph.max_window
    timeouts = S + (W * (W - 1) // 2 if isinstance(chain, BurstChain) else 0)
    if tcp[LEVEL] > 0:
        return timeouts + 2 * (int(tcp[LEVEL]) - 1) + int(tcp[FRESH])
    if tcp[SHORT] > 0:
        before, j = int(tcp[BEFORE]), int(tcp[SHORT])
        return S + (before - 1) * (before - 2) // 2 + j - 1
    return int(tcp[STATE])


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_every_state_moves_as_its_transitions_say(path):
    chain, rng = chain_of(path), np.random.default_rng(11)
    arrays = source(chain)
    rows = chain.expanded() if isinstance(chain, BurstChain) else chain.transitions()
    expected: dict[int, Counter] = {}
    for row in zip(*(x.tolist() for x in (rows.from_state, rows.to_state, rows.received, rows.in_order, rows.rounds,
                                          rows.probability))):  # fmt: skip
        expected.setdefault(row[0], Counter())[row[1:5]] += row[5]
    tcp = begin(arrays, rng)
    assert label(chain, tcp) == rows.start
    seen: dict[int, Counter] = {}
    visits: Counter = Counter()
    for _ in range(8 * VISITS):
        at = label(chain, tcp)
        received, ordered = send(arrays, tcp, rng)
        rounds, tcp[WAIT] = 1 + int(tcp[WAIT]), 0
        seen.setdefault(at, Counter())[label(chain, tcp), received, ordered, rounds] += 1
        visits[at] += 1
    often = [state for state in visits if visits[state] > 300]
    assert len(often) > 10
    for state in often:
        n = visits[state]
        for move, p in expected[state].items():
            assert abs(seen[state][move] - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 3
        assert {move for move in seen[state] if expected[state][move] <= 0} == set()


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_throughput(path):
    chain, rng = chain_of(path), np.random.default_rng(12)
    arrays = source(chain)
    tcp, packets = begin(arrays, rng), np.zeros(40)
    rounds = 1500
    for batch in range(len(packets)):
        for _ in range(rounds):
            if tcp[WAIT] > 0:
                tcp[WAIT] -= 1
            else:
                packets[batch] += send(arrays, tcp, rng)[0]
    error = packets.std(ddof=1) / np.sqrt(len(packets))
    assert abs(packets.mean() - rounds * chain.packets_per_round) < 4 * error


def close(found, error, exact):
    assert (np.abs(found - exact) <= 4 * error + 1e-12).all(), (found - exact) / error


PLAIN = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.33, max_window=16)
CUBIC = Path(sender="classic", loss=0.1, rtt=0.1, rto=0.37, tcp="cubic", max_window=8)
DELAYS = np.array([0.0, 0.55, 1.0, 2.5, 4.0])


@pytest.mark.parametrize(("path", "rate"), [(PLAIN, 41.0), (CUBIC, 20.0)], ids=["reno", "cubic"])
def test_stored(path, rate):
    video = Video(packet_rate=rate, duration=12.35)
    exact, found = stored(path, video), simulate(path, video, DELAYS, live=False, seed=1, runs=10_000)
    close(found.late_fraction, found.late_error, exact.late_fraction(DELAYS))
    close(found.no_late, found.no_late_error, exact.no_late_probability(DELAYS))


@pytest.mark.parametrize(("path", "rate"), [(PLAIN, 40.0), (CUBIC, 20.0)], ids=["reno", "cubic"])
@pytest.mark.parametrize("duration", [12.35, None])
def test_live(path, rate, duration):
    video = Video(packet_rate=rate, duration=duration)
    exact = live(path, video)
    found = simulate(path, video, DELAYS, live=True, seed=2, runs=20_000 if duration else 60)
    close(found.late_fraction, found.late_error, exact.late_fraction(DELAYS))


@pytest.mark.parametrize("kind", ["stored", "live", "endless"])
def test_small_late_fractions_by_splitting(kind):
    video = Video(packet_rate=20.0, duration=None if kind == "endless" else 15)
    exact = stored(PLAIN, video) if kind == "stored" else live(PLAIN, video)
    delays = np.array([exact.required_delay(f) for f in (1e-3, 1e-5, 1e-7)])
    found = split(PLAIN, video, delays, live=kind != "stored", seed=3, effort=400, replications=16, base=50_000)
    close(found.late_fraction, found.late_error, exact.late_fraction(delays))
    assert (found.late_error < 0.6 * found.late_fraction).all()


def test_the_same_seed_gives_the_same_estimate():
    video = Video(packet_rate=25.0, duration=5)
    one, two = (simulate(CUBIC, video, DELAYS, live=False, seed=5, runs=300) for _ in range(2))
    assert (one.late_fraction == two.late_fraction).all()
    assert one.late_fraction[0] > 0


def test_packets_before_a_loss_are_geometric():
    arrays, rng = source(chain_of(PATHS["sack"])), np.random.default_rng(6)
    drawn = np.array([until_loss(arrays, rng) for _ in range(20_000)])
    for k in range(3):
        p = 0.2 * 0.8**k
        assert abs((drawn == k).mean() - p) < 4 * np.sqrt(p / len(drawn))
    assert begin(arrays, rng)[GOOD] >= 0

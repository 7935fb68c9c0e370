"""The law whose transform is followed: beside a fine lattice, one mode, and its steps written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chain_simulation.direct import simulate
from tcpstream import AccuracyError, Path, Video, stored
from tcpstream.answers import arrival_levels
from tcpstream.coarse.in_moments import in_moments
from tcpstream.coarse.law import Law
from tcpstream.coarse.long_law import LongLaw
from tcpstream.coarse.modes import Modes
from tcpstream.coarse.steps import Steps
from tcpstream.coarse.transformed_law import TransformedLaw
from tcpstream.tcp import chain_of

PATHS = {
    "reno-sack": Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, rto=0.2, max_window=24),
    "cubic": Path(loss=0.03, rtt=0.1, max_window=30),
}


def law_of(steps, begin, end, due, decay=0.0):
    edge = steps.chain.packets_per_round * end
    return TransformedLaw(steps, begin, end, edge, due, decay, 1, 1.0)


@pytest.fixture(scope="module", params=PATHS)
def steps(request):
    return Steps.of(chain_of(PATHS[request.param]), 2, 1.1)


def low(steps, rounds, sigmas):
    """Packets so many standard deviations below the mean."""
    mean, variance = in_moments(steps.chain).rates
    return mean * rounds - np.array(sigmas) * math.sqrt(variance * rounds)


def test_it_is_that_of_a_fine_lattice(steps):
    """Lattices blur by a part of a quantum: in the far tail by more than in the middle."""
    mean = steps.chain.packets_per_round
    begin, end = 8 * steps.chain.packets_between_losses / mean, 30 * steps.chain.packets_between_losses / mean
    law = law_of(steps, begin, end, mean)
    lattice = Law(steps, 0.25, mean * end * 1.5, mean, math.inf)
    for rounds in (2 * math.ceil(begin / 2), 2 * math.ceil(end / 2)):
        y = low(steps, rounds, [-3.0, -1.0, 0.0, 1.0, 2.0, 3.0])
        found, expected = (one.missing(np.full(6, float(rounds)), y) for one in (law, lattice))
        assert found == pytest.approx(expected, rel=2e-4, abs=1e-6 * expected[2])


def test_between_steps_it_lies_between_them(steps):
    mean = steps.chain.packets_per_round
    law = law_of(steps, 200.0, 600.0, mean)
    t = np.array([400.0, 401.0, 402.0])
    y = np.concatenate([low(steps, one, [1.0]) for one in t])
    found = law.missing(t, y)
    assert found[1] == pytest.approx((found[0] + found[2]) / 2, rel=1e-2)


def test_one_mode_is_what_it_becomes(steps):
    mean = steps.chain.packets_per_round
    begin = 2.0 * math.ceil(40 * steps.chain.packets_between_losses / mean / 2)
    law, long = law_of(steps, begin, 2 * begin, mean), LongLaw(Modes(steps), begin, 2 * begin, 0.0, 2.0, 1.0)
    y = low(steps, begin, [-6.0, -2.0, 0.0, 1.0, 2.0, 3.0])
    t = np.full(len(y), begin)
    assert law.missing(t, y) == pytest.approx(long.missing(t, y), rel=1e-3)


def test_its_steps_are_those_of_the_moves(steps):
    """Each move by itself, waits until they end, and what is not in order yet."""
    due = 0.9 * steps.chain.packets_per_round
    law = law_of(steps, 100.0, 300.0, due, decay=0.1)
    law.until(20.0)
    assert law._theta.shape[0] == 2
    for line, k in ((0, 0), (0, 5), (1, 3)):
        theta = law._theta[line, k]
        moved = steps.weight * np.exp(-theta * steps.mean + theta**2 * steps.variance / 2)
        chance, packets, variance, missing = steps.held.T
        held = chance * np.exp(-theta * packets + theta**2 * variance / 2) * (np.exp(theta * missing) - 1)
        longest = int(steps.lag.max())
        there = np.zeros((12 + longest, steps.entries), dtype=complex)
        there[0, steps.start] = 1.0
        waiting = np.zeros(12 + longest, dtype=complex)
        for n in range(10):
            for i in np.flatnonzero(there[n][steps.source]):
                amount = there[n, steps.source[i]] * moved[i]
                there[n + steps.lag[i], steps.target[i]] += amount
                waiting[n + 1 : n + steps.lag[i]] += amount
            waiting[n + 1] += there[n, steps.holding] @ held
            expected = (there[n + 1].sum() + waiting[n + 1]) * np.exp(theta * due * steps.step * (n + 1))
            assert law._rows[n, line, k] == pytest.approx(expected, rel=2e-4)


def test_an_interruption_changes_nothing(steps):
    mean = steps.chain.packets_per_round
    law, whole = (law_of(steps, 100.0, 300.0, mean) for _ in range(2))
    law.until(100.0)
    law._parts = None  # as after an interruption
    law.until(200.0)
    whole.until(200.0)
    np.testing.assert_array_equal(law._rows, whole._rows)


def test_it_bounds_what_is_below_its_edge(steps):
    mean = steps.chain.packets_per_round
    law = law_of(steps, 100.0, 300.0, mean)
    assert law.below(100.0) == 1.0
    later = [law.below(rounds) for rounds in (400.0, 500.0, 700.0)]
    assert 1 > later[0] > later[1] > later[2]


def test_long_waits_are_left_to_lattices():
    chain = chain_of(Path(sender="classic", loss=0.2, rtt=0.002, rto=0.2, tcp="reno-sack", max_window=20))
    with pytest.raises(AccuracyError, match="waits are long"):
        law_of(Steps.of(chain, 1), 100.0, 400.0, chain.packets_per_round)


@pytest.mark.long
@pytest.mark.parametrize(("loss", "rtt", "load"), [(0.008, 0.06, 0.88), (0.02, 0.03, 0.95), (0.005, 0.04, 1.02)])
def test_late_fractions_are_those_of_simulated_videos(loss, rtt, load):
    path = Path(loss=loss, rtt=rtt)
    video = Video(packet_rate=load * chain_of(path).packets_per_round / rtt, duration=60)
    found = stored(path, video, accuracy="fine")
    delays = np.array([0.2, 0.5, 0.8]) * found.required_delay(1e-3)
    f = found.late_fraction(delays)
    assert any(isinstance(law, TransformedLaw) for _, law in found._arrivals.levels())
    seen = simulate(path, video, delays, live=False, seed=4, runs=200_000)
    assert (np.abs(f - seen.late_fraction) <= found.relative_error(delays) * f + 4 * seen.late_error).all()
    assert (seen.late_error < 0.05 * f).all()


@pytest.mark.parametrize("load", [1.1, 0.9])
def test_late_fractions_are_those_of_lattices(load, monkeypatch):
    path = Path(loss=0.02, rtt=0.1, max_window=60)
    video = Video(packet_rate=load * chain_of(path).packets_per_round / 0.1, duration=90)
    delays = np.array([1.0, 4.0, 15.0])
    found = stored(path, video, accuracy="fine")
    f = found.late_fraction(delays)
    assert any(isinstance(law, TransformedLaw) for _, law in found._arrivals.levels())
    monkeypatch.setattr(arrival_levels, "SOME", math.inf)
    other = stored(path, video, accuracy="fine")
    expected = other.late_fraction(delays)
    assert not any(isinstance(law, TransformedLaw) for _, law in other._arrivals.levels())
    allowed = found.relative_error(delays) * f + other.relative_error(delays) * expected
    assert (np.abs(f - expected) <= allowed).all()
    assert f == pytest.approx(expected, rel=5e-3)

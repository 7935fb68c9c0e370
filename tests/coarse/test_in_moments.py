"""What a chain delivers in the long run, in moments, and moves transformed over what they deliver."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream import Path
from tcpstream.coarse import outlook
from tcpstream.coarse.in_moments import in_moments, long_run
from tcpstream.coarse.steps import Steps
from tcpstream.kernels.transformed import transformed
from tcpstream.tcp import chain_of

ROUNDS = 1000
"""After which moments grow by those of a round in the long run."""


def variance_by_rounds(path: Path) -> tuple[float, float]:
    """Return by how much mean and variance of what is delivered grow in a round at last, from moments by state."""
    known = in_moments(chain_of(path)).outcomes
    S, longest = known.n_states, int(known.rounds.max())
    source = np.repeat(np.arange(S), np.diff(known.starts))
    square = known.variance + known.mean**2
    mass, first, second = (np.zeros((ROUNDS + longest + 1, S)) for _ in range(3))
    mass[0, chain_of(path).first_state] = 1.0
    begun = np.zeros((ROUNDS, 3))  # of transitions that last into a round, what they will have delivered is counted
    for t in range(ROUNDS):
        p, a, b = (one[t][source] * known.chance for one in (mass, first, second))
        ends = p, a + p * known.mean, b + 2 * a * known.mean + p * square
        for one, value in zip((mass, first, second), ends):
            np.add.at(one, (t + known.rounds, known.to), value)
        for at in range(longest):
            late = known.rounds > at
            if t + at < ROUNDS:
                begun[t + at] += [value[late].sum() for value in ends]
    mean, wide = begun[:, 1], begun[:, 2] - begun[:, 1] ** 2
    return mean[-1] - mean[-2], (wide[-1] - wide[-101]) / 100


@pytest.mark.parametrize("sender", ["classic", "linux"])
def test_the_variance_in_the_long_run_is_that_of_moments_round_by_round(sender: str) -> None:
    path = Path(sender=sender, loss=0.05, rtt=0.1, rto=0.15, max_window=8)
    mean, variance = variance_by_rounds(path)
    found = in_moments(chain_of(path)).rates
    assert found[0] == pytest.approx(chain_of(path).packets_per_round, rel=1e-12)
    assert found == pytest.approx((mean, variance), rel=1e-6)


@pytest.mark.parametrize("step", [1, 3])
def test_steps_of_many_losses_have_mean_and_variance_of_the_chain(step: int) -> None:
    path = Path(sender="linux", tcp="cubic", loss=0.01, rtt=0.05, rto=0.25)
    chain = chain_of(path)
    steps = Steps.of(chain, step, 1.3, diffusive=True)
    elapsed = (steps.step * steps.lag + steps.times[steps.target] - steps.times[steps.source]).astype(float)
    found = long_run(steps.source, steps.target, steps.weight, steps.mean, steps.variance, elapsed, steps.entries)
    assert found[:2] == pytest.approx(in_moments(chain).rates, rel=1e-9)
    assert abs(steps.scale - 1) < 0.02


def test_transformed_moves_are_those_written_out() -> None:
    rng = np.random.default_rng(7)
    group = np.sort(rng.integers(0, 7, 50))
    weight, mean, variance = rng.normal(size=50), rng.uniform(0, 30, 50), rng.uniform(0, 9, 50)
    theta = 0.03 + 0.05j
    first, slope = transformed(theta, group, weight, mean, variance, 8)
    for g in range(8):
        each = weight * np.exp(-theta * mean + theta**2 * variance / 2) * (group == g)
        assert first[g] == pytest.approx(each.sum(), abs=1e-12)
        assert slope[g] == pytest.approx((each * (theta * variance - mean)).sum(), abs=1e-11)


@pytest.mark.parametrize("tcp", [{"tcp": "cubic"}, {"tcp": "reno-sack"}, {"sender": "classic"}])
def test_the_long_run_is_the_same_iterated_and_eliminated(tcp):
    steps = Steps.of(chain_of(Path(loss=0.01, rtt=0.05, max_window=60, **tcp)), 3, 1.15)
    moves = steps.source, steps.target, steps.weight, steps.entries
    exact = outlook._eliminated(*moves)
    exact /= exact.sum()
    turns = outlook._Turns(*moves)
    np.testing.assert_allclose(turns.stationary(), exact, rtol=0, atol=1e-12)
    change = np.bincount(steps.source, steps.weight * steps.mean, steps.entries)
    change -= exact @ change
    later = turns.outlook(change)
    ahead = np.bincount(steps.source, steps.weight * later[steps.target], steps.entries)
    left = later - ahead - change
    assert exact @ np.abs(left) < 1e-9 * np.ptp(later)


def test_a_long_run_that_does_not_settle_is_eliminated(monkeypatch):
    """Two pairs of places that are hardly ever left: iteration gives up."""
    monkeypatch.setattr(outlook, "LARGE", 1)
    source, target = np.array([0, 1, 1, 2, 3, 3]), np.array([1, 0, 2, 3, 2, 0])
    weight = np.array([1, 1 - 1e-8, 1e-8, 1, 1 - 3e-8, 3e-8])
    assert outlook._Turns(source, target, weight, 4).stationary() is None
    np.testing.assert_allclose(outlook.stationary(source, target, weight, 4), [0.375, 0.375, 0.125, 0.125], rtol=1e-6)

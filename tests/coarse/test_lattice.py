"""Moves on a lattice: moments are kept, and what goes forward is what goes back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.coarse import outlook
from tcpstream.coarse.forward import Forward
from tcpstream.coarse.in_moments import in_moments, long_run
from tcpstream.coarse.lattice_moves import Moves, floored
from tcpstream.coarse.law import Law
from tcpstream.coarse.smoothed import Smoothed
from tcpstream.coarse.state_grid import _along_runs, grid, lagrange
from tcpstream.coarse.steps import Steps
from tcpstream.kernels.back_in_time import back_several_rounds
from tcpstream.kernels.backlog_paths import rests
from tcpstream.kernels.bells import reaches, spacings, with_bells
from tcpstream.kernels.on_lattice import on_lattice
from tcpstream.tcp import chain_of


@given(mean=st.floats(-40, 40), variance=st.floats(0, 60))
def test_a_distribution_keeps_its_mean_and_variance(mean: float, variance: float) -> None:
    zero = np.zeros(1, dtype=np.int64)
    _, _, shifts, _, taps = on_lattice(zero, zero, np.ones(1), np.array([mean]), np.array([variance]), 1.0, 1)
    at = shifts[0] + np.arange(len(taps))
    assert taps.sum() == pytest.approx(1, abs=1e-9)
    assert taps @ at == pytest.approx(mean, abs=2e-3)
    assert taps @ (at - mean) ** 2 == pytest.approx(variance, rel=5e-3, abs=1e-8)


@given(mean=st.floats(-5, 5), variance=st.floats(0, 0.5))
def test_a_narrow_one_keeps_three_moments(mean: float, variance: float) -> None:
    zero = np.zeros(1, dtype=np.int64)
    _, _, shifts, _, taps = on_lattice(zero, zero, np.ones(1), np.array([mean]), np.array([variance]), 1.0, 1)
    at = shifts[0] + np.arange(len(taps))
    assert taps @ (at - mean) ** 3 == pytest.approx(0, abs=1e-6)


@given(x=st.floats(0, 3))
def test_polynomials_are_met(x: float) -> None:
    nodes = np.array([[0.0, 1.0, 2.0, 3.0]])
    weights = lagrange(nodes, np.array([x]))[0]
    assert weights @ nodes[0] ** 3 == pytest.approx(x**3, abs=1e-9)


@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize("tcp", [{"sender": "classic"}, {"tcp": "reno-sack"}, {"sender": "linux"}])
def test_throughput_and_probability_are_kept(step: int, tcp: dict[str, str]) -> None:
    chain = chain_of(Path(loss=0.02, rtt=0.1, rto=0.3, max_window=40, **({"sender": "classic"} | tcp)))
    steps = Steps.of(chain, step, 1.2)
    sums = np.bincount(steps.source, steps.weight, steps.entries)
    assert (np.abs(sums - 1) < 0.1).all()  # from rare timeouts to rarer ones
    assert np.median(np.abs(sums - 1)) < 1e-9
    assert steps.scale == pytest.approx(1, abs=0.02)
    forward = Forward(steps, 4.0, 4000.0)
    for _ in range(60 // step):
        law = forward.measured()
    assert law.mass.sum() + forward.done == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(("mean", "variance"), [(3.2, 0.1), (40.0, 0.0), (18.0, 4.0), (19.0, 500.0), (2000.0, 1e5)])
def test_moves_are_cut_where_all_is_alike(mean: float, variance: float) -> None:
    zero = np.zeros(1, dtype=np.int64)
    most = 20
    given = zero, zero, np.ones(1), np.array([mean]), np.array([variance]), 1.0, 1
    _, _, shifts, _, taps = on_lattice(*given)
    _, _, cut_shifts, _, cut = on_lattice(*given, most)
    assert cut.sum() == pytest.approx(1.0, abs=1e-12)
    assert cut_shifts[0] + len(cut) <= most + 1
    values = np.minimum(np.arange(-3000.0, 5000.0), most)  # alike from there on

    def met(first: int, taps: np.ndarray) -> float:
        return float(taps @ values[3000 + first : 3000 + first + len(taps)])

    assert met(cut_shifts[0], cut) == pytest.approx(met(shifts[0], taps), rel=1e-9)


def _in_full(moves: Moves, i: int) -> tuple[int, np.ndarray]:
    """Return the first position that a move reaches, and the weights of all: its taps, smoothed by its bell."""
    spacing, reach = (of(int(moves.bells[i]) + 1) for of in (spacings, reaches))
    bell = int(moves.bells[i])
    taps = moves.taps[moves.starts[i] : moves.starts[i + 1]]
    row = np.zeros((len(taps) - 1) * spacing[bell] + 1)
    row[:: spacing[bell]] = taps
    for d in spacing[:bell]:
        one = np.zeros(4 * d + 1)
        one[::d] = np.array([1, 4, 6, 4, 1]) / 16
        row = np.convolve(row, one)
    return int(moves.shifts[i] - reach[bell]), row


def test_back_in_time_is_the_adjoint_of_forward() -> None:
    """Without floors the mean of values after a step is the same, taken forward or back."""
    chain = chain_of(Path(sender="classic", loss=2e-3, rtt=0.1, rto=0.3, max_window=60, tcp="reno-sack"))
    steps = Steps.of(chain, 8, 1.0)
    rng = np.random.default_rng(7)
    one = floored(steps, 3.0, 0.0, 1e9).moves
    assert one.bells.max() > 6
    near = one.lags == 1
    ghosts, size, width = 200, 60, 2000
    old = rng.random((steps.entries, width))
    old[:, :ghosts] = 0.0  # as positions further below are
    new = np.zeros_like(old)
    floors = np.zeros(len(one.sources), dtype=np.int64)
    rows = Smoothed([one], np.full(steps.entries, width), ghosts, np.full(steps.entries, 0.5), kept=False)
    rows.fill(old, 0)
    taps = np.where(np.repeat(near, np.diff(one.starts)), one.taps, 0.0)
    back_several_rounds(
        *rows.arrays(old), new, ghosts, size, one.sources, rows.of(one), one.shifts, one.starts, taps, floors,
        np.ones_like(one.lags), 0, 0.0,
    )  # fmt: skip
    x = rng.random((steps.entries, size))
    after = np.zeros_like(old)
    for i in np.flatnonzero(near):
        first, weights = _in_full(one, i)
        begin = ghosts + first
        after[one.targets[i], begin : begin + size + len(weights) - 1] += np.convolve(x[one.sources[i]], weights)
    assert (after * old).sum() == pytest.approx((x * new[:, ghosts : ghosts + size]).sum(), rel=1e-10)


def test_what_is_smoothed_begins_at_a_lead_of_zero() -> None:
    """By the trapezoid rule: the first position counts half, and what it lies above that; those below do not count."""
    one, none = np.array([1.0]), np.zeros(1, dtype=np.int64)
    moves = Moves(none, none, none + 1, none + 7, none, np.array([0, 1]), one)
    row = np.zeros((1, 400))
    row[0, :6] = 9.0, 7.0, 5.0, 4.0, 3.0, 2.0
    smoothed = Smoothed([moves], np.array([400]), 2, np.array([0.3]), kept=False)
    smoothed.fill(row, 0)
    assert smoothed.values.sum() == pytest.approx(0.8 * 5 + 4 + 3 + 2, rel=1e-12)


def test_waits_that_follow_each_other_lead_to_no_place_below_all_rows() -> None:
    """With the chain's variance in the long run a long wait delivers less than nothing."""
    path = Path(loss=0.0573, rtt=0.0159, timeout_ratio=119.6, tcp="reno-sack", sender="linux")
    steps = Steps.of(chain_of(path), 2, 1.0, diffusive=True)
    assert steps.mean.min() < -500
    forward = Forward(steps, 4.16, 6000.0)
    furthest = int(forward.moves.shifts.min() - reaches(3).max())
    for _ in range(4000):
        forward.step()
        followed = forward._low < forward._high
        assert forward._low[followed].min() + furthest >= 0
    waiting = forward._ring.sum() + forward._x.sum()
    assert waiting + forward.done == pytest.approx(1, abs=1e-8)


def test_a_step_forward_is_that_of_its_moves_written_out() -> None:
    steps = Steps.of(chain_of(Path(loss=2e-3, rtt=0.1, rto=0.3, max_window=60, tcp="reno-sack")), 8, 1.0)
    forward = Forward(steps, 3.0, 4000.0)
    assert forward.moves.bells.max() > 6
    forward.step()
    x = forward._x.copy()
    forward.step()
    expected = np.zeros_like(x)
    for i in np.flatnonzero(forward.moves.lags == 1):
        first, weights = _in_full(forward.moves, i)
        moved = np.convolve(x[forward.moves.sources[i], 1 - min(first, 1) :], weights)
        begin = 1 - min(first, 1) + first
        n = min(len(moved), x.shape[1] - begin)
        expected[forward.moves.targets[i], begin : begin + n] += moved[:n]
    ring = np.unique(forward.moves.targets[forward.moves.lags > 1])
    others = np.setdiff1d(np.arange(steps.entries), ring)
    np.testing.assert_allclose(forward._x[others], expected[others], rtol=1e-9, atol=1e-16)


@given(mean=st.floats(-300, 300), variance=st.floats(0, 2000))
def test_a_bell_and_its_points_keep_mean_and_variance(mean: float, variance: float) -> None:
    zero = np.zeros(1, dtype=np.int64)
    found = with_bells(zero, zero, np.ones(1), np.array([mean]), np.array([variance]), 1.0, 1)
    first, weights = _in_full(Moves(found[0], found[1], zero, *found[2:]), 0)
    at = first + np.arange(len(weights))
    assert len(found[5]) <= 4
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert weights @ at == pytest.approx(mean, abs=1e-9)
    assert weights @ (at - mean) ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-9)
    assert weights @ (at - mean) ** 3 == pytest.approx(0, abs=1e-6 * (1 + variance**1.5))
    assert weights.min() > -0.13  # as of four points between two
    if variance > 4:
        normal = np.exp(-0.5 * (at - mean) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
        assert np.abs(np.cumsum(weights) - np.cumsum(normal)).max() < 0.02


@pytest.mark.parametrize(("mean", "variance"), [(3.2, 0.1), (40.0, 0.0), (18.0, 4.0), (19.0, 500.0), (2000.0, 1e5)])
def test_moves_with_bells_are_cut_as_others(mean: float, variance: float) -> None:
    """What lies above the highest position stays there: its bell must not lead back below."""
    zero, most = np.zeros(1, dtype=np.int64), 20
    given = zero, zero, np.ones(1), np.array([mean]), np.array([variance]), 1.0, 1, most
    _, _, shifts, _, taps = on_lattice(*given)
    found = with_bells(*given)
    first, weights = _in_full(Moves(found[0], found[1], zero, *found[2:]), 0)
    values = np.minimum(np.arange(-3000.0, 5000.0), most)
    met, expected = (w @ values[3000 + at : 3000 + at + len(w)] for at, w in ((first, weights), (shifts[0], taps)))
    assert met == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", [1e-4, 0.02])
def test_windows_that_hardly_any_flow_reaches_are_not_followed(loss: float) -> None:
    """Slow start leads far up the line of windows: what lies between its stops has a stand-in, as it is not visited."""
    chain = chain_of(Path(loss=loss, rtt=0.1, tcp="reno-sack"))
    known, followed = in_moments(chain), grid(chain, 1, 1.15)
    usual = np.maximum(chain.stationary, known.most)
    assert (usual[followed.states] > 1e-13).sum() > 0.8 * len(followed.states)
    sums = np.bincount(np.repeat(np.arange(chain.n_states), np.diff(followed.starts)), followed.weights)
    visited = np.flatnonzero(usual > 1e-13)
    np.testing.assert_allclose(sums[visited], 1.0, atol=1e-12)
    windows = chain.graph.windows[visited[visited < chain.graph.size]]
    stood = np.array([followed.starts[s] for s in visited[visited < chain.graph.size]])
    nearest = chain.graph.windows[followed.states[followed.points[stood]]]
    often = usual[visited[visited < chain.graph.size]] > 1e-8
    assert (np.abs(nearest - windows)[often] <= 3).all()
    if loss == 0.02:
        assert len(followed.states) < 0.1 * chain.n_states


def test_rounding_does_not_keep_a_backlog_from_rest() -> None:
    """A round that sends twice what is due empties it; steps scale what is sent by nearly 1."""
    assert rests(6 * (1 - 1e-13), 3.0, 1)
    assert not rests(5.999, 3.0, 1)


@pytest.mark.parametrize("size", [2, 5, 8, 12])
def test_a_line_with_a_gap_may_stand_for_a_shorter_one(size: int) -> None:
    """Ages 0 .. 3 and 9 .. 10 are followed: both runs stand for what comes between, if the other line gets so far."""
    points, weights = _along_runs(size, [(0, np.arange(4)), (4, np.array([9, 10]))], 1, apart=False)
    ages = np.array([0, 1, 2, 3, 9, 10])
    stood = (weights * ages[points]).sum(axis=1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    between = np.arange(4, 9) if size > 9 else np.full(5, 3)
    np.testing.assert_allclose(stood, np.array([0, 1, 2, 3, *between, 9, 10, 10])[:size], atol=1e-12)


@pytest.mark.parametrize("loss", [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("tcp", ["reno", "reno-sack", "cubic"])
def test_small_windows_are_left_as_soon_as_in_the_chain(loss: float, tcp: str) -> None:
    """After timeouts, which are rare: a state that nothing but a loss leaves would be visited for 1 / p rounds."""
    chain = chain_of(Path(loss=loss, rtt=0.1, rto=0.3, tcp=tcp, max_window=1500))
    steps = Steps.of(chain, 1, 1.2, 0.0, 32.0)
    visits = outlook.stationary(steps.source, steps.target, steps.weight, steps.entries)
    windows = np.append(chain.graph.windows, np.full(chain.n_states - chain.graph.size, 10**6))
    small = windows[steps.grid.states[steps.points]] <= 5
    expected = chain.stationary[windows <= 5].sum()
    assert visits[small].sum() / visits.sum() == pytest.approx(expected, rel=0.5, abs=1e-9)


@pytest.mark.parametrize("step", [2, 3])
def test_what_stands_for_a_state_of_cubic_delivers_as_much(step: int) -> None:
    chain = chain_of(Path(loss=0.01, rtt=0.05))
    steps = Steps.of(chain, step, kept=True)
    elapsed = (steps.step * steps.lag + steps.times[steps.target] - steps.times[steps.source]).astype(float)
    known = steps.source, steps.target, steps.weight, steps.mean / steps.scale, steps.variance, elapsed, steps.entries
    assert steps.scale == pytest.approx(1, abs=3e-4)
    assert long_run(*known).mean == pytest.approx(in_moments(chain).rates[0], rel=3e-4)


@pytest.mark.long
def test_cubic_in_steps_of_two_rounds_is_cubic_round_by_round() -> None:
    """Late fractions of rounds, over all lines and ages, and over few of them."""
    chain = chain_of(Path(loss=0.01, rtt=0.05))
    due = chain.packets_per_round / 1.2
    every, some = (
        Law(Steps.of(chain, step, ratio, due, small, kept=True), 6.0, 3500.0, due, np.inf)
        for step, ratio, small in ((1, 1.0, 99.0), (2, 1.15, 2 * chain.packets_per_round))
    )
    for delay, rounds in ((9, 48), (9, 96), (36, 192)):
        t, y = np.array([float(rounds)]), np.array([due * (rounds - delay)])
        found, exact = (float((law.missing(t, y) - law.missing(t, y - due))[0]) for law in (some, every))
        assert found == pytest.approx(exact, rel=1e-3 if delay == 9 else 4e-3)

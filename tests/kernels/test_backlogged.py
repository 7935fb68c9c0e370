"""The kernels of a source that always has something to send, against loops over all that can happen."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from tcpstream import Path
from tcpstream.errors import unremarked
from tcpstream.kernels import timeouts
from tcpstream.kernels.backlogged import advance
from tcpstream.kernels.backlogged_losses import lose
from tcpstream.kernels.moves import apply
from tcpstream.kernels.rows import clear, span, trim
from tcpstream.kernels.shortfall import missing, tabulate
from tcpstream.kernels.timeouts import turn
from tcpstream.kernels.waits import add, enter, leaving
from tcpstream.tcp import chain_of

TIGHT = dict(rtol=1e-11, atol=1e-14)
retransmit, settle, leave = (
    numba.njit(part.py_func) for part in (timeouts.retransmit, timeouts.settle, timeouts.leave)
)
WIDE = 200


@st.composite
def rounds(draw):
    """A source, the mass of this round and of the one before, with gaps and empty rows."""
    largest = draw(st.integers(1, 12))
    with unremarked():
        path = Path(
            sender="classic",
            loss=draw(st.floats(0.001, 0.95)),
            rtt=1,
            timeout_ratio=2,
            max_window=largest,
            initial_window=draw(st.one_of(st.none(), st.integers(1, largest))),
            rounds_per_increase=draw(st.integers(1, 2)),
            halving=draw(st.sampled_from(["floor", "ceil"])),
        )
    chain = chain_of(path)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    states = len(chain.by_window[0])
    return chain, placed(rng, states, draw(st.integers(1, 30))), placed(rng, states, draw(st.integers(1, 30)))


def placed(rng, states, n):
    """Random rows in the middle of zeros, and from where to where each is followed."""
    inner = rng.random((states, n)) * (rng.random((states, 1)) < 0.8)
    inner[:, rng.random(n) < 0.3] = 0.0
    x = np.zeros((states, WIDE))
    x[:, 60 : 60 + n] = inner
    low, high = np.full(states, 60), np.full(states, 60 + n)
    empty = ~inner.any(axis=1)
    low[empty] = high[empty] = 0
    return x, low, high


def followed(x, low, high):
    """Whether rows hold zeros where they are not followed."""
    k = np.arange(x.shape[1])
    return not x[(k < low[:, np.newaxis]) | (k >= high[:, np.newaxis])].any()


@settings(max_examples=100)
@given(rounds(), st.integers(0, 20), st.integers(0, 20), st.integers(40, 110), st.integers(60, 110))
def test_advance(made, offset, before_offset, middle, floor):
    chain, (x, low, high), (before, before_low, before_high) = made
    states, p = len(x), chain.loss
    order, place = chain.by_window
    windows, recovered_to = chain.graph.windows[order], chain.recover_to[chain.graph.windows[order]]
    targets = np.where(recovered_to >= 0, place[recovered_to], -1)
    limit = floor + 60
    growth = chain.graph.growth.between(order, place)
    moves = list(zip(growth.from_state, growth.to_state, growth.share))
    rows = naive.grow(x, windows, moves, p, 1, 10**9, offset, WIDE + 60)
    recovered = np.zeros((states, WIDE + 60))
    naive.recover(before, windows, targets, p, 1, middle, 10**9, recovered, np.zeros((states, 13)))
    expected = rows + np.roll(recovered, before_offset, axis=1)
    big = np.array([row if w >= 4 else 0 * row for row, w in zip(x, windows)])
    expected_grown = naive.grow(big, windows, moves, p, 1, 10**9, offset, WIDE + 60).sum(axis=0)

    new, new_low, new_high = placed(np.random.default_rng(0), states, 90)  # what was there before
    new = np.hstack([new, np.zeros((states, 60))])
    total, grown = np.empty(WIDE + 60), np.empty(WIDE + 60)
    restart = min(1, states - 1)
    expected[restart, 80] += 0.5
    below, above, dropped, cells = advance(
        x, low, high, before.copy(), before_low, before_high, windows, (1 - p) ** windows, targets,
        growth.from_state, growth.share, np.searchsorted(growth.to_state, np.arange(states + 1)), p, offset,
        before_offset, middle, floor, limit, 1e-19, restart, np.array([0.5]), 80, new, new_low, new_high, total, grown,
    )  # fmt: skip
    assert below == pytest.approx(expected[:, :floor].sum(), rel=1e-10, abs=1e-13)
    assert above == pytest.approx(expected[:, limit:].sum(), rel=1e-10, abs=1e-13)
    assert dropped < 1e-17
    expected[:, :floor] = expected[:, limit:] = 0
    np.testing.assert_allclose(new, expected, **TIGHT)
    np.testing.assert_allclose(total, expected.sum(axis=0), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(grown, expected_grown, rtol=1e-11, atol=1e-13)
    assert followed(new, new_low, new_high)
    assert cells == (new_high - new_low).sum()


@given(rounds(), st.integers(0, 20), st.integers(0, 120))
def test_lose(made, offset, floor):
    chain, (x, low, high), _ = made
    states, p = len(x), chain.loss
    windows = chain.graph.windows[chain.by_window[0]]
    big = np.array([row if w >= 4 else 0 * row for row, w in zip(x, windows)])
    together = [(s, 0, 1.0) for s in range(states)]
    grown = naive.grow(big, windows, together, p, 1, 10**9, offset, WIDE + 60)[0]
    expected = np.roll(naive.lose(x, windows, p, 1, 10**9, WIDE + 60), offset, axis=1)
    removed = expected[:, :floor].sum()
    expected[:, :floor] = 0
    few = np.zeros(WIDE + 60)
    for j, row in enumerate(expected, 1):
        for i in range(3):
            law = (1 - p) ** i * (1 if i == j else p) if i <= j else 0
            few[i:] += law * row[: len(row) - i]
    short, few_found = np.empty(WIDE + 60), np.empty(WIDE + 60)
    first, last = span(low, high)
    if first == last:
        first = last = 60
    out = lose(
        x, windows, x.sum(axis=0), first, last, grown, p, offset, floor, short, few_found
    )  # fmt: skip
    assert out == pytest.approx(removed, rel=1e-10, abs=1e-13)
    np.testing.assert_allclose(short, expected.sum(axis=0), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(few_found, few, rtol=1e-11, atol=1e-13)


@given(st.integers(0, 2**32), st.floats(0.01, 0.9), st.sampled_from([1, 4]), st.integers(0, 9))
def test_retransmit(seed, p, quantum, offset):
    rng = np.random.default_rng(seed)
    x, low, high = placed(rng, 6, 20)
    new, new_low, new_high = placed(rng, 6, 25)  # what was there before
    there_before = new.copy()
    mass, firsts, sizes = rng.random((9, 30)), np.zeros(9, dtype=int), np.ones(9, dtype=int)
    starts, depths, number = np.array([0, 2, 3, 5]), np.array([2, 1, 2, 4]), 7
    waiting, restarted, resting = np.zeros(WIDE), np.zeros(WIDE), np.zeros(WIDE)
    part = 1 / quantum
    step = np.array([(part**2 - part) / 2, 1 - part**2, (part**2 + part) / 2])
    first, last = retransmit(
        number, p, step, x, low, high, 100 + offset, starts, depths, mass, firsts, sizes, waiting, 100,
        new, new_low, new_high, 100, restarted, resting,
    )  # fmt: skip
    there = np.roll(x, offset, axis=1)
    delivered = (1 - p) * sum(step[i + 1] * np.roll(there, i, axis=1) for i in (-1, 0, 1))
    np.testing.assert_allclose(new, np.vstack([there_before[:3], delivered[:3]]), **TIGHT)
    lost = np.zeros((3, WIDE))
    for e, row in enumerate([2, 4, 8]):
        lost[e, firsts[row] - 100 :][: sizes[row]] = mass[row, : sizes[row]]
    np.testing.assert_allclose(lost, p * (there[:3] + there[3:]), **TIGHT)
    np.testing.assert_allclose(waiting, lost.sum(axis=0), **TIGHT)
    np.testing.assert_allclose(restarted, delivered[3:].sum(axis=0), **TIGHT)
    np.testing.assert_allclose(resting, delivered[:3].sum(axis=0), **TIGHT)
    assert not restarted[: first - 100].any()
    assert not restarted[last - 100 :].any()
    assert followed(new, new_low, new_high)


QUARTER = 0.25
"""What is negligible among multiples of 1/8, which add up exactly: the limit itself occurs."""


def eighths(rng, states, n):
    """Rows as `placed`, of multiples of 1/8."""
    x, low, high = placed(rng, states, n)
    return np.floor(8 * x) / 8, low, high


def trimmed(row, low, high, floor, limit, share):
    """What stays of a row between its limits and inside its negligible ends, and what those hold."""
    kept = row.copy()
    kept[floor] *= share
    first = min(max(low, floor), high)
    inside = kept[first : max(first, min(high, limit))]
    start, end, dropped = naive.ends(inside, QUARTER)
    row = np.zeros_like(row)
    row[first + start : first + end] = inside[start:end]
    return row, dropped


@given(st.integers(0, 2**32), st.integers(50, 100), st.integers(50, 100), st.sampled_from([0.0, 0.5, 1.0]))
def test_settle_and_clear(seed, floor, limit, share):
    x, low, high = eighths(np.random.default_rng(seed), 5, 30)
    expected, ends = zip(*(trimmed(*row, floor, limit, share) for row in zip(x, low, high)))
    total, whole = x.sum(axis=0), x.sum()
    within = np.where((np.arange(WIDE) < floor) | (np.arange(WIDE) >= limit), 0, total)
    within[floor] *= share
    below, above, dropped = settle(x, low, high, floor, limit, share, QUARTER, total)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(total, within)  # what is negligible stays in the sum
    assert dropped == sum(ends)
    assert below + above + dropped + x.sum() == whole
    assert followed(x, low, high)
    clear(x, low, high)
    assert not x.any()
    assert not high.any()


@pytest.mark.parametrize("floor", [0, 1])
def test_settle_where_the_floor_is_the_first_index(floor):
    """Half of what lies at the floor goes, of rows and of their sum."""
    x, low, high = np.ones((1, 4)), np.array([0]), np.array([4])
    total = x[0].copy()
    below, above, dropped = settle(x, low, high, floor, 4, 0.5, 0.0, total)
    expected = np.append(np.zeros(floor), [0.5, *np.ones(3 - floor)])
    np.testing.assert_array_equal(x[0], expected)
    np.testing.assert_array_equal(total, expected)
    assert (below, above, dropped) == (floor + 0.5, 0.0, 0.0)


def test_a_turn_loses_nothing():
    """One level, waits of two rounds: what a round takes from the rows and adds to the waits is all there is."""
    x, low, high = np.zeros((2, 20)), np.array([8, 9]), np.array([9, 11])
    x[0, 8], x[1, 9:11] = 1.0, [2.0, 4.0]
    mass, firsts, sizes, waiting = np.zeros((2, 4)), np.array([0, 8]), np.array([0, 1]), np.zeros(20)
    mass[1, 0] = waiting[8] = 8.0
    new, new_low, new_high = np.zeros((2, 20)), np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    restarted, resting = np.zeros(20), np.zeros(20)
    one = np.array([0])
    below, above, dropped, first, last = turn(
        0 + 2, 0.25, np.array([0.0, 0.0, 1.0]), x, low, high, 0, np.array([[2, 2]]), np.array([[1.0, 0.0]]), one, one,
        np.array([2]), mass, firsts, sizes, waiting, 0, 9, 15, 1.0, 0.0, new, new_low, new_high, 0, restarted, resting,
    )  # fmt: skip
    assert (below, above, dropped) == (8.0, 0.0, 0.0)
    assert new.nonzero()[0].tolist() == [1]
    assert new[1, 9] == resting[9] == resting.sum() == 0.75
    assert restarted[first:last].sum() == restarted[10:12].sum() == 4.5
    assert waiting[8:11].tolist() == [0.25, 0.5, 1.0]
    assert sizes.tolist() == [3, 0]


@given(st.lists(st.sampled_from([0.0, 1e-20, 4e-19, 2e-18, 1e-3, 0.5]), min_size=1, max_size=12), st.integers(-2, 14))
def test_enter(values, limit):
    x, n = np.array(values), len(values)
    mass, firsts, sizes, waiting = np.zeros((3, 12)), np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.ones(40)
    above, dropped = enter(x, 0.5, 5, 5 + limit, 1e-18, 2, mass, firsts, sizes, waiting, -3)
    inside = 0.5 * x[: max(0, min(limit, n))]
    first, last, ends = naive.ends(inside, 1e-18)
    np.testing.assert_array_equal(mass[2, : sizes[2]], inside[first:last])
    assert sizes.tolist() == [0, 0, last - first]
    assert sizes[2] == 0 or firsts[2] == 5 + first
    expected = np.ones(40)
    expected[8 + first : 8 + last] += inside[first:last]
    np.testing.assert_allclose(waiting, expected, **TIGHT)
    assert above == pytest.approx(0.5 * x[len(inside) :].sum())
    assert dropped == pytest.approx(ends, abs=0)


def test_waits_end_when_they_should():
    """What enters in round t leaves at the end of round t + d - 1, in shares of its two lengths."""
    rounds, weights = np.array([[2, 3], [1, 1]]), np.array([[0.25, 0.75], [1.0, 0.0]])
    starts, depths, levels = np.array([0, 3]), np.array([3, 1]), np.array([1, 0])
    mass, firsts, sizes = np.zeros((4, 2)), np.array([4, 4, 4, 7]), np.array([2, 0, 0, 1])
    mass[0], mass[3, 0] = [1.0, 2.0], 5.0
    waiting = np.zeros(10)
    waiting[4:6], waiting[7] = [1.0, 2.0], 5.0
    left = []
    for number in range(3):
        new, low, high = np.zeros((4, 10)), np.zeros(4, dtype=int), np.zeros(4, dtype=int)
        new[0, 2], high[0] = 3.0, 3  # what was there before
        resting = np.zeros(10)
        span_of = leaving(number, rounds, weights, starts, depths, firsts, sizes)
        leave(
            number, rounds, weights, levels, starts, depths, mass, firsts, sizes, waiting, 0, new, low, high, 0, resting
        )
        np.testing.assert_allclose(resting, new.sum(axis=0))
        assert followed(new, low, high)
        left.append((new[:2].sum(axis=1).tolist(), span_of if new.any() else None))
    assert left == [([5.0, 0.0], (7, 8)), ([0.0, 0.75], (4, 6)), ([0.0, 2.25], (4, 6))]
    assert not waiting.any()
    assert not sizes.any()


def test_add():
    target = np.ones(6)
    add(np.array([1.0, 2.0, 4.0]), 0.5, target, 2)
    np.testing.assert_array_equal(target, [1, 1, 1.5, 2, 3, 1])


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 40), st.integers(1, 3))
def test_what_is_missing(seed, n, top, quantum):
    """By the definition E[(z - A)+ - (y - A)+], at whole and other y and z, inside the table."""
    rng = np.random.default_rng(seed)
    mass = rng.random(n) * (rng.random(n) < 0.7)
    table = np.full(2 * (n + 2), np.nan)
    first, size = tabulate(mass, 1e-18, top, table[n + 2 :])
    assert np.isnan(table[n + 2 + size :]).all()
    table[:size] = table[n + 2 : n + 2 + size]
    y, z = np.sort(rng.uniform(0, max(1, min(top, n)), 2)) * quantum
    if seed % 2:
        y, z = np.floor(y), np.floor(z)
    out = np.empty(1)
    missing(table, np.array([first]), np.array([0, size]), quantum, np.array([y]), np.array([z]), out)
    a = quantum * np.arange(n)
    expected = (mass * (np.maximum(z - a, 0) - np.maximum(y - a, 0))).sum()
    assert out[0] == pytest.approx(expected, rel=1e-10, abs=1e-11)


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 11))
def test_apply(seed, n, taps):
    """A move is a convolution."""
    rng = np.random.default_rng(seed)
    x, low, high = placed(rng, 3, n)
    pmfs = rng.random(3 * taps)
    sources, targets, shifts = np.array([0, 1, 1]), np.array([1, 0, 1]), rng.integers(-20, 20, 3)
    new, new_low, new_high = np.zeros((2, WIDE)), np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    apply(x, low, high, sources, targets, shifts, taps * np.arange(4), pmfs, 5, new, new_low, new_high)
    expected = np.zeros_like(new)
    for i in range(3):
        moved = np.convolve(x[sources[i]], pmfs[taps * i : taps * (i + 1)])[:WIDE]
        expected[targets[i]] += np.roll(moved, 5 + shifts[i])
    np.testing.assert_allclose(new, expected, **TIGHT)
    assert followed(new, new_low, new_high)


@given(st.integers(0, 2**32))
def test_trim(seed):
    rng = np.random.default_rng(seed)
    x, low, high = eighths(rng, 4, 20)
    floors, limits, shares = rng.integers(50, 90, 4), rng.integers(50, 90, 4), rng.integers(0, 3, 4) / 2
    expected, ends = zip(*map(trimmed, x, low, high, floors, limits, shares))
    whole = x.sum()
    below, above, dropped = trim(x, low, high, floors, shares, limits, QUARTER)
    np.testing.assert_array_equal(x, expected)
    assert dropped == sum(ends)
    assert below + above + dropped + x.sum() == whole
    assert followed(x, low, high)

"""The kernels of a source that always has something to send, against loops over all that can happen."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.kernels.moves import apply, trim
from tcpstream.kernels.saturated import advance, clear, lose, retransmit, settle, span
from tcpstream.kernels.shortfall import shortfall, tabulate
from tcpstream.kernels.waits import add, enter, leave, leaving
from tcpstream.tcp import reno

TIGHT = dict(rtol=1e-11, atol=1e-14)
WIDE = 200


@st.composite
def rounds(draw):
    """A source, the mass of this round and of the one before, with gaps and empty rows."""
    path = Path(
        loss=draw(st.floats(0.001, 0.95)),
        rtt=1,
        timeout_ratio=2,
        max_window=draw(st.integers(1, 12)),
        rounds_per_increase=draw(st.integers(1, 2)),
        halving=draw(st.sampled_from(["floor", "ceil"])),
    )
    source = reno(path)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    states = source.size - source.rounds_per_increase + 1
    return source, placed(rng, states, draw(st.integers(1, 30))), placed(rng, states, draw(st.integers(1, 30)))


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


@settings(max_examples=200)
@given(rounds(), st.integers(0, 20), st.integers(0, 20), st.integers(40, 110), st.integers(60, 110))
def test_advance(made, offset, before_offset, middle, floor):
    source, (x, low, high), (before, before_low, before_high) = made
    states, p = len(x), source.loss
    windows, targets = source.windows[:states], source.recover_to[source.windows[:states]]
    limit = floor + 60
    grown_to = np.minimum(np.arange(states) + 1, states - 1)
    rows = naive.grow(x, windows, grown_to, p, 1, 10**9, offset, WIDE + 60)
    recovered = np.zeros((states, WIDE + 60))
    naive.recover(before, windows, targets, p, 1, middle, 10**9, recovered, np.zeros((states, 13)))
    expected = rows + np.roll(recovered, before_offset, axis=1)
    big = np.array([row if w >= 4 else 0 * row for row, w in zip(x, windows)])
    expected_grown = naive.grow(big, windows, grown_to, p, 1, 10**9, offset, WIDE + 60).sum(axis=0)

    new, total, grown = np.zeros((states, WIDE + 60)), np.empty(WIDE + 60), np.empty(WIDE + 60)
    new[0, 80] = 0.5  # back from a timeout
    expected[0, 80] += 0.5
    new_low, new_high = np.zeros(states, dtype=int), np.zeros(states, dtype=int)
    new_low[0], new_high[0] = 80, 81
    below, above, dropped = advance(
        x, low, high, before.copy(), before_low, before_high, windows, (1 - p) ** windows, targets, p, offset,
        before_offset, middle, floor, limit, 1e-19, new, new_low, new_high, total, grown,
    )  # fmt: skip
    assert below == pytest.approx(expected[:, :floor].sum(), rel=1e-10, abs=1e-13)
    assert above == pytest.approx(expected[:, limit:].sum(), rel=1e-10, abs=1e-13)
    assert dropped < 1e-17
    expected[:, :floor] = expected[:, limit:] = 0
    np.testing.assert_allclose(new, expected, **TIGHT)
    np.testing.assert_allclose(total, expected.sum(axis=0), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(grown, expected_grown, rtol=1e-11, atol=1e-13)
    assert followed(new, new_low, new_high)


@given(rounds(), st.integers(0, 20), st.integers(0, 120))
def test_lose(made, offset, floor):
    source, (x, low, high), _ = made
    states, p = len(x), source.loss
    windows = source.windows[:states]
    big = np.array([row if w >= 4 else 0 * row for row, w in zip(x, windows)])
    grown = naive.grow(big, windows, np.zeros(states, dtype=int), p, 1, 10**9, offset, WIDE + 60)[0]
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
    lost, lost_low, lost_high = placed(rng, 3, 25)
    restarted = np.zeros(WIDE)
    part = 1 / quantum
    step = np.array([(part**2 - part) / 2, 1 - part**2, (part**2 + part) / 2])
    first, last = retransmit(
        x, low, high, p, step, offset, new, new_low, new_high, lost, lost_low, lost_high, restarted
    )  # fmt: skip
    there = np.roll(x, offset, axis=1)
    delivered = (1 - p) * sum(step[i + 1] * np.roll(there, i, axis=1) for i in (-1, 0, 1))
    np.testing.assert_allclose(new, np.vstack([np.zeros((3, WIDE)), delivered[:3]]), **TIGHT)
    np.testing.assert_allclose(lost, p * (there[:3] + there[3:]), **TIGHT)
    np.testing.assert_allclose(restarted, delivered[3:].sum(axis=0), **TIGHT)
    assert not restarted[:first].any()
    assert not restarted[last:].any()
    assert followed(new, new_low, new_high)
    assert followed(lost, lost_low, lost_high)


@given(st.integers(0, 2**32), st.integers(50, 100), st.integers(50, 100))
def test_settle_and_clear(seed, floor, limit):
    x, low, high = placed(np.random.default_rng(seed), 5, 30)
    expected = x.copy()
    expected[:, :floor] = expected[:, limit:] = 0
    total = np.empty(WIDE)
    whole = x.sum()
    below, above, dropped = settle(x, low, high, floor, limit, 1e-19, total)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_allclose(total, expected.sum(axis=0), **TIGHT)
    assert below + above + dropped + x.sum() == pytest.approx(whole)
    assert followed(x, low, high)
    clear(x, low, high)
    assert not x.any()
    assert not high.any()


@given(st.lists(st.sampled_from([0.0, 1e-20, 4e-19, 1e-3, 0.5]), min_size=1, max_size=12), st.integers(-2, 14))
def test_enter(values, limit):
    x = np.array([values, values[::-1]])
    low, high, n = np.zeros(2, dtype=int), np.full(2, len(values)), len(values)
    mass, firsts, sizes, waiting = np.zeros((3, 12)), np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.ones(40)
    rows = np.array([2, 0])
    above, dropped = enter(x, low, high, 5, 5 + limit, 1e-18, rows, mass, firsts, sizes, waiting, -3)
    expected = np.ones(40)
    expected_above = expected_dropped = 0.0
    for row, e in zip(rows, x):
        inside = e[: max(0, min(limit, n))]
        first, last, ends = naive.ends(inside, 1e-18)
        np.testing.assert_array_equal(mass[row, : sizes[row]], inside[first:last])
        assert sizes[row] == 0 or firsts[row] == 5 + first
        expected[8 + first : 8 + last] += inside[first:last]
        expected_above += e[len(inside) :].sum()
        expected_dropped += ends
    np.testing.assert_allclose(waiting, expected, **TIGHT)
    assert above == pytest.approx(expected_above)
    assert dropped == pytest.approx(expected_dropped)


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
        new, low, high = np.zeros((2, 10)), np.zeros(2, dtype=int), np.zeros(2, dtype=int)
        span_of = leaving(number, rounds, weights, starts, depths, firsts, sizes)
        leave(
            number, rounds, weights, levels, starts, depths, mass, firsts, sizes, new, low, high, 0, waiting, 0
        )  # fmt: skip
        assert followed(new, low, high)
        left.append((new.sum(axis=1).tolist(), span_of if new.any() else None))
    assert left == [([5.0, 0.0], (7, 8)), ([0.0, 0.75], (4, 6)), ([0.0, 2.25], (4, 6))]
    assert not waiting.any()
    assert not sizes.any()


def test_add():
    target = np.ones(6)
    add(np.array([1.0, 2.0, 4.0]), 0.5, target, 2)
    np.testing.assert_array_equal(target, [1, 1, 1.5, 2, 3, 1])


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 40))
def test_tables_of_shortfall(seed, n, top):
    """By the definition E[(y - A)+], at whole and other y, inside the table."""
    rng = np.random.default_rng(seed)
    mass = rng.random(n) * (rng.random(n) < 0.7)
    table = np.full(2 * (n + 2), np.nan)
    first, size = tabulate(mass, 1e-18, top, table[n + 2 :])
    table[:size] = table[n + 2 : n + 2 + size]
    y = np.array([rng.uniform(0, max(1, min(top, n)))])
    out = np.empty(1)
    shortfall(table, np.array([first]), np.array([0, size]), y, out)
    expected = (mass * np.maximum(y - np.arange(n), 0)).sum()
    assert out[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 11))
def test_apply(seed, n, taps):
    """A move is a convolution."""
    rng = np.random.default_rng(seed)
    x, low, high = placed(rng, 3, n)
    laws = rng.random(3 * taps)
    sources, targets, shifts = np.array([0, 1, 1]), np.array([1, 0, 1]), rng.integers(-20, 20, 3)
    new, new_low, new_high = np.zeros((2, WIDE)), np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    apply(x, low, high, sources, targets, shifts, taps * np.arange(4), laws, 5, new, new_low, new_high)
    expected = np.zeros_like(new)
    for i in range(3):
        moved = np.convolve(x[sources[i]], laws[taps * i : taps * (i + 1)])[:WIDE]
        expected[targets[i]] += np.roll(moved, 5 + shifts[i])
    np.testing.assert_allclose(new, expected, **TIGHT)
    assert followed(new, new_low, new_high)


@given(st.integers(0, 2**32))
def test_trim(seed):
    rng = np.random.default_rng(seed)
    x, low, high = placed(rng, 4, 20)
    floors, limits = rng.integers(50, 90, 4), rng.integers(50, 90, 4)
    expected = x.copy()
    shares = rng.random(4)
    for row, floor, share, limit in zip(expected, floors, shares, limits):
        row[floor] *= share
        row[:floor] = row[limit:] = 0
    whole = x.sum()
    below, above, dropped = trim(x, low, high, floors, shares, limits, 1e-19)
    np.testing.assert_array_equal(x, expected)
    assert below + above + dropped + x.sum() == pytest.approx(whole)
    assert followed(x, low, high)

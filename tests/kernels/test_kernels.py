"""Every kernel against its slow twin, over the whole range of what it takes."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.backlog import spread
from tcpstream.kernels.ends import ends
from tcpstream.kernels.epoch import back_off, climb
from tcpstream.kernels.growth import grow
from tcpstream.kernels.losses import lose
from tcpstream.kernels.recovery import recover
from tcpstream.tcp import reno

TIGHT = dict(rtol=1e-12, atol=1e-15)


@st.composite
def masses(draw):
    """A small source with random mass, gaps and empty rows included."""
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
    x = rng.random((source.size, draw(st.integers(1, 40)))) * (rng.random((source.size, 1)) < 0.8)
    x[:, rng.random(x.shape[1]) < 0.3] = 0.0
    return source, x, draw(st.integers(1, 3))


def success(source):
    return (1 - source.loss) ** source.windows


@given(masses(), st.integers(0, 60), st.integers(0, 5))
def test_grow(made, room, offset):
    source, x, stride = made
    width = x.shape[1] + offset + 12 * stride + 1
    cap = min(x.shape[1] + offset + room, width - 1)
    out = np.zeros((source.size, width))
    grow(x, source.windows, source.grow_to, success(source), stride, cap, offset, out)
    expected = naive.grow(x, source.windows, source.grow_to, source.loss, stride, cap, offset, width)
    np.testing.assert_allclose(out, expected, **TIGHT)


@given(masses(), st.integers(0, 60))
def test_lose(made, room):
    source, x, stride = made
    width = x.shape[1] + 12 * stride + 1
    cap = min(x.shape[1] + room, width - 1)
    out = np.full((3, width), np.nan)
    lose(x, source.windows, success(source), source.loss, stride, cap, out)
    np.testing.assert_allclose(
        out, naive.lose(x, source.windows, source.loss, stride, cap, width), rtol=1e-12, atol=1e-14
    )


@settings(max_examples=150)
@given(masses(), st.integers(-10, 80), st.integers(0, 120))
def test_recover(made, floor, cap):
    source, x, stride = made
    rows, inverse = np.unique(source.recover_to[4:], return_inverse=True)
    row_of_window = np.concatenate([np.zeros(4, dtype=int), inverse])
    shape = (max(1, len(rows)), x.shape[1] + 2 * stride * source.max_window)
    out, frozen = np.zeros(shape), np.zeros((shape[0], source.max_window))
    expected, expected_frozen = np.zeros(shape), np.zeros_like(frozen)
    arguments = (x, source.windows, row_of_window[source.windows], source.loss, stride, floor, cap)
    recover(*arguments, out, frozen)
    naive.recover(*arguments, expected, expected_frozen)
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-14)
    reachable = expected_frozen if floor <= cap else frozen  # a floor above the ceiling does not occur
    np.testing.assert_allclose(frozen, reachable, **TIGHT)


@given(st.lists(st.sampled_from([0.0, 1e-20, 4e-19, 1e-3, 0.5]), min_size=1, max_size=12))
def test_ends(values):
    mass = np.array(values)
    first, last, dropped = ends(mass, 1e-18)
    expected = naive.ends(mass, 1e-18)
    assert (first, last) == expected[:2]
    assert dropped == pytest.approx(expected[2])


@st.composite
def queues(draw):
    """Playback slower than the largest window, on the lattice and off it, and mass anywhere."""
    W, b, stride = draw(st.integers(5, 8)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    step = draw(st.one_of(st.integers(2, W * stride - 2), st.floats(2, W * stride - 2.6)))
    path = Path(loss=draw(st.floats(0.05, 0.6)), rtt=1, timeout_ratio=2, max_window=W, rounds_per_increase=b)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return reno(path), stride, *spread(float(step)), rng, draw(st.integers(40, 60))


@settings(max_examples=20)
@given(queues())
def test_climb(made):
    source, stride, drop, weights, rng, n = made
    entries = rng.random((source.size, n)) * (rng.random((source.size, n)) < 0.2)
    b = source.rounds_per_increase
    x, sending = np.empty_like(entries), np.empty_like(entries)
    common = (source.windows, source.grow_to, success(source), stride, drop, weights)
    returns = np.zeros((b, b))
    for c in range(b):
        unit = np.zeros_like(entries)
        unit[source.size - b + c, n - 1] = 1
        climb(unit, *common, np.eye(b), x, sending)
        returns[c] = x[-b:, n - 1] - np.eye(b)[c]
    climb(entries, *common, np.linalg.inv(np.eye(b) - returns), x, sending)
    expected = naive.climb(entries, source.windows, source.grow_to, source.loss, stride, drop, weights)
    np.testing.assert_allclose(x, expected[0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sending, expected[1], rtol=1e-9, atol=1e-11)


@settings(max_examples=20)
@given(queues())
def test_back_off(made):
    source, stride, drop, weights, rng, n = made
    inflow = rng.random(n)
    shifts = np.array([[2 + e, 3 + 2 * e] for e in range(4)])
    ways = np.array([[0.5, 0.5]] * 4)
    visits, restart = np.empty((2, 4, n)), np.empty(n)
    back_off(inflow, source.loss, stride, drop, weights, shifts, ways, visits, restart)
    expected = naive.back_off(inflow, source.loss, stride, drop, weights, shifts, ways)
    np.testing.assert_allclose(visits, expected[0], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(restart, expected[1], rtol=1e-10, atol=1e-13)

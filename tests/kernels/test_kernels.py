"""Kernels against their slow twins, over the whole range of what they take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from tcpstream import Path
from tcpstream.errors import unremarked
from tcpstream.kernels.growth import grow
from tcpstream.kernels.limited_losses import lose
from tcpstream.kernels.recovery import recover
from tcpstream.kernels.rows import ends
from tcpstream.tcp import chain_of

TIGHT = dict(rtol=1e-12, atol=1e-15)


@st.composite
def masses(draw):
    """A small source with random mass: gaps, empty rows, rows of different lengths, or one unit."""
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
    x = rng.random((chain.graph.size, draw(st.integers(1, 40)))) * (rng.random((chain.graph.size, 1)) < 0.8)
    x[:, rng.random(x.shape[1]) < 0.3] = 0.0
    kind = draw(st.sampled_from(["whole rows", "parts of rows", "one"]))
    if kind == "parts of rows":
        first, last = np.sort(rng.integers(0, x.shape[1] + 1, (2, chain.graph.size, 1)), axis=0)
        x[(np.arange(x.shape[1]) < first) | (np.arange(x.shape[1]) >= last)] = 0.0
    elif kind == "one":
        x[:] = x == max(x.max(), 1e-9)
    return chain, x, draw(st.integers(1, 3))


def success(chain):
    return (1 - chain.loss) ** chain.graph.windows


@given(masses(), st.integers(0, 60), st.integers(0, 5))
def test_grow(made, room, offset):
    chain, x, steps_per_packet = made
    width = x.shape[1] + offset + 12 * steps_per_packet + 1
    cap = min(x.shape[1] + offset + room, width - 1)
    out = np.zeros((chain.graph.size, width))
    growth = chain.graph.growth
    grow(
        x, chain.graph.windows, success(chain), growth.from_state, growth.to_state, growth.share, steps_per_packet, cap,
        offset, out,
    )  # fmt: skip
    moves = zip(growth.from_state, growth.to_state, growth.share)
    expected = naive.grow(x, chain.graph.windows, moves, chain.loss, steps_per_packet, cap, offset, width)
    np.testing.assert_allclose(out, expected, **TIGHT)


@given(masses(), st.integers(0, 60))
def test_lose(made, room):
    chain, x, steps_per_packet = made
    width = x.shape[1] + 12 * steps_per_packet + 1
    cap = min(x.shape[1] + room, width - 1)
    out = np.full((3, width), np.nan)
    lose(x, chain.graph.windows, success(chain), chain.loss, steps_per_packet, cap, out)
    np.testing.assert_allclose(
        out, naive.lose(x, chain.graph.windows, chain.loss, steps_per_packet, cap, width), rtol=1e-12, atol=1e-14
    )


def recovered(kernel, chain, x, steps_per_packet, floor, cap):
    rows, inverse = np.unique(chain.recover_to[4:], return_inverse=True)
    row_of_window = np.concatenate([np.zeros(4, dtype=int), inverse])
    shape = (max(1, len(rows)), x.shape[1] + 2 * steps_per_packet * chain.graph.max_window)
    out, frozen = np.zeros(shape), np.zeros((shape[0], chain.graph.max_window))
    kernel(
        x,
        chain.graph.windows,
        row_of_window[chain.graph.windows],
        chain.loss,
        steps_per_packet,
        floor,
        cap,
        out,
        frozen,
    )
    return out, frozen


@settings(max_examples=150)
@given(masses(), st.integers(-10, 80), st.integers(0, 120))
def test_recover(made, floor, cap):
    (out, frozen), (expected, expected_frozen) = (
        recovered(kernel, *made, floor, cap) for kernel in (recover, naive.recover)
    )
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-14)
    reachable = expected_frozen if floor <= cap else frozen  # a floor above the ceiling does not occur
    np.testing.assert_allclose(frozen, reachable, **TIGHT)


def test_nothing_is_left_over_from_a_longer_row():
    """Away from the limits, each window with fewer positions than the one before."""
    chain = chain_of(Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=2, max_window=8))
    x = np.random.default_rng(0).random((chain.graph.size, 60))
    x[np.arange(60) >= 70 - 8 * chain.graph.windows[:, np.newaxis]] = 0.0
    out, expected = (recovered(kernel, chain, x, 1, -100, 1000)[0] for kernel in (recover, naive.recover))
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-14)


@given(st.lists(st.sampled_from([0.0, 1e-20, 4e-19, 1e-18, 1e-3, 0.5]), min_size=1, max_size=12))
def test_ends(values):
    mass = np.array(values)
    first, last, before, behind = ends(mass, 0, len(mass), 1.0, 1e-18, False)
    expected = naive.ends(mass, 1e-18)
    assert (first, last) == expected[:2]
    assert before + behind == pytest.approx(expected[2], abs=0)

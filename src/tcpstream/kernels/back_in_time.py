"""One step of values of rows, back in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part(nogil=True)
def beyond(lag: int, number: int, due: float) -> int:
    """Return the positions that fall in a wait after the end."""
    return int((lag - number) * due + 0.5) if lag > number else 0


@kept(nogil=True)
def back_several_rounds(
    rows: Floats, plain: Ints, values: Floats, firsts: Ints, sizes: Ints, slots: Ints, pads: Ints, steps: Ints,
    new: Floats, ghosts: int, size: int, sources: Ints, pairs: Ints, shifts: Ints, starts: Ints, taps: Floats,
    floors: Ints, lags: Ints, number: int, due: float,
) -> None:  # fmt: skip
    """Add the mean of values over the moves of one step, back in time.

    Rows have `ghosts` values below position 0, with nothing below them, then `size`, then a margin. A move counts from
    position ``floors`` on. Its taps are ``steps`` positions apart. They meet one of `rows` as it is, if `plain` is not
    -1, else what `bells.fill` made of it ``lags`` steps later, with `pads` values more below. A wait that ends after
    all `number` steps is judged until then: positions fall by `due` a step.
    """
    for i in range(len(sources)):
        spared = beyond(lags[i], number, due)
        q = pairs[i]
        step, count = steps[q], starts[i + 1] - starts[i]
        shift = shifts[i] + spared + pads[q]
        first = max(floors[i] - spared, 1 - ghosts - shift - step * (count - 1), 0)  # further below there is nothing
        if first >= size:
            continue
        n = size - first
        sink = new[sources[i], ghosts + first : ghosts + size]
        if plain[q] >= 0:
            row = rows[plain[q]]
        else:
            slot = firsts[q] + (number - lags[i]) % slots[q] * sizes[q]
            row = values[slot : slot + sizes[q]]
        begin = ghosts + first + shift
        j0 = starts[i]
        j = 0
        while begin + j * step < 0 and j < count:
            a, skipped = taps[j0 + j], -begin - j * step
            zero = row[: max(n - skipped, 0)]
            for k in range(len(zero)):
                sink[skipped + k] += a * zero[k]
            j += 1
        while j + 4 <= count:
            a, b, c, d = taps[j0 + j], taps[j0 + j + 1], taps[j0 + j + 2], taps[j0 + j + 3]
            at = begin + j * step
            zero, one = row[at : at + n], row[at + step : at + step + n]
            two, three = row[at + 2 * step : at + 2 * step + n], row[at + 3 * step : at + 3 * step + n]
            for k in range(n):
                sink[k] += a * zero[k] + b * one[k] + c * two[k] + d * three[k]
            j += 4
        while j < count:
            a = taps[j0 + j]
            zero = row[begin + j * step : begin + j * step + n]
            for k in range(n):
                sink[k] += a * zero[k]
            j += 1


@kept(nogil=True)
def back_at_edges(
    rows: Floats, plain: Ints, values: Floats, firsts: Ints, sizes: Ints, slots: Ints, pads: Ints, steps: Ints,
    new: Floats, ghosts: int, size: int, at: Ints, sources: Ints, pairs: Ints, shifts: Ints, starts: Ints, taps: Floats,
    lags: Ints, number: int, due: float,
) -> None:  # fmt: skip
    """Add what moves count at single positions: rows and positions ``at``; else as `back_several_rounds`."""
    for i in range(len(sources)):
        s, position = at[sources[i], 0], at[sources[i], 1]
        q = pairs[i]
        begin = ghosts + position + shifts[i] + pads[q]
        position -= beyond(lags[i], number, due)
        if position < 0 or position >= size:
            continue
        if plain[q] >= 0:
            row = rows[plain[q]]
        else:
            slot = firsts[q] + (number - lags[i]) % slots[q] * sizes[q]
            row = values[slot : slot + sizes[q]]
        total = 0.0
        for j in range(starts[i], starts[i + 1]):
            k = begin + (j - starts[i]) * steps[q]
            if k >= 0:
                total += taps[j] * row[k]
        new[s, ghosts + position] += total


@kept(nogil=True)
def resample(rows: Floats, into: Floats, starts: Ints, at: Ints, weights: Floats, first: int) -> None:
    """Interpolate rows between four values: ``into[s, first + k] = sum_j weights[i, j] rows[s, at[i] + j]``.

    i is ``starts[s]`` + k.
    """
    for s in range(len(rows)):
        row, start = rows[s], starts[s]
        for i in range(start, starts[s + 1]):
            w, j = weights[i], at[i]
            into[s, first + i - start] = w[0] * row[j] + w[1] * row[j + 1] + w[2] * row[j + 2] + w[3] * row[j + 3]


@kept(nogil=True)
def add_resampled(rows: Floats, into: Floats, starts: Ints, at: Ints, weights: Floats, first: int) -> None:
    """Add interpolated rows: as `resample`, to what is there."""
    for s in range(len(rows)):
        row, start = rows[s], starts[s]
        for i in range(start, starts[s + 1]):
            w, j = weights[i], at[i]
            into[s, first + i - start] += w[0] * row[j] + w[1] * row[j + 1] + w[2] * row[j + 2] + w[3] * row[j + 3]


@kept(nogil=True)
def extrapolate(rows: Floats, ghosts: int, count: int) -> None:
    """Continue rows below position 0, by a straight line."""
    for s in range(len(rows)):
        a, b = rows[s, ghosts], rows[s, ghosts + 1]
        for k in range(1, count + 1):
            rows[s, ghosts - k] = a - k * (b - a)


@kept(nogil=True)
def radius(source: Ints, target: Ints, weight: Floats, vector: Floats) -> float:
    """Return the largest eigenvalue of a matrix of moves, about; `vector` becomes its right eigenvector."""
    before = 0.0
    for i in range(3000):
        new = np.zeros_like(vector)
        for k in range(len(source)):
            new[source[k]] += weight[k] * vector[target[k]]
        largest = 0.0
        for k in range(len(new)):
            largest = max(largest, abs(new[k]))
        for k in range(len(new)):
            vector[k] = 0.5 * vector[k] + 0.5 * new[k] / largest  # half a step: no periods
        if i > 20 and abs(largest - before) < min(1e-8, 1e-3 * abs(largest - 1)):  # which side of 1 is what matters
            break
        before = largest
    return before if before > 0 else 0.0

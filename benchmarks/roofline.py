"""How near the transient of stored media is to what the machine can do.

Floating point operations and bytes are counted by hand, for one cell (TCP state x position) in one round, from the
recursions of docs/theory.md:

- *no loss*: q^w x, added to its place and to the sum of what was sent: 4 operations;
- *losing and recovering*, numerators: x into U and V, shifted by w and by 2w into U, by 2w into V: 10;
- *losing and recovering*, quotients: (1 + q z)^2 U, two recursions, the sum of both, added to its place and to the
  sum of all rows: 11 for two windows with the same half, 6 for one.

So 20 operations. A cell is read once and written once, which 16 bytes cannot be less than. Both are what the
mathematics needs, not what a compiler makes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray

import tcpstream

from . import cases
from .cost import followed
from .ours import varied
from .outcome import Outcome, timed

Floats = NDArray[np.float64]

OPERATIONS = 4 + 10 + 6
BYTES = 16


@numba.njit(cache=True, fastmath={"contract"})
def fused(x: Floats, a: float, b: float, times: int) -> None:
    """Evaluate x a + b eight times over, again and again: only arithmetic counts."""
    for _ in range(times):
        for k in range(len(x)):
            t = x[k]
            t = t * a + b
            t = t * a + b
            t = t * a + b
            t = t * a + b
            t = t * a + b
            t = t * a + b
            t = t * a + b
            t = t * a + b
            x[k] = t


@numba.njit(cache=True)
def triad(x: Floats, y: Floats, z: Floats, a: float, times: int) -> None:
    """Compute x = y + a z, again and again: 24 bytes for each element."""
    for i in range(times):
        s = a + i
        for k in range(len(x)):
            x[k] = y[k] + s * z[k]


@numba.njit(cache=True, fastmath={"contract"})
def recursion(x: Floats, y: Floats, a: float, times: int) -> None:
    """Compute y(k) = a y(k - 1) + x(k), again and again: each element waits for the one before."""
    for _ in range(times):
        for k in range(1, len(x)):
            y[k] = a * y[k - 1] + x[k]


def fastest(work: Callable[[], None]) -> float:
    """Return the shortest of some runs [s]."""
    work()
    seconds = []
    for _ in range(7):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def machine_peaks(quick: bool) -> dict[str, float]:
    """Return what one core of this machine reaches: operations, recursion steps and bytes per second."""
    work = 4 if quick else 40
    small = np.ones(1024)
    peaks = {"operations": 16 * 1024 * 500 * work / fastest(lambda: fused(small, 0.5, 0.5, 500 * work))}
    peaks["recursion"] = 1023 * 500 * work / fastest(lambda: recursion(small, small.copy(), 0.5, 500 * work))
    for name, elements, times in (("L2", 2**14, 100 * work), ("memory", 2**22 if quick else 2**24, 2)):
        x, y, z = (np.ones(elements) for _ in range(3))
        peaks[name] = 24 * elements * times / fastest(partial(triad, x, y, z, 0.5, times))
    return peaks


def roofline(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Compare the transient of the stored table's fastest video with the peaks."""
    table = cases.stored_table(quick)
    video = table.videos[-1]

    def work(repetition: int) -> object:
        solution = tcpstream.stored(varied(table.path, repetition), video, horizon="paper")
        solution.late_fraction(0.0)
        return solution

    seconds, solution = timed(work)
    cells, _ = followed(solution)
    rate = cells / min(seconds)
    peaks = machine_peaks(quick)
    yield Outcome(
        seconds,
        method="tcpstream, one rate",
        note=f"{rate / 1e6:.0f} million cells/s: {OPERATIONS * rate / 1e9:.2f} of {peaks['operations'] / 1e9:.1f} "
        f"GFLOP/s ({OPERATIONS * rate / peaks['operations']:.0%} of multiply-add peak); {BYTES * rate / 1e9:.2f} GB/s "
        f"({BYTES * rate / peaks['L2']:.0%} of L2, {BYTES * rate / peaks['memory']:.0%} of memory)",
        figures={"cells": cells, "cells_per_second": rate, "operations_per_cell": OPERATIONS, "bytes_per_cell": BYTES},
    )
    for name, what in (
        ("operations", "multiply-add, GFLOP/s"),
        ("recursion", "first-order recursion, 10^9 steps/s"),
        ("L2", "triad in L2 (384 KiB), GB/s"),
        ("memory", f"triad in memory ({96 if quick else 384} MiB), GB/s"),
    ):
        yield Outcome([], method=f"peak: {what}", note=f"{peaks[name] / 1e9:.3g}", figures={name: peaks[name]})

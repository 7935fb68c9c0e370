"""Linear maps of long rows, recorded once as additions of slices and run often.

All rows lie in one memory, and are known by the address of their first value. Recording costs Python time per step,
not per value; one small kernel runs every program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

ADD, SET, STEP, TOTAL = range(4)

CHAINS = 8
"""Independent chains that a recursion is split into."""


@kept(nogil=True, fastmath={"contract"})
def run(steps: NDArray[np.int64], weights: NDArray[np.float64], memory: NDArray[np.float64]) -> None:
    """Run a program.

    Parameters
    ----------
    steps : (N, 5) array
        Kind, target, source, count, and base of each step.
    weights : (N,) array
    memory : (size,) array
        Changed.
    """
    for i in range(len(weights)):
        kind, t, s, count = steps[i, 0], steps[i, 1], steps[i, 2], steps[i, 3]
        weight = weights[i]
        target, source = memory[t : t + count], memory[s : s + count]
        if kind == ADD:
            for k in range(count):
                target[k] += weight * source[k]
        elif kind == SET:
            for k in range(count):
                target[k] = weight * source[k]
        elif kind == STEP:
            base = memory[steps[i, 4] : steps[i, 4] + count]
            for k in range(count):
                target[k] = base[k] + weight * source[k]
        else:
            total = 0.0
            for k in range(count):
                total += source[k]
            memory[t] += weight * total


class Program:
    """A program while it is recorded, and its memory.

    Targets, sources, counts and weights may be arrays: one step each, in that order. A step of no values is left out.
    """

    def __init__(self) -> None:
        self._size = 0
        self._steps: list[NDArray[np.float64]] = []
        self._pending: list[tuple[float, ...]] = []

    def room(self, length: int) -> int:
        """Return the address of a new row."""
        self._size += length
        return self._size - length

    def ready(self) -> None:
        """End the recording; all rows are 0."""
        self._flush()
        steps = np.concatenate(self._steps)
        steps = steps[steps[:, 3] > 0]
        self._order, self._weights = steps[:, :5].astype(np.int64), steps[:, 5].copy()
        self._steps = []
        self.memory = np.zeros(self._size)

    def run(self) -> None:
        """Run what was recorded."""
        run(self._order, self._weights, self.memory)

    def row(self, address: int, *shape: int) -> NDArray[np.float64]:
        """Return a view of the rows from an address on."""
        return self.memory[address : address + int(np.prod(shape))].reshape(shape)

    def add(self, target: Any, source: Any, count: Any, weight: Any = 1.0) -> None:
        """Add ``weight * source``, in increasing order: where the slices overlap, this is a recursion."""
        self._record(ADD, target, source, count, target, weight)

    def set(self, target: Any, source: Any, count: Any, weight: Any = 1.0) -> None:
        """Write ``weight * source``."""
        self._record(SET, target, source, count, target, weight)

    def total(self, target: Any, source: Any, count: Any, weight: Any = 1.0) -> None:
        """Add ``weight`` times the sum of the source to one value."""
        self._record(TOTAL, target, source, count, target, weight)

    def clear(self, target: int, count: int) -> None:
        """Write zeros."""
        self.set(target, target, count, 0.0)

    def put(self, target: int, n: int, source: int, count: int, start: int, weight: float) -> None:
        """Add a row to one of n values from position `start` on.

        What lies below 0 is lost, what lies past the last position stays there.
        """
        first, end = _inside(n, count, start)
        self.add(target + start + first, source + first, end - first, weight)
        self.total(target + n - 1, source + end, count - end, weight)

    def place(self, target: int, n: int, source: int, count: int, start: int, weight: float) -> None:
        """Write what `put` would add."""
        first, end = _inside(n, count, start)
        if first == end:
            self.clear(target, n)
        else:
            self.clear(target, start + first)
            self.set(target + start + first, source + first, end - first, weight)
            self.clear(target + start + end, n - start - end)
        self.total(target + n - 1, source + end, count - end, weight)

    def recur(self, row: int, scratch: int, count: int, ratio: float, distance: int) -> tuple[int, int]:
        """Solve ``y[k] = ratio y[k - distance] + row[k]`` in one of two rows; return it, and the other one.

        Looking ahead (``y[k] = ratio^2 y[k - 2 distance] + row[k] + ratio row[k - distance]``, and so on) makes
        enough chains that do not wait for each other.
        """
        while distance < CHAINS and distance < count:
            self.set(scratch, row, distance)
            self._record(STEP, scratch + distance, row, count - distance, row + distance, ratio)
            row, scratch = scratch, row
            ratio *= ratio
            distance *= 2
        self.add(row + distance, row, count - distance, ratio)
        return row, scratch

    def _record(self, kind: int, target: Any, source: Any, count: Any, base: Any, weight: Any) -> None:
        step = (kind, target, source, count, base, weight)
        if any(isinstance(value, np.ndarray) for value in step):
            self._flush()
            self._steps.append(np.stack(np.broadcast_arrays(*step), axis=-1).reshape(-1, 6).astype(np.float64))
        else:
            self._pending.append(step)

    def _flush(self) -> None:
        if self._pending:
            self._steps.append(np.array(self._pending, dtype=np.float64))
            self._pending = []


def _inside(n: int, count: int, start: int) -> tuple[int, int]:
    """Return the part of a row put at `start` that comes to lie on 0 .. n - 2."""
    first = min(max(0, -start), count)
    return first, min(max(first, n - 1 - start), count)

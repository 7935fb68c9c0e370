"""Steps of a chain whose packets are transformed: what is in an entry is a number for each of some theta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kept(nogil=True)
def transformed_steps(
    begins: Ints, sources: Ints, soon: Floats, late: Ints, landing: Floats, targets: Ints, holding: Ints, held: Floats,
    earlier: Floats, x: Floats, new: Floats, ring: Floats, landed: Floats, number: int, found: Floats
) -> None:  # fmt: skip
    """Make ``len(found)`` steps, an even number; the first follows `number` others.

    The first axis of factors and of `x`, else the second one, are the real and the imaginary part; theta is the last.
    Moves to entry t that take a step are those from ``begins[t]`` on. Those of `late` take more: columns are their
    source, their place in `targets`, and steps. What lands lies in `ring`, by steps, and its sums in `landed`; j steps
    before, that counts ``earlier[j]`` times. `found` is the sum of all at the ends of steps; what is not in order yet
    is moved by `held`.
    """
    width, size = x.shape[2], len(ring)
    for i in range(len(found)):
        for j in range(len(late)):
            s, u, slot = late[j, 0], late[j, 1], (number + i + late[j, 2]) % size
            for k in range(width):
                a, b = x[0, s, k], x[1, s, k]
                c, d = a * landing[0, j, k] - b * landing[1, j, k], a * landing[1, j, k] + b * landing[0, j, k]
                ring[slot, 0, u, k] += c
                ring[slot, 1, u, k] += d
                landed[slot, 0, k] += c
                landed[slot, 1, k] += d
        for t in range(len(begins) - 1):
            for k in range(width):
                new[0, t, k] = 0.0
                new[1, t, k] = 0.0
            for g in range(begins[t], begins[t + 1]):
                s = sources[g]
                for k in range(width):
                    new[0, t, k] += x[0, s, k] * soon[0, g, k] - x[1, s, k] * soon[1, g, k]
                    new[1, t, k] += x[0, s, k] * soon[1, g, k] + x[1, s, k] * soon[0, g, k]
        slot = (number + i + 1) % size
        for u in range(len(targets)):
            t = targets[u]
            for k in range(width):
                new[0, t, k] += ring[slot, 0, u, k]
                new[1, t, k] += ring[slot, 1, u, k]
                ring[slot, 0, u, k] = 0.0
                ring[slot, 1, u, k] = 0.0
        for k in range(width):
            landed[slot, 0, k] = 0.0
            landed[slot, 1, k] = 0.0
            found[i, 0, k] = 0.0
            found[i, 1, k] = 0.0
        for j in range(1, size):
            later = (number + i + 1 + j) % size
            for k in range(width):
                found[i, 0, k] += landed[later, 0, k] * earlier[j, 0, k] - landed[later, 1, k] * earlier[j, 1, k]
                found[i, 1, k] += landed[later, 0, k] * earlier[j, 1, k] + landed[later, 1, k] * earlier[j, 0, k]
        for h in range(len(holding)):
            s = holding[h]
            for k in range(width):
                found[i, 0, k] += x[0, s, k] * held[0, h, k] - x[1, s, k] * held[1, h, k]
                found[i, 1, k] += x[0, s, k] * held[1, h, k] + x[1, s, k] * held[0, h, k]
        for t in range(len(begins) - 1):
            for k in range(width):
                found[i, 0, k] += new[0, t, k]
                found[i, 1, k] += new[1, t, k]
        x, new = new, x

"""A bottleneck that the flow fills: how windows grow there, and what of them is sent.

A link of C packets/s carries C R packets in a round, and acknowledgements come back at its rate: a window w above C R
grows by C R / w a round. What is in flight beyond C R waits in a buffer. When C R + B packets are in flight it is full:
the next packet is lost.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from .chain import MOST_STATES

Ints = NDArray[np.int64]

WHOLE = 1e-9
"""Packets that rounding may lack of a whole number."""


def line(path: Path) -> Ints:
    """Return the windows of rounds in a row without a loss, from 1 on until the buffer is full [packets].

    A window is a real number that grows every round, here in whole packets: so the rounds from one window to another
    are right.

    Raises
    ------
    AccuracyError
        For more than a million of them.
    """
    pipe, b = path.pipe, path.rounds_per_increase
    full = pipe + (path.buffer or 0)
    windows: list[int] = []
    w = 1.0
    while w <= full:
        windows.append(int(w))
        w += min(1.0, pipe / w) / b
        if len(windows) > MOST_STATES:
            raise AccuracyError(
                f"the TCP chain has more than {MOST_STATES} states for a bottleneck that carries {pipe:.4g} packets "
                f"in a round trip and a buffer of {path.buffer} packets: give a smaller bottleneck or buffer"
            )
    return np.array(windows, dtype=np.int64)


def sent(path: Path, windows: ArrayLike) -> Ints:
    """Return the packets that windows send in a round: no more than the bottleneck carries, in whole packets."""
    return np.asarray(windows if path.bottleneck is None else np.minimum(windows, math.floor(path.pipe)))


def sent_in_a_row(path: Path, windows: ArrayLike) -> Ints:
    """Return the packets of rounds in a row, of which the bottleneck carries floor(n C R) in any first n."""
    if path.bottleneck is None:
        return np.asarray(windows)
    carried = np.floor(np.arange(len(np.asarray(windows)) + 1) * path.pipe + WHOLE)
    return np.asarray(np.minimum(windows, np.diff(carried).astype(np.int64)))

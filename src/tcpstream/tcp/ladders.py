"""Slow start below thresholds, from each window that an idle time may leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KEPT = 0.75
"""Share of the window that is the threshold after an idle time."""


class Ladder(NamedTuple):
    """Slow start below one threshold.

    Attributes
    ----------
    threshold : int
        [packets].
    halved : list of int
        States by how often the window was halved, once at least: windows above the initial one, the largest first.
    initial : list of int
        States from the initial window on.
    """

    threshold: int
    halved: list[int]
    initial: list[int]


def thresholds_of(max_window: int, initial_window: int, packets: int, rounds_per_increase: int) -> Floats:
    """Return the threshold after an idle time, by the window before it [packets].

    Linux keeps the old threshold where it is above three quarters of the window. The chain does not know it, and takes
    the one from which a segment of so many packets, without losses, leads to the window.
    """
    begins = np.arange(initial_window + 1, max_window + 1)
    ends = [_end(t, initial_window, packets, rounds_per_increase) for t in begins.tolist()]
    reached = begins[np.array(ends) >= begins]  # for longer ladders a segment ends below the threshold
    w = np.arange(max_window + 1)
    found: Floats = np.floor(KEPT * w)
    if len(reached):
        old = np.interp(w, np.array(ends)[: len(reached)], reached, left=0.0)
        found = np.minimum(np.maximum(found, old), w)
    return found


def _end(threshold: int, window: float, packets: int, rounds_per_increase: int) -> float:
    """Return the window after so many packets of slow start to a threshold, and of congestion avoidance."""
    while packets > 0:
        grown = min(2 * window, threshold) if window < threshold else window + 1 / rounds_per_increase
        window += (grown - window) * min(1.0, packets / window)
        packets -= int(window)
    return window


def ladders_below(
    thresholds: Floats, initial_window: int, ratio: float
) -> tuple[list[Ladder], list[int], list[tuple[int, int]]]:
    """Return ladders, the windows of their states [packets], and where these lead after a round delivered whole.

    That is another state, or -t for congestion avoidance at a threshold of t. Thresholds are in a ratio, up to the
    largest one after an idle time.
    """
    windows: list[int] = []
    grows: list[tuple[int, int]] = []
    ladders = []
    for threshold in _grid(initial_window, int(thresholds.max()), ratio):
        down = _halved(int(np.searchsorted(thresholds, threshold)), initial_window)
        up = _doubled(initial_window, threshold)
        rungs = [list(range(len(windows), len(windows) + len(down)))]
        windows += down
        rungs.append(list(range(len(windows), len(windows) + len(up))))
        windows += up
        grows += [(s, s - 1) for s in rungs[0][1:]] + [(s, s + 1) for s in rungs[1][:-1]]
        grows += [(s, -threshold) for s in [*rungs[0][:1], rungs[1][-1]]]
        ladders.append(Ladder(threshold, *rungs))
    return ladders, windows, grows


def _grid(initial_window: int, most: int, ratio: float) -> list[int]:
    """Return thresholds above the initial window, up to the largest one that is needed."""
    found, t = [], initial_window + 1
    while t < most:
        found.append(t)
        t = max(t + 1, round(t * ratio))
    return [*found, most] if most > initial_window else []


def _halved(window: int, initial_window: int) -> list[int]:
    found = []
    while window >> 1 > initial_window:
        window >>= 1
        found.append(window)
    return found


def _doubled(window: int, end: int) -> list[int]:
    found = []
    while window < end:
        found.append(window)
        window *= 2
    return found

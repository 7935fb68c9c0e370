"""Slow start below thresholds, from each window that an idle time may leave."""

from __future__ import annotations

from typing import NamedTuple

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


def ladders_below(
    max_window: int, initial_window: int, ratio: float
) -> tuple[list[Ladder], list[int], list[tuple[int, int]]]:
    """Return ladders, the windows of their states [packets], and where these lead after a round delivered whole.

    That is another state, or -t for congestion avoidance at a threshold of t. Thresholds are in a ratio.
    """
    windows: list[int] = []
    grows: list[tuple[int, int]] = []
    ladders = []
    for threshold in _thresholds(initial_window, max_window, ratio):
        down = _halved(round(threshold / KEPT), initial_window)
        up = _doubled(initial_window, threshold)
        rungs = [list(range(len(windows), len(windows) + len(down)))]
        windows += down
        rungs.append(list(range(len(windows), len(windows) + len(up))))
        windows += up
        grows += [(s, s - 1) for s in rungs[0][1:]] + [(s, s + 1) for s in rungs[1][:-1]]
        grows += [(s, -threshold) for s in [*rungs[0][:1], rungs[1][-1]]]
        ladders.append(Ladder(threshold, *rungs))
    return ladders, windows, grows


def _thresholds(initial_window: int, max_window: int, ratio: float) -> list[int]:
    """Return thresholds above the initial window."""
    found, t = [], initial_window + 1
    while t <= KEPT * max_window:
        found.append(t)
        t = max(t + 1, round(t * ratio))
    return found


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

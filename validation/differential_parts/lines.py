"""Windows of the chains of independent losses, round by round, written down from docs/theory.md alone.

Reno with SACK climbs by a packet in b rounds, behind a bottleneck slower; CUBIC's windows are counted by
acknowledgement, as RFC 9438 and Linux do. A loss begins with the round that repairs it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tcpstream import Path

from .draws import AFTER_TIMEOUT, OPENING, half

SEND, IN_FLIGHT, EARLY, GROWN, GROWN_EARLY, FOLLOWING, KIND = range(7)
"""Columns of `Tables.states`: packets of the round; window that a loss reduces; whether it is below the plateau of its
line; window if it has grown before the loss shows, and whether that is early; state after a round delivered whole (-1
for the last of slow start after a timeout); slow start."""

REDUCED, BELOW, ABOVE, ENTER_BELOW, ENTER_ABOVE = 0, 1, 3, 5, 6
"""Columns of `Tables.windows`: what a loss leaves; states of the repairs of its neighbours, not early and early;
states of the neighbours in which congestion avoidance begins, if the window is a threshold."""


class Tables(NamedTuple):
    """What a sender looks up, by state and by window.

    Attributes
    ----------
    states, windows : (n, 7) and (W + 1, 7) int arrays
    merged : (n,) array
        Of a repair, the share of it whose losses belong to the same recovery; else -1.
    upper : (W + 1, 2) array
        Probability of the upper neighbour, for a loss and for a threshold.
    restart : int
        State after a timeout.
    """

    states: Any
    windows: Any
    merged: Any
    upper: Any
    restart: int


@njit(cache=True)
def cubic_windows(
    cwnd: int, plateau: int, acks: int, step: float, rtt: float, fresh: bool, W: int, most: float
) -> Any:  # fmt: skip
    """Return windows of rounds after a loss, acknowledgement by acknowledgement, below W, until `most` are sent."""
    K = np.cbrt(max(plateau - cwnd, 0) / 0.4)
    origin, friendly, credit, n, sent = max(plateau, cwnd), float(cwnd), 0.0, 0, 0.0
    found = [0]
    while True:
        n += 1
        away = np.floor(0.4 * abs(n * rtt - K) ** 3 + 1e-9)
        target = origin - away if n * rtt < K else origin + away
        for _ in range(acks):
            every = cwnd // (target - cwnd) if target > cwnd else 100.0 * cwnd
            if fresh:
                every = min(every, 20.0)
            ahead = np.floor(friendly + 1e-9) - cwnd
            if ahead > 0:
                every = min(every, cwnd // ahead)
            every = max(every, 2.0)
            if credit >= every:
                credit, cwnd = 0.0, cwnd + 1
            friendly += step / cwnd
            credit += 1
            if credit >= every:
                credit, cwnd = 0.0, cwnd + 1
        if cwnd >= W or sent > most:
            return np.array(found[1:])
        found.append(cwnd)
        sent += cwnd
        acks = cwnd


def of_their_own(W: int) -> list[int]:
    """Return the windows at a loss that have a repair: all up to 20, above one in each ratio of 1.1, and W."""
    found = [2] if W > 1 else []
    while found and found[-1] < W:
        found.append(min(max(found[-1] + 1, found[-1] * 11 // 10), W))
    return found


def repair(w: int, left: int) -> tuple[int, float]:
    """Return S, what is sent in the round that repairs a loss at w, and M / S."""
    before = Fraction(w - 1, 2) + 2 - Fraction(3, w)
    sent = round(before + (w - before) * Fraction(left, w))
    return sent, min(float(before / sent), 1.0)


class Rows:
    """States as they are added; each line leads on to the next state of its own, the last of it to where it says."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, send: int, window: int, plateau: int = 0, merged: float = -1.0, slow: int = 0) -> int:
        """Add a state that leads nowhere yet; return its number."""
        row = {"send": send, "window": window, "plateau": plateau, "merged": merged, "slow": slow, "following": -1}
        self.rows.append(row)
        return len(self.rows) - 1

    def line(self, windows: Any, plateau: int, limit: int, after: int | None = None) -> int:
        """Add a line behind a state; return its first one, -1 if there is none."""
        first = -1
        for w in map(int, windows):
            state = self.add(min(w, limit), w, plateau)
            first = state if first < 0 else first
            if after is not None:
                self.rows[after]["following"] = state
            after = state
        return first


def tables(path: Path) -> tuple[int, Tables]:
    """Return the first state of a video, and the tables."""
    W, b, cubic = path.max_window, path.rounds_per_increase, path.tcp == "cubic"
    limit = W if path.bottleneck is None else math.floor(path.pipe)
    if cubic:
        rounded = math.floor if path.halving == "floor" else math.ceil
        reduced = [max(rounded(Fraction(7 * w, 10)), 2) for w in range(W + 1)]
    else:
        reduced = [max(half(path, w), 1) for w in range(W + 1)]
    own, rows = of_their_own(W), Rows()
    repairs: dict[tuple[int, bool], int] = {}
    enter: dict[int, int] = {}
    if cubic:
        start = _cubic(path, own, reduced, rows, repairs, enter)
        top = len(rows.rows) - 1
        restart = min(1, top)
        entered = {t: enter[t] for t in own if path.initial_window is not None}
    else:
        for w in own:
            sent, merged = repair(w, reduced[w])
            repairs[w, False] = repairs[w, True] = rows.add(min(sent, limit), reduced[w], merged=merged)
        climb, start = _climb(path), len(rows.rows)
        rows.line(climb, 0, limit)
        top = len(rows.rows) - 1
        rows.rows[top]["following"] = top if b == 1 else top - 1
        first_of = {w: start + bisect_left(climb, w) for w in range(1, climb[-1] + 1)}  # those below W_max matter
        for w in own:
            rows.rows[repairs[w, False]]["following"] = first_of[reduced[w]]
        if path.bottleneck is not None:
            rows.rows[top]["following"] = repairs[W, False]
        restart, entered = first_of[min(2, W)], first_of
    for row in rows.rows:
        row["grown"], row["grown_early"] = _after(rows.rows, row, path, repairs)
    if path.initial_window is not None:
        start, restart = _slow(path, path.initial_window, rows, limit, top, repairs, start, restart)
    return start, _gathered(rows.rows, own, reduced, repairs, entered, W, restart, cubic)


def _climb(path: Path) -> list[int]:
    """Return the windows of Reno from 1 on, a round each."""
    if path.bottleneck is None:
        return [w for w in range(1, path.max_window + 1) for _ in range(path.rounds_per_increase)]
    full, found, w = path.pipe + (path.buffer or 0), [], 1.0
    while w <= full:
        found.append(math.floor(w))
        w += min(1.0, path.pipe / w) / path.rounds_per_increase
    return found


def _cubic(path: Path, own: list[int], reduced: list[int], rows: Rows, repairs: Any, enter: Any) -> int:
    """Add the lines of CUBIC and the state of the largest window; return the first state."""
    W, R, most = path.max_window, path.rtt, math.log(1e-10) / math.log1p(-path.loss)
    ends = []
    if W > 1:
        rows.line([1, *cubic_windows(2, 2, 0, 1.0, R, False, W, most)], 2, W)
        ends.append(len(rows.rows) - 1)
    for early in (False, True):
        for w in own:
            left, plateau = reduced[w], 85 * w // 100 if early else w
            sent, merged = repair(w, left)
            repairs[w, early] = rows.add(min(sent, W), left, plateau, merged)
            windows = cubic_windows(left, plateau, left // 2, 9 / 17, R, False, W, most)
            rows.line(windows, plateau, W, after=repairs[w, early])
            ends.append(len(rows.rows) - 1)
    if path.initial_window is not None:
        for w in own:
            enter[w] = rows.line(cubic_windows(w, w, 0, 9 / 17, R, True, W, most), 0, W)
            ends += [len(rows.rows) - 1] if enter[w] >= 0 else []
    top = rows.add(W, W)
    for state in [*ends, top]:
        rows.rows[state]["following"] = top
    for w, state in enter.items():
        enter[w] = top if state < 0 else state
    return 0


def _after(rows: list[dict[str, Any]], row: dict[str, Any], path: Path, repairs: Any) -> tuple[int, bool]:
    """Return the window after one that grows, and whether it is early; where a buffer overflows, the largest."""
    following = rows[row["following"]]
    if path.bottleneck is not None and row["following"] == repairs[path.max_window, False]:
        return path.max_window, False
    return following["window"], following["window"] < following["plateau"]


def _slow(
    path: Path, first: int, rows: Rows, limit: int, top: int, repairs: Any, start: int, restart: int
) -> tuple[int, int]:  # fmt: skip
    """Add slow start, the first one and that after timeouts; return the new start and restart."""
    W, b, full = path.max_window, path.rounds_per_increase, path.bottleneck is not None
    end = repairs[W, False] if full else (top if b == 1 else top - 1)
    opening, w = [], first
    while w < W + full:
        opening.append(rows.add(min(w, limit), w, slow=OPENING))
        w += -(-min(w, limit if full else w) // b) if not full else math.ceil(min(w, path.pipe) / b)
    for state, following in pairwise([*opening, end]):
        rows.rows[state]["following"] = following
        larger = W if following == end else rows.rows[following]["window"]
        rows.rows[state] |= {"grown": larger, "grown_early": False}
    start = opening[0] if opening else end
    if W == 1:
        return start, restart
    climbing, w = [], 2
    while w < max(W, 3):
        climbing.append(rows.add(min(w, limit), w, slow=AFTER_TIMEOUT))
        w += math.ceil(min(w, path.pipe) / b)
    for state, following in pairwise([*climbing, -1]):
        rows.rows[state] |= {"following": following, "grown": rows.rows[state]["window"], "grown_early": False}
    return start, climbing[0]


def _gathered(
    rows: list[dict[str, Any]], own: list[int], reduced: list[int], repairs: Any, entered: dict[int, int], W: int,
    restart: int, cubic: bool,
) -> Tables:  # fmt: skip
    """Return everything as arrays."""
    windows, upper = np.zeros((W + 1, 7), dtype=np.int64), np.zeros((W + 1, 2))
    windows[:, REDUCED] = reduced
    for w in range(2, W + 1):
        low = own[bisect_right(own, w) - 1]
        high = own[min(bisect_right(own, w), len(own) - 1)]
        apart = reduced[high] - reduced[low]
        upper[w, 0] = (reduced[w] - reduced[low]) / apart if apart > 0 else 0.0
        for early in (False, True):
            windows[w, BELOW + early], windows[w, ABOVE + early] = repairs[low, early], repairs[high, early]
        if entered and cubic:
            windows[w, ENTER_BELOW], windows[w, ENTER_ABOVE] = entered[low], entered[high]
            upper[w, 1] = (w - low) / (high - low) if high > low else 0.0
        elif w in entered:
            windows[w, ENTER_BELOW] = windows[w, ENTER_ABOVE] = entered[w]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    columns["early"] = columns["window"] < columns["plateau"]
    names = ("send", "window", "early", "grown", "grown_early", "following", "slow")
    states = np.column_stack([columns[name] for name in names]).astype(np.int64)
    return Tables(states, windows, columns["merged"], upper, restart)

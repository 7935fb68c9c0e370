"""A turn of a live stream whose window grows only while it is used up: all rounds until the next loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-17
"""Mass that is not moved."""

CELLS = 4
"""Cells in which backlogs are counted, between two positions."""

PARTS, HOLE_PARTS = 4, 16
"""Points by which the backlog during a round is counted, and while a hole is not repaired."""


@part(nogil=True)
def _put(row: Floats, backlog: float, mass: float, scale: float, step: float) -> None:
    """Add mass to four positions around a backlog; position i is ``scale sinh(i step)``."""
    if backlog <= 0.0:
        row[0] += mass
        return
    x = math.asinh(backlog / scale) / step
    j = min(max(int(x) - 1, 0), len(row) - 4)
    t = min(x - j, 3.0)
    row[j] -= mass * (t - 1) * (t - 2) * (t - 3) / 6
    row[j + 1] += mass * t * (t - 2) * (t - 3) / 2
    row[j + 2] -= mass * t * (t - 1) * (t - 3) / 2
    row[j + 3] += mass * t * (t - 1) * (t - 2) / 6


@part(nogil=True)
def _count(law: Floats, start: float, end: float, time: float, parts: int, scale: float, step: float) -> None:
    """Add a time in which the backlog goes from start to end to cells of positions."""
    if time == 0.0:
        return
    if start == end:
        parts = 1
    for i in range(parts):
        backlog = max(start + (end - start) * (i + 0.5) / parts, 0.0)
        x = CELLS * math.asinh(backlog / scale) / step + 0.5
        law[min(int(x), len(law) - 1)] += time / parts


@part(nogil=True)
def _after(avail: float, due: float, rounds: int, received: float, ordered: float, twice: bool) -> float:
    """Return the backlog after a transition from what is there to send."""
    if rounds == 1:
        return max(avail - received, 0.0)
    if twice:
        return max(max(avail - ordered, 0.0) + due * (rounds - 1) - (received - ordered), 0.0)
    return max(avail - received, 0.0) + due * (rounds - 1)


@part(nogil=True)
def _counted(
    law: Floats, mass: float, b: float, avail: float, after: float, due: float, k: float, rounds: int, ordered: float,
    twice: bool, repaired: bool, window: float, slack: float, scale: float, step: float,
) -> None:  # fmt: skip
    """Count the backlog in order during a transition with a loss, until it is repaired in the next round.

    What is counted of that round, which sends a window, is taken back.
    """
    if rounds == 1 and repaired:
        x = min(ordered / k, 1.0)
        at = b + (avail - k - b) * x
        _count(law, b, at, mass * x, PARTS, scale, step)
        hole = 1.0 + slack
        _count(law, at, at + due * hole, mass * hole, HOLE_PARTS, scale, step)
        part = min(x + slack, 1.0)
        next_ = max(after + due - window, 0.0)
        _count(law, after, after + (next_ - after) * part, -mass * (x + slack), PARTS, scale, step)
        return
    first = max(avail - ordered, 0.0)
    _count(law, b, first, mass, PARTS, scale, step)
    if rounds == 2 and twice:
        _count(law, first, after, mass, PARTS, scale, step)
    elif rounds > 1:
        last = first + due * (rounds - 1)
        _count(law, first, last, mass * (rounds - 1), HOLE_PARTS, scale, step)


@part(nogil=True)
def _slack(k: float, rack: bool, reordering: float, duplicates: int) -> float:
    """Return the rounds from what arrives behind a lost packet to its repair, of k packets a round.

    A number of duplicates later, or where RACK sees it, when one packet and some time for reordering have passed.
    """
    gaps = duplicates / k
    return min(1 / k + reordering, gaps) if rack else gaps


@part(nogil=True)
def _lose_limited(
    rules: Any, s: int, b: float, k: float, mass: float, due: float, rack: bool, reordering: float, duplicates: int,
    following: Floats, law: Floats, scale: float, step: float,
) -> tuple[float, float]:  # fmt: skip
    """Move what is lost in a round that sends k packets, all there are.

    Returns the probability that none is lost, and the mean rounds until what is lost is moved.
    """
    whole, rounds, low = 0.0, 1.0, int(k)
    for i in range(2):
        packets, share = low + i, (k - low if i else 1 - k + low)
        if share <= 0.0:
            continue
        if packets == 0:
            whole += share
            continue
        base = rules.same_window[min(packets, len(rules.same_window) - 1)]
        for o in range(rules.starts[base], rules.starts[base + 1]):
            p = share * rules.chance[o]
            if rules.lossless[o]:
                whole += p
                continue
            rounds += p * (rules.rounds[o] - 1)
            target, reduced = rules.to[o], rules.reduced_starts[s + 1] - rules.reduced_starts[s]
            repaired = target < rules.n_windows
            window = rules.windows[rules.reduced_to[rules.reduced_starts[s]] if reduced > 0 else target]
            for side in range(2):
                received = rules.mean[o] + (2 * side - 1) * rules.deviation[o]
                after = _after(float(packets), due, rules.rounds[o], received, rules.ordered[o], rules.twice[o])
                part = mass * p / 2
                if repaired and reduced > 0:
                    for r in range(rules.reduced_starts[s], rules.reduced_starts[s + 1]):
                        _put(following[rules.reduced_to[r]], after, part * rules.reduced_share[r], scale, step)
                else:
                    _put(following[target], after, part, scale, step)
                if len(law):
                    _counted(
                        law, part, b, float(packets), after, due, float(packets), rules.rounds[o], rules.ordered[o],
                        rules.twice[o], repaired, window, _slack(k, rack, reordering, duplicates), scale, step,
                    )  # fmt: skip
    return whole, rounds


@part(nogil=True)
def _whole_limited(rules: Any, k: float) -> float:
    """Return the probability that nothing is lost in a round of k packets."""
    low, whole = int(k), 0.0
    for i in range(2):
        packets, share = low + i, (k - low if i else 1 - k + low)
        if packets == 0:
            whole += share
        elif share > 0.0:
            base = rules.same_window[min(packets, len(rules.same_window) - 1)]
            whole += share * rules.intact[base]
    return whole


@kept(nogil=True)
def turn(
    given: Floats, rules: Any, due: float, timer: int, rack: bool, reordering: float, duplicates: int, scale: float,
    step: float, law: Floats,
) -> tuple[Floats, float, float]:  # fmt: skip
    """Follow what begins its first round, by state and backlog, until it has lost something.

    Parameters
    ----------
    given : (n, N) array
        Mass by state and position, ``scale sinh(i step)`` packets of backlog at the start of a round.
    rules : limited.rules.Rules
    due : float
        m, packets generated per round.
    timer : int
        Rounds without a used window after which it falls.
    rack : bool
        Whether losses are seen by the time since a later packet was sent.
    reordering, duplicates : float, int
        Rounds that may pass until then, and later packets that tell of a loss at once.
    scale, step : float
        Of the positions [packets].
    law : array
        Rounds in which the backlog lies in cells around positions; added to if it is not empty.

    Returns
    -------
    following : (n, N) array
        Mass at the start of the round after a loss, or where states turn back.
    rounds, largest : float
        Mean number of rounds of all, and of those that begin at the largest window.
    """
    n, N = given.shape
    now, following = given.copy(), np.zeros_like(given)
    backlogs = scale * np.sinh(step * np.arange(N))
    total, largest, top = 0.0, 0.0, rules.windows.max()
    for s in range(n):
        w = rules.windows[s]
        for i in range(N - 1, -1, -1):
            mass = now[s, i]
            if abs(mass) < NEGLIGIBLE:
                continue
            b = backlogs[i]
            avail = b + due
            if w == top:
                largest += mass
            if s < rules.n_windows and avail < w:  # all is sent
                k = avail
                if i > 0 or not rules.stays[s] or (rules.slow[s] and w < 2 * k):
                    whole, rounds = _lose_limited(
                        rules, s, b, k, mass, due, rack, reordering, duplicates, following, law, scale, step
                    )  # fmt: skip
                    total += mass * rounds
                    if len(law):
                        _count(law, b, 0.0, mass * whole, PARTS, scale, step)
                    if rules.stays[s] and not (rules.slow[s] and w < 2 * k):
                        now[s, 0] += mass * whole
                        continue
                    for o in range(rules.starts[s], rules.starts[s + 1]):
                        if rules.lossless[o]:
                            t, share = rules.to[o], rules.chance[o] / rules.intact[s]
                            (now if t > s else following)[t, 0] += mass * whole * share
                    continue
                at, left = s, mass
                while left > NEGLIGIBLE or left < -NEGLIGIBLE:
                    whole = _whole_limited(rules, k)
                    stay = rules.falls_to[at] == at
                    visits = left / (1 - whole) if stay else left * (1 - whole**timer) / (1 - whole)
                    _, rounds = _lose_limited(
                        rules, at, 0.0, k, visits, due, rack, reordering, duplicates, following, law, scale, step
                    )  # fmt: skip
                    total += visits * rounds
                    if len(law):
                        _count(law, 0.0, 0.0, visits * whole, 1, scale, step)
                    left = 0.0 if stay else left * whole**timer
                    at = rules.falls_to[at]
                continue
            for o in range(rules.starts[s], rules.starts[s + 1]):
                p = mass * rules.chance[o]
                t, r = rules.to[o], rules.rounds[o]
                total += p * r
                if rules.lossless[o]:
                    after = max(avail - rules.mean[o], 0.0)
                    if t > s:
                        _put(now[t], after, p, scale, step)
                    else:
                        _put(following[t], after, p, scale, step)
                    if len(law):
                        _count(law, b, after, p, PARTS, scale, step)
                    continue
                repaired = t < rules.n_windows and s < rules.n_windows
                sides = 2 if rules.deviation[o] > 0 else 1
                for side in range(sides):
                    received = rules.mean[o] + (2 * side - 1) * rules.deviation[o]
                    after = _after(avail, due, r, received, rules.ordered[o], rules.twice[o])
                    _put(following[t], after, p / sides, scale, step)
                    if len(law):
                        _counted(
                            law, p / sides, b, avail, after, due, w, r, rules.ordered[o], rules.twice[o], repaired,
                            rules.windows[t], _slack(w, rack, reordering, duplicates), scale, step,
                        )  # fmt: skip
    return following, total, largest

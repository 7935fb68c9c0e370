"""The paper's Reno, a round at a time: the first loss of a round takes the rest of it along (docs/theory.md)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from tcpstream import Path

from .draws import (
    AFTER_TIMEOUT,
    CONGESTION_AVOIDANCE,
    LEVEL,
    LOST_AT,
    OPENING,
    ROUNDS,
    SLOW,
    THRESHOLD,
    WINDOW,
    before_loss,
    in_timeout,
    lose_to_timer,
    threshold_after,
    waits,
    whole_wait,
)


@njit(cache=True)
def halved(w: int, ceil: int) -> int:
    return (w + ceil) // 2


@njit(cache=True)
def more(packets: int, b: int) -> int:
    """Return what acknowledgements of so many packets add in slow start."""
    return -(-packets // b)


@njit(cache=True)
def grow(state: Any, W: int, b: int) -> None:
    w = state[WINDOW]
    if state[SLOW] == OPENING:
        larger = w + more(w, b)
        if larger >= W:
            larger, state[SLOW] = W, CONGESTION_AVOIDANCE
        state[WINDOW] = larger
        return
    if state[SLOW] == AFTER_TIMEOUT and state[THRESHOLD] > w:
        larger = w + more(w, b)
        if state[THRESHOLD] <= larger:
            larger, state[SLOW] = state[THRESHOLD], CONGESTION_AVOIDANCE
        state[WINDOW] = larger
        return
    state[SLOW] = CONGESTION_AVOIDANCE
    state[ROUNDS] += 1
    if state[ROUNDS] == b:
        state[WINDOW], state[ROUNDS] = min(w + 1, W), 0


@njit(cache=True, inline="always")
def reno_round(state: Any, tcp: Any, law: Any, seen: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Send for one round, not waiting; return packets received, and those in order, which are the same."""
    loss, per_log, W, b, ceil, slow, all_lost, short, _, backoff = tcp
    if state[LEVEL] > 0:
        arrives = in_timeout(state, loss, backoff, rng)
        if state[LEVEL] == 0:
            state[WINDOW], state[ROUNDS] = min(2, W), 0
            if slow > 0 and W > 1:
                threshold_after(state, law, seen, rng)
                state[SLOW] = AFTER_TIMEOUT
        return (1, 1) if arrives else (0, 0)
    w, j = state[WINDOW], before_loss(per_log, rng)
    if state[LOST_AT] > 0:
        j, at = min(j, w), state[LOST_AT]
        state[LOST_AT] = state[ROUNDS] = 0
        if j >= 3:
            state[WINDOW] = halved(at, ceil)
        else:
            lose_to_timer(state, whole_wait(short, rng), halved(at, ceil))
        return j, j
    if j >= w:
        grow(state, W, b)
        return w, w
    if j == 0:
        lose_to_timer(state, whole_wait(all_lost, rng), halved(w, ceil))
    else:
        at = min(w + more(j, b), W) if state[SLOW] == OPENING else w
        state[LOST_AT], state[WINDOW] = at, at - (w - j)
    state[SLOW] = CONGESTION_AVOIDANCE
    return j, j


def reno(path: Path) -> tuple[Any, Any]:
    """Return the state in which a video starts, and what `reno_round` wants to know."""
    first = path.initial_window
    state = np.zeros(8, dtype=np.int64)
    state[WINDOW] = first or 1
    state[SLOW] = OPENING if first is not None and first < path.max_window else CONGESTION_AVOIDANCE
    per_log = -1 / math.log1p(-path.loss)
    ceil = int(path.halving == "ceil")
    W, b, slow = path.max_window, path.rounds_per_increase, int(first is not None)
    return state, (path.loss, per_log, W, b, ceil, slow, *waits(path))

"""Senders with SACK, packets lost independently: a round at a time, on the windows of `lines`."""

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
from .lines import (
    ABOVE,
    BELOW,
    EARLY,
    ENTER_ABOVE,
    ENTER_BELOW,
    FOLLOWING,
    GROWN,
    GROWN_EARLY,
    IN_FLIGHT,
    KIND,
    REDUCED,
    SEND,
    tables,
)


@njit(cache=True)
def after_loss(windows: Any, upper: Any, w: int, early: int, rng: np.random.Generator) -> Any:
    """Return the state that repairs a loss at a window."""
    w = max(w, 2)
    return windows[w, (ABOVE if rng.random() < upper[w, 0] else BELOW) + early]


@njit(cache=True)
def entered(windows: Any, upper: Any, threshold: int, rng: np.random.Generator) -> Any:
    """Return the state in which congestion avoidance begins at a threshold."""
    share = upper[threshold, 1]
    return windows[threshold, ENTER_ABOVE if share > 0 and rng.random() < share else ENTER_BELOW]


@njit(cache=True)
def after_timeout(
    states: Any, windows: Any, upper: Any, at: int, threshold: int, rng: np.random.Generator
) -> Any:  # fmt: skip
    """Return the state after a round of slow start after a timeout that was delivered whole."""
    if threshold <= states[at, IN_FLIGHT]:
        return states[entered(windows, upper, threshold, rng), FOLLOWING]
    following = states[at, FOLLOWING]
    if following < 0 or threshold <= states[following, IN_FLIGHT]:
        return entered(windows, upper, threshold, rng)
    return following


@njit(cache=True, inline="always")
def sack_round(state: Any, tcp: Any, law: Any, seen: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Send for one round, not waiting; return packets received, and those in order by its end."""
    loss, per_log, slow, rack, restart, all_lost, lost_again, backoff, states, windows, merged, upper = tcp
    if state[LEVEL] > 0:
        arrives = in_timeout(state, loss, backoff, rng)
        if state[LEVEL] == 0:
            state[WINDOW] = restart
            if slow > 0:
                threshold_after(state, law, seen, rng)
        return (1, 1) if arrives else (0, 0)
    at = state[WINDOW]
    sent = states[at, SEND]
    first, lost, again, k = sent, 0, False, before_loss(per_log, rng)
    while k < sent:
        first = k if lost == 0 else first
        lost += 1
        again = again or (rack == 0 and rng.random() < loss)
        k += 1 + before_loss(per_log, rng)
    if lost == 0:
        if states[at, KIND] == AFTER_TIMEOUT:
            state[WINDOW] = after_timeout(states, windows, upper, at, state[THRESHOLD], rng)
        else:
            state[WINDOW] = states[at, FOLLOWING]
        return sent, sent
    w = states[at, IN_FLIGHT]
    if lost == sent or again:
        lose_to_timer(state, whole_wait(all_lost if lost == sent else lost_again, rng), windows[w, REDUCED])
        return (first, first) if lost < sent else (0, 0)
    if merged[at] >= 0:
        if rng.random() < merged[at]:
            state[WINDOW] = states[at, FOLLOWING]
        else:
            state[WINDOW] = after_loss(windows, upper, w, states[at, EARLY], rng)
    elif rng.random() < (w - 1) / (2 * w):
        state[WINDOW] = after_loss(windows, upper, states[at, GROWN], states[at, GROWN_EARLY], rng)
    else:
        state[WINDOW] = after_loss(windows, upper, w, states[at, EARLY], rng)
    return sent - lost, first


def sack(path: Path) -> tuple[Any, Any]:
    """Return the state in which a video starts, and what `sack_round` wants to know."""
    first, table = tables(path)
    state = np.zeros(8, dtype=np.int64)
    state[WINDOW], state[SLOW] = first, CONGESTION_AVOIDANCE
    all_lost, _, lost_again, backoff = waits(path)
    rack, slow = int(path.detection == "rack"), int(path.initial_window is not None and path.max_window > 1)
    numbers = (path.loss, -1 / math.log1p(-path.loss), slow, rack, table.restart, all_lost, lost_again, backoff)
    return state, (*numbers, table.states, table.windows, table.merged, table.upper)


def unused() -> Any:
    """Return what `sack_round` would want to know, for a sender that it is not asked for."""
    none, numbers = np.zeros((0, 0), dtype=np.int64), np.zeros(0)
    return (0.0, 0.0, 0, 0, 0, 0.0, 0.0, numbers, none, none, numbers, np.zeros((0, 0)))

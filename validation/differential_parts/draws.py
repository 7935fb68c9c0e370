"""What every agent draws: packets before a loss, waits, thresholds. And the fields of a sender's state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tcpstream import Path

Floats = NDArray[np.float64]

WINDOW, ROUNDS, LOST_AT, LEVEL, AGAIN, WAIT, THRESHOLD, SLOW = range(8)
"""Window, or state of the tables; full rounds at it; window of a loss, of which this is the short round (0: none);
back-off level (0: none); whether a retransmission is next; rounds to wait; threshold; and slow start:"""

CONGESTION_AVOIDANCE, OPENING, AFTER_TIMEOUT = range(3)

LEVELS = 7


@njit(cache=True)
def before_loss(per_log: float, rng: np.random.Generator) -> int:
    """Draw how many packets arrive before one is lost; `per_log` is -1 / log(1 - p)."""
    return int(min(rng.standard_exponential() * per_log, 1e15))


@njit(cache=True)
def whole_wait(rounds: float, rng: np.random.Generator) -> int:
    """Draw one of the two whole numbers of rounds around a wait, so that its mean is kept."""
    below = int(np.floor(rounds + 1e-9))
    share = rounds - below
    return below + (1 if share > 1e-9 and rng.random() < share else 0)


@njit(cache=True)
def lose_to_timer(state: Any, wait: int, threshold: int) -> None:
    """Begin a timeout, whose retransmission goes out `wait` rounds after the start of this one."""
    state[LEVEL], state[AGAIN], state[WAIT], state[THRESHOLD] = 1, 1, wait - 1, max(threshold, 2)


@njit(cache=True)
def in_timeout(state: Any, loss: float, backoff: Any, rng: np.random.Generator) -> bool:
    """Send the one packet of a timeout; return whether it arrives. The level is 0 when the timeout is over."""
    level = state[LEVEL]
    if rng.random() < loss:
        if state[AGAIN] == 0:
            state[THRESHOLD] = 2  # the first new packet is lost: half of a window of one
        state[WAIT] = whole_wait(backoff[level - 1], rng) - 1
        state[LEVEL], state[AGAIN] = min(level + 1, LEVELS), 1
        return False
    if state[AGAIN] == 1:
        state[AGAIN] = 0
    else:
        state[LEVEL] = 0
    return True


@njit(cache=True)
def threshold_after(state: Any, law: Any, seen: Any, rng: np.random.Generator) -> None:
    """Keep the threshold and count it, or draw another one where a (cumulated) law is given."""
    if len(law) > 0:
        state[THRESHOLD] = np.searchsorted(law, rng.random(), side="right")
    else:
        seen[state[THRESHOLD]] += 1


def waits(path: Path) -> tuple[float, float, float, Floats]:
    """Return the silences of a path [rounds]: after a round lost whole, after a short round, after a retransmission
    that is lost again, and after a packet lost at back-off level 1 .. 7; docs/theory.md, RACK-TLP and TCP source."""  # noqa: D209
    T_O, rack = path.timeout_ratio, path.detection == "rack"
    if path.backoff == "rfc6298":
        doublings = [min(e - rack, 6) for e in range(1, LEVELS + 1)]
    else:
        doublings = [max(e - 1 - rack, 0) for e in range(1, LEVELS + 1)]
    backoff = np.array([2.0**n * T_O for n in doublings])
    if rack:
        return min(2.0, T_O), max(1.0, min(1.25, T_O - 1)), min(2.25, T_O + 1), backoff
    return T_O, max(1.0, T_O - 1), T_O + 1, backoff


def half(path: Path, w: int) -> int:
    """Return h(w)."""
    return w // 2 if path.halving == "floor" else (w + 1) // 2

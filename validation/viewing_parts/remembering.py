"""Reno with SACK that remembers its threshold, restarts after idle times, and knows where a segment ends.

As docs/theory.md and docs/segments.md have it, without the points and ladders of the chains: those forget thresholds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from differential_parts.draws import LEVELS, before_loss, waits, whole_wait
from tcpstream import Path

CWND, FULL, LIMIT, REPAIRS, BACKED_OFF, RETRANSMITS, IDLE_WAIT = range(7)
"""Window; full rounds at it; threshold of slow start; window at the loss that this round repairs (0: none); back-off
level (0: none); whether a retransmission is next; rounds to wait."""

NEVER = 2**40
"""Threshold of the first slow start."""


def remembering(path: Path) -> tuple[Any, Any]:
    """Return the state in which a connection begins, and what `send` and `download` want to know."""
    state = np.zeros(7, dtype=np.int64)
    state[CWND], state[LIMIT] = path.initial_window or 1, NEVER if path.initial_window else 0
    all_lost, _, again, backoff = waits(path)
    rack, ceil = int(path.detection == "rack"), int(path.halving == "ceil")
    W, b, T_O = path.max_window, path.rounds_per_increase, path.timeout_ratio
    per_log = -1 / math.log1p(-path.loss)
    return state, (path.loss, per_log, W, b, ceil, rack, path.initial_window or 1, T_O, all_lost, again, backoff)


@njit(cache=True)
def half(w: int, ceil: int) -> int:
    return max((w + ceil) // 2, 1)


@njit(cache=True)
def repair(w: int, ceil: int) -> Any:
    """Return what the round sends that repairs a loss at a window, and the share that left before the loss showed."""
    before = (w - 1) / 2 + 2 - 3 / w
    sent = np.round(before + (w - before) * half(w, ceil) / w)
    return int(sent), min(before / sent, 1.0)


@njit(cache=True)
def grown(state: Any, W: int, b: int) -> Any:
    """Return the window after a round that was delivered whole, and full rounds at it."""
    w = state[CWND]
    if w < state[LIMIT]:
        return min(w + -(-w // b), state[LIMIT], W), 0
    if state[FULL] + 1 < b:
        return w, state[FULL] + 1
    return min(w + 1, W), 0


@njit(cache=True)
def reduce(state: Any, tcp: Any, merged: float, rng: np.random.Generator) -> None:
    """Go on after losses that are repaired."""
    _, _, W, b, ceil = tcp[:5]
    w, before = state[CWND], state[REPAIRS]
    state[REPAIRS] = 0
    if before > 0 and rng.random() < merged:
        return
    at = w
    if before == 0 and rng.random() < (w - 1) / (2 * w):
        at = grown(state, W, b)[0]
    at = max(at, 2)
    state[CWND], state[FULL], state[REPAIRS] = half(at, ceil), 0, at
    state[LIMIT] = state[CWND]


@njit(cache=True)
def draw_losses(sent: int, tcp: Any, rng: np.random.Generator) -> Any:
    """Return packets before the first loss, losses, whether a retransmission is lost again, and the last packet."""
    loss, per_log = tcp[:2]
    first, lost, again, last = sent, 0, False, False
    k = before_loss(per_log, rng)
    while k < sent:
        first = k if lost == 0 else first
        lost += 1
        again = again or rng.random() < loss
        last = k == sent - 1
        k += 1 + before_loss(per_log, rng)
    return first, lost, again, last


@njit(cache=True)
def back_off(state: Any, w: int, ceil: int) -> None:
    state[LIMIT] = max(half(w, ceil), 2)
    state[BACKED_OFF], state[RETRANSMITS], state[REPAIRS], state[FULL] = 1, 1, 0, 0


@njit(cache=True)
def one_packet(state: Any, tcp: Any, rng: np.random.Generator) -> int:
    """Send the one packet of a timeout; return whether it arrives."""
    loss, W, backoff = tcp[0], tcp[2], tcp[10]
    if rng.random() < loss:
        if state[RETRANSMITS] == 0:
            state[LIMIT] = 2
        state[IDLE_WAIT] = whole_wait(backoff[state[BACKED_OFF] - 1], rng) - 1
        state[BACKED_OFF], state[RETRANSMITS] = min(state[BACKED_OFF] + 1, LEVELS), 1
        return 0
    if state[RETRANSMITS] == 1:
        state[RETRANSMITS] = 0
    else:
        state[BACKED_OFF], state[CWND], state[FULL] = 0, min(2, W), 0
    return 1


@njit(cache=True)
def send(state: Any, tcp: Any, rng: np.random.Generator) -> Any:
    """Send for a round, not waiting; return packets received, and those in order by its end."""
    _, _, W, b, ceil, rack, _, _, all_lost, lost_again, _ = tcp
    if state[BACKED_OFF] > 0:
        arrives = one_packet(state, tcp, rng)
        return arrives, arrives
    sent, merged = state[CWND], 0.0
    if state[REPAIRS] > 0:
        sent, merged = repair(state[REPAIRS], ceil)
        sent = min(sent, W)
    first, lost, again, _ = draw_losses(sent, tcp, rng)
    if lost == 0:
        if state[REPAIRS] > 0:
            state[REPAIRS] = 0
        else:
            state[CWND], state[FULL] = grown(state, W, b)
        return sent, sent
    if lost == sent or (again and rack == 0):
        state[IDLE_WAIT] = whole_wait(all_lost if lost == sent else lost_again, rng) - 1
        back_off(state, state[CWND], ceil)
        return (0, 0) if lost == sent else (first, first)
    reduce(state, tcp, merged, rng)
    return sent - lost, first


@njit(cache=True)
def after_idle(state: Any, tcp: Any, rounds: float) -> int:
    """Halve the window after an idle time, and remember three quarters of it; return whether it was long enough."""
    first, timer = tcp[6], tcp[7]
    halvings = max(0, int(np.ceil(rounds / timer - 1e-9)) - 1)
    if halvings == 0:
        return 0
    if state[BACKED_OFF] > 0:
        return 1
    w = state[CWND]
    state[LIMIT] = max(state[LIMIT], 3 * w // 4)
    state[CWND], state[REPAIRS] = max(w >> min(halvings, 60), min(first, w)), 0
    return 1


@njit(cache=True)
def one_by_one(state: Any, tcp: Any, left: int, rng: np.random.Generator) -> Any:
    """Return the packets left, and the rounds, until a timeout is over or nothing is left: the last one counts."""
    rounds = 0
    while True:
        rounds += 1
        left -= one_packet(state, tcp, rng)
        if left == 0:
            state[BACKED_OFF], state[CWND], state[FULL] = 0, min(2, tcp[2]), 0
            return 0, rounds
        if state[BACKED_OFF] == 0:
            return left, rounds
        rounds += state[IDLE_WAIT]
        state[IDLE_WAIT] = 0


@njit(cache=True)
def download(state: Any, tcp: Any, packets: int, rng: np.random.Generator) -> Any:
    """Return the rounds in which so many packets come, the last ones with nothing behind them."""
    loss, _, W, b, ceil, rack, _, timer, all_lost, lost_again, _ = tcp
    left, rounds = packets, 0
    while True:
        w, before = state[CWND], state[REPAIRS]
        could, merged = w, 0.0
        if before > 0:
            could, merged = repair(before, ceil)
            could = min(could, W)
        sent, rounds = min(could, left), rounds + 1
        first, lost, again, last = draw_losses(sent, tcp, rng)
        if lost == 0:
            state[REPAIRS] = 0
            if before == 0 and rng.random() < sent / could:
                state[CWND], state[FULL] = grown(state, W, b)
            if sent == left:
                return rounds
            left -= sent
            continue
        if lost == sent or (sent < left and again and rack == 0):
            rounds += whole_wait(all_lost if lost == sent else lost_again, rng) - 1
            if lost < sent:
                left -= first
            back_off(state, w, ceil)
            left, more = one_by_one(state, tcp, left, rng)
            rounds += more
            if left == 0:
                return rounds
            continue
        if sent < left:
            left -= sent - lost
            reduce(state, tcp, merged, rng)
            continue
        if not last and not again:
            reduce(state, tcp, merged, rng)
            state[REPAIRS] = 0
            return rounds + 1
        if last and rack == 1:
            rounds += whole_wait(all_lost, rng)
            if rng.random() >= loss:
                reduce(state, tcp, merged, rng)
                state[REPAIRS] = 0
                return rounds
            back_off(state, w, ceil)
            rounds += whole_wait(tcp[10][0], rng) - 1
            state[BACKED_OFF] = 2
        elif last:
            rounds += whole_wait(all_lost, rng) - 1
            back_off(state, w, ceil)
        elif rack == 1:
            rounds += whole_wait(timer, rng)
            back_off(state, w, ceil)
        else:
            rounds += whole_wait(lost_again, rng) - 1
            back_off(state, w, ceil)
            return rounds + one_by_one(state, tcp, left - first, rng)[1]  # a timeout forgets what came beyond the hole
        return rounds + one_by_one(state, tcp, 1, rng)[1]

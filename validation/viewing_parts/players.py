"""Players, round by round, before senders that draw packets; the clock is that of docs/stalls.md.

What round i = 1, 2, ... has brought in order is there from its begin on, at (i - 1) R, and must last until its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from differential_parts.agent import move
from differential_parts.draws import LOST_AT, WAIT

from .remembering import IDLE_WAIT, after_idle, send

NOISE = 1e-9
"""Packets, or rounds, that rounding may make of none."""


@njit(cache=True)
def lateness(
    start: Any, tcp: Any, law: Any, exists: Any, times: Any, packets: Any, delay: float, runs: int,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Return the largest lateness [rounds] of any packet of each run, and the place of its first stall [rounds].

    Lateness is that without a startup delay; a stall has more than `delay`, and its place is in the video.
    ``exists[i]`` packets can be sent by the end of round i; ``times`` [rounds] and ``packets`` are the playback curve.
    """
    largest, first = np.full(runs, -np.inf), np.full(runs, np.inf)
    seen, last, total = np.zeros(1, dtype=np.int64), len(exists) - 1, packets[-1]
    for run in range(runs):
        state = start.copy()
        received, i, part = 0.0, 0, 1
        while True:
            i += 1
            shown = received
            if state[WAIT] > 0:
                state[WAIT] -= 1
            elif exists[min(i - 1, last)] - received > NOISE:
                more, in_order = move(state, tcp, law, seen, rng)
                most = exists[min(i, last)]
                shown, received = min(received + in_order, most), min(received + more, most)
            if shown >= total - NOISE:
                break
            while packets[part] < shown:
                part += 1
            share = (shown - packets[part - 1]) / (packets[part] - packets[part - 1])
            due = times[part - 1] + share * (times[part] - times[part - 1])
            late = i - due
            if late > largest[run]:
                largest[run] = late
                if late > delay * (1 + 1e-12) + NOISE and first[run] == np.inf:
                    first[run] = due
    return largest, first


@njit(cache=True)
def buffers(
    start: Any, tcp: Any, law: Any, remembers: Any, due: float, packets: float, levels: Any, restarts: bool, runs: int,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Return stalls, stalled rounds, rounds before playback, and packets before the first stall, of each run.

    ``due`` is a round of playback, ``levels`` what is held to begin, to resume, to stop reading and to read again, all
    in packets. Where windows restart after idle times, the sender is the one that remembers its thresholds.
    """
    found = np.zeros((runs, 4))
    seen = np.zeros(1, dtype=np.int64)
    begin, resume, stop, refill = levels
    for run in range(runs):
        state = start.copy()
        arrived, at, pause, i = 0.0, 0.0, 0, 0
        filling, first = True, True
        found[run, 3] = np.inf
        while True:
            i += 1
            waits = state[IDLE_WAIT] if restarts else state[WAIT]
            recovers = not restarts and state[LOST_AT] > 0  # a short round goes with the one before it
            if waits == 0 and not recovers and pause == 0 and not filling and arrived - at >= stop - NOISE:
                if refill >= stop:
                    arrived = at + stop
                pause = max(1, int(np.ceil((arrived - at - refill) / due - NOISE)))
                if restarts:
                    after_idle(state, remembers, pause + 1.0)
            there = arrived
            if pause > 0:
                pause -= 1
            elif waits > 0:
                if restarts:
                    state[IDLE_WAIT] -= 1
                else:
                    state[WAIT] -= 1
            else:
                more, in_order = send(state, remembers, rng) if restarts else move(state, tcp, law, seen, rng)
                there, arrived = arrived + in_order, arrived + more
            held = there - at
            if filling and (there >= packets - NOISE or held >= (begin if first else resume) - NOISE):
                if first:
                    found[run, 2] = i - 1
                filling = first = False
            elif filling and not first:
                found[run, 1] += 1
            if not filling:
                if there >= packets - NOISE and (refill < stop or packets - at <= stop + NOISE):
                    break  # what is beyond a full buffer is not sent, the end of the video neither
                if held >= due - NOISE:
                    at += due
                else:
                    if found[run, 0] == 0:
                        found[run, 3] = there
                    found[run, 0] += 1
                    found[run, 1] += 1 - held / due
                    at, filling = there, True
    return found


@njit(cache=True)
def skipping(
    start: Any, tcp: Any, law: Any, due: float, ahead: float, resume: float, warm: int, rounds: int, runs: int,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Return stalls, and rounds of standing, in so many rounds of a live stream without end, by run.

    ``ahead`` is mu tau; a player that stands resumes where the backlog is at most ``resume``: negative where it shows
    whatever is there.
    """
    found = np.zeros((runs, 2))
    seen = np.zeros(1, dtype=np.int64)
    for run in range(runs):
        state = start.copy()
        backlog, stands = 0.0, False
        for i in range(-warm, rounds):
            behind = 0.0
            if state[WAIT] > 0:
                state[WAIT] -= 1
                backlog += due
            elif backlog < NOISE:
                backlog = due
            else:
                more, in_order = move(state, tcp, law, seen, rng)
                behind = backlog + due - in_order
                backlog = max(backlog + due - more, 0.0)
            behind = max(behind, backlog)
            over = behind - ahead
            if stands and behind <= resume + NOISE:
                stands = False
            if stands:
                stood = 1.0
            elif over > NOISE:
                stood = min(1.0, over / due)
                if resume >= 0:
                    stands = True
                    found[run, 0] += i >= 0
            else:
                stood = 0.0
            if i >= 0:
                found[run, 1] += stood
    return found

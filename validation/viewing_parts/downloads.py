"""Downloads: one transfer over a connection, and players that fetch segments; see docs/segments.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from differential_parts.agent import move
from differential_parts.draws import LEVEL, WAIT, WINDOW, lose_to_timer, whole_wait
from differential_parts.lines import IN_FLIGHT, REDUCED, SEND

from .remembering import after_idle, download, draw_losses

NOISE = 1e-9


@njit(cache=True)
def transfers(start: Any, tcp: Any, law: Any, packets: int, runs: int, rng: np.random.Generator) -> Any:
    """Return the rounds in which so many packets come, of each run.

    With independent losses nothing comes behind the last packet: a probe or the timer shows that it was lost.
    """
    found, seen = np.zeros(runs), np.zeros(1, dtype=np.int64)
    bursts, _, sack = tcp
    loss, _, _, rack, _, all_lost, lost_again, backoff, states, windows, _, _ = sack
    for run in range(runs):
        state, left, rounds = start.copy(), packets, 0
        while True:
            rounds += state[WAIT] + 1
            state[WAIT] = 0
            if bursts or state[LEVEL] > 0 or states[state[WINDOW], SEND] < left:
                left -= move(state, tcp, law, seen, rng)[0]
                if left <= 0:
                    break
                continue
            first, lost, again, last = draw_losses(left, sack, rng)
            if lost == 0:
                break
            threshold = windows[states[state[WINDOW], IN_FLIGHT], REDUCED]
            if lost == left:
                lose_to_timer(state, whole_wait(all_lost, rng), threshold)
            elif last and rack == 1:
                rounds += whole_wait(all_lost, rng)
                if rng.random() >= loss:
                    break
                lose_to_timer(state, whole_wait(backoff[0], rng), threshold)
                state[LEVEL], left = 2, 1
            elif last:
                lose_to_timer(state, whole_wait(all_lost, rng), threshold)
                left = 1
            elif not again:
                rounds += 1
                break
            elif rack == 1:
                rounds += 1
                lose_to_timer(state, whole_wait(backoff[0], rng), threshold)
                left = 1
            else:
                lose_to_timer(state, whole_wait(lost_again, rng), threshold)
                left -= first
        found[run] = rounds
    return found


@njit(cache=True)
def fetched(
    start: Any, tcp: Any, segments: int, packets: int, segment: float, most: float, starts: int, resumes: int,
    restarts: bool, runs: int, rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Return stalls, stalled rounds, rounds before playback, rounds of downloads, restarts, and segments played before
    the first stall, of each run. ``segment`` and ``most`` are media [rounds]."""  # noqa: D209
    found = np.zeros((runs, 6))
    for run in range(runs):
        state = start.copy()
        held, playing = 0.0, False
        found[run, 5] = np.inf
        for k in range(segments):
            took = float(download(state, tcp, packets, rng))
            found[run, 3] += took
            if not playing:
                found[run, 2 if found[run, 0] == 0 else 1] += took
                held += segment
            elif took > held + NOISE:
                found[run, 5] = min(found[run, 5], float(k))
                found[run, 0] += 1
                found[run, 1] += took - held
                held, playing = segment, False
            else:
                held += segment - took
            if not playing and held > ((resumes if found[run, 0] > 0 else starts) - 0.5) * segment:
                playing = True
            idle = held - (most - segment)
            if playing and idle > NOISE and k + 1 < segments:
                held = most - segment
                if restarts:
                    found[run, 4] += after_idle(state, tcp, 1 + idle)
    return found

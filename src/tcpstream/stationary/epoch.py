"""One loss epoch of a live stream: the window climbs until its loss, and what loses is followed until it recovers.

An epoch is linear: what is here records it as a `Program`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .fast_recovery import Recovery
from .playback import Playback
from .windows import Windows, through_windows

Ints = NDArray[np.int64]


def climb(
    playback: Playback, states: Windows, entries: int, entered: Ints, active: int, short: int, following: int, rows: int
) -> None:
    """Climb through the windows in increasing order, and follow what loses until it has recovered.

    Parameters
    ----------
    playback : Playback
    states : Windows
    entries : int
        H rows: mass that enters the states `entered` from a recovery or a timeout, by position before its round.
    entered : (H,) array
        States, increasing.
    active : int
        Row overwritten: mass at the start of a round, all states together.
    short : int
        3 rows overwritten: mass at the start of a short round, for j = 1, 2 and 3 or more delivered in the round of
        the loss. What has reached the ceiling counts in every round that it pauses.
    following : int
        `rows` rows overwritten: mass that has recovered, before its next round.
    """
    program, n, steps_per_packet = playback.program, playback.n, playback.steps_per_packet
    cap = n - 1
    p, q, windows = states.loss, 1.0 - states.loss, states.windows
    longest = int(windows[-1])
    by_size = program.room(4 * n)  # active mass in windows of 1, 2, 3, and 4 or more packets
    other, sending = program.room(n), program.room(n)
    stopped_at_ceiling = program.room(1)
    recovery = Recovery(playback, p, longest, stopped_at_ceiling)
    program.clear(by_size, 4 * n)
    program.clear(short, 3 * n)
    program.clear(following, rows * n)
    program.clear(stopped_at_ceiling, 1)
    for s, now in through_windows(playback, states, entries, entered):
        w = int(windows[s])
        program.add(by_size + (min(w, 4) - 1) * n, now, n)
        if w > 3:
            playback.lower(sending, now)
            program.add(short + 2 * n + w * steps_per_packet, sending, n - w * steps_per_packet, -p * q**w)
            recovery.lose(sending, w)
            if s + 1 == len(windows) or states.rows[s + 1] != states.rows[s]:
                recovery.end(following + int(states.rows[s]) * n, w)
    program.set(active, by_size + 3 * n, n)
    playback.lower(sending, active)
    third = short + 2 * n
    program.add(third + 3 * steps_per_packet, sending, n - 3 * steps_per_packet, p * q**3)
    lost, _ = program.recur(third, other, n, q, steps_per_packet)
    if lost != third:
        program.set(third, lost, n)
    program.set(third + cap, stopped_at_ceiling, 1)
    for size in (2, 1):
        program.add(active, by_size + size * n, n)
        playback.lower(sending, active)
        program.put(short + (size - 1) * n, n, sending, n, size * steps_per_packet, p * q**size)
    program.add(active, by_size, n)
    for j in range(3):
        playback.pause(short + j * n)

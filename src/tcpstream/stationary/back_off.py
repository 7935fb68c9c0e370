"""Timeouts of a live stream, back-off level by back-off level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .playback import Playback

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GONE = 1e-18
"""Share of the timeouts that is not followed further."""


def back_off(
    playback: Playback, loss: float, inflow: int, shifts: Ints, weights: Floats, visits: int, restart: int
) -> None:
    """Follow timeouts from their first retransmission to the end of the slow part.

    Parameters
    ----------
    playback : Playback
    loss : float
        p.
    inflow : int
        Row of the mass that starts its first retransmission; overwritten.
    shifts, weights : (levels, k) arrays
        Ways down during the wait after a packet lost at each back-off level, with their probabilities.
    visits : int
        Rows overwritten, one a level: mass at the start of a round, of the retransmission or of the packet after it.
    restart : int
        Row that mass back in congestion avoidance is added to.
    """
    program, n, q = playback.program, playback.n, 1.0 - loss
    arriving, lost, fresh, moved = inflow, program.room(n), program.room(n), program.room(n)
    levels = len(shifts)
    program.clear(visits, levels * n)
    e, left = 0, 1.0
    while left > GONE:
        playback.pause(arriving)
        playback.lower(fresh, arriving, 1, q)
        playback.pause(fresh)
        playback.lower(moved, fresh, 1, q)
        program.add(restart, moved, n)
        program.add(arriving, fresh, n)
        program.add(visits + e * n, arriving, n)
        arriving, lost = lost, arriving
        program.clear(arriving, n)
        for shift, weight in zip(shifts[e].tolist(), weights[e].tolist()):
            if weight != 0.0:
                program.put(arriving, n, lost, n - 1, -shift, loss * weight)
        e, left = min(e + 1, levels - 1), left * loss * (1 + q)

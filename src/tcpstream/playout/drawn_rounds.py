"""What senders deliver round by round, drawn at random until a video is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..system import watch
from ..tcp.chain import Chain
from .drawn_moves import drawn_moves

Ints = NDArray[np.int64]

MOST_CELLS = 50_000_000
"""Senders times rounds that are drawn at a time."""


def drawn_rounds(chain: Chain, packets: int, senders: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the packets that are in order after each round, of some independent senders.

    Parameters
    ----------
    chain : Chain
    packets : int
        Of the video, which each sends as fast as it can.
    senders : int
    rng : numpy.random.Generator

    Returns
    -------
    (rounds, senders) int array
        Up to `packets`, which all of them have in the last round.

    Raises
    ------
    InputError
        For more than some fifty million rounds in all.
    """
    if senders * packets / chain.packets_per_round > MOST_CELLS:
        raise InputError(f"{senders:,} sessions have more than {MOST_CELLS:,} round trips together: draw fewer")
    step = drawn_moves(chain)
    left = np.arange(senders)  # senders that have something to send
    state = np.full(senders, chain.first_state, dtype=np.int64)
    sent, wait, ahead = (np.zeros(senders, dtype=np.int64) for _ in range(3))
    rows: list[NDArray[np.int32]] = []
    whole = np.full(senders, packets, dtype=np.int32)
    while len(left):
        watch.at(instead=watch.SHORTER)
        due = np.flatnonzero(wait == 0)
        sent += ahead
        ahead[:] = 0
        moved = step(state[due], rng)
        state[due], wait[due] = moved.to, moved.rounds
        sent[due] += moved.first
        ahead[due] = moved.later
        wait -= 1
        row = whole.copy()
        row[left] = np.minimum(sent, packets)
        rows.append(row)
        on = sent < packets
        if not on.all():
            left, state, sent, wait, ahead = (one[on] for one in (left, state, sent, wait, ahead))
    return np.array(rows, dtype=np.int32)

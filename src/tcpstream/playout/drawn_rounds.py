"""What senders deliver round by round, drawn at random until a video is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..system import watch
from ..tcp.chain import Chain
from .drawn_moves import drawn_moves, written_moves

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
    _check(senders, packets / chain.packets_per_round)
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


def drawn_stream(chain: Chain, exists: Ints, senders: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the packets of a live stream that are in order after each round, of some independent senders.

    Parameters
    ----------
    chain : Chain
    exists : (n,) int array
        Packets that exist by the ends of rounds 1, 2, ..; all of them at last.
    senders, rng
        As for `drawn_rounds`.

    Returns
    -------
    (rounds, senders) int array

    Raises
    ------
    InputError
        For more than some fifty million rounds in all.
    AccuracyError
        For a chain that is too large to be written out.
    """
    _check(senders, len(exists))
    step, there, i = written_moves(chain), np.append(0, exists), 0
    state = np.full(senders, chain.written_out.start, dtype=np.int64)
    sent, wait = np.zeros((2, senders), dtype=np.int64)
    rows: list[NDArray[np.int32]] = []
    while not rows or rows[-1].min() < there[-1]:
        watch.at(instead=watch.SHORTER)
        begin, end = there[min(i, len(exists))], there[min(i + 1, len(exists))]
        due = np.flatnonzero((wait == 0) & (sent < begin))
        wait = np.maximum(wait - 1, 0)
        moved, in_order = step(state[due], rng), sent.copy()
        in_order[due] = np.minimum(sent[due] + moved.first, end)
        sent[due] = np.minimum(sent[due] + moved.first + moved.later, end)
        state[due], wait[due] = moved.to, moved.rounds - 1
        rows.append(in_order.astype(np.int32))
        i += 1
    return np.array(rows)


def _check(senders: int, rounds: float) -> None:
    """Raise `InputError` for too many rounds."""
    if senders * rounds > MOST_CELLS:
        most = int(MOST_CELLS / rounds)
        helps = f"draw {most:,} at most" if most else "take a shorter video"
        raise InputError(f"{senders:,} sessions have more than {MOST_CELLS:,} round trips together: {helps}")

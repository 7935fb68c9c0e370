"""One loss epoch of a live stream over a source with independent losses; see `tcpstream.stationary.epoch`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .epoch import Playback, Windows, through_states
from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Laws:
    """What becomes of the packets of a round, by groups of states from which all of this is the same.

    Attributes
    ----------
    repaired : (W_max + 1, K) array
        P(K of w packets are lost, and all repaired).
    groups : (S,) array
        Group of each state.
    windows, losses : (G,) arrays
        w, and the most losses that matter.
    rows, shares : (G, M) arrays
        Rows of entries that a group recovers to, and the probability of each.
    held, repaired_whole, all_lost, recovers, fails : (G,) arrays
        (1 - p^2)^w, (p q)^w, p^w; probability to recover, and of a timeout in which not all is lost.
    """

    repaired: Floats
    groups: Ints
    windows: Ints
    losses: Ints
    rows: Ints
    shares: Floats
    held: Floats
    repaired_whole: Floats
    all_lost: Floats
    recovers: Floats
    fails: Floats
    repairs: float
    holds: float


def climb(
    playback: Playback, states: Windows, laws: Laws, entries: int, entered: Ints, active: int, lost: int, shown: int,
    failing: int, following: int, rows: int,
) -> None:  # fmt: skip
    """Climb through all states, and follow what loses.

    Parameters
    ----------
    playback, states, entries, entered, active
        As for `epoch.climb`.
    laws : Laws
    lost : int
        Row overwritten: mass at the start of a round that will be lost whole.
    shown, failing : int
        Rows overwritten, by what is in order at the end of the round of a loss: mass that recovers, and mass that
        waits for a timeout.
    following : int
        `rows` rows overwritten: mass that has recovered, by what is received, before its next round.
    """
    program, n, stride = playback.program, playback.n, playback.stride
    p, cap = states.loss, n - 1
    q = 1.0 - p
    sending, grown, whole, better, alone, gone, received, scratch = (program.room(n) for _ in range(8))
    for row in (active, lost, shown, failing, grown, whole, better, alone, gone):
        program.clear(row, n)
    program.clear(following, rows * n)
    for g, now in _through_groups(playback, states, laws, entries, entered):
        w = int(laws.windows[g])
        program.add(active, now, n)
        program.add(lost, now, cap, float(laws.all_lost[g]))
        playback.lower(sending, now)
        if laws.losses[g] > 0:
            program.clear(received, n)
        for K in range(1, laws.losses[g] + 1):
            program.put(received, n, sending, n, (w - K) * stride, float(laws.repaired[w, K]))
        for row, share in zip(laws.rows[g].tolist(), laws.shares[g].tolist()):
            if laws.losses[g] > 0 and share > 0.0:
                program.add(following + row * n, received, n, share)
        if w * stride < n:
            program.add(grown + w * stride, sending, n - w * stride, q**w)
        for row, weight in ((whole, 1.0), (better, laws.held[g]), (alone, laws.repaired_whole[g])):
            program.add(row, sending, n, float(weight))
        program.add(gone, sending, n, float(laws.all_lost[g]))
        program.total(shown + cap, sending, n, float(laws.recovers[g]))
        program.total(failing + cap, sending, n, float(laws.fails[g]))
    _divide(program, shown, better, grown, scratch, cap, laws.repairs / laws.holds, q / laws.holds, stride)
    program.add(shown, alone, cap, -1.0)
    _divide(program, failing, whole, grown, scratch, cap, p, q, stride)
    program.add(failing, gone, cap, -1.0)
    program.add(failing, shown, cap, -1.0)
    for row in (shown, failing):
        program.total(row + cap, row, cap, -1.0)  # what is not below the ceiling is there


def _through_groups(
    playback: Playback, states: Windows, laws: Laws, entries: int, entered: Ints
) -> Iterator[tuple[int, int]]:
    """Climb as `epoch.through_states`, but yield groups, and the mass of all states of each together."""
    program, n, left, rows = playback.program, playback.n, np.bincount(laws.groups), dict[int, int]()
    for s, now in through_states(playback, states, entries, entered):
        g = int(laws.groups[s])
        left[g] -= 1
        if g in rows:
            program.add(rows[g], now, n)
        elif left[g] > 0:
            rows[g] = program.room(n)
            program.set(rows[g], now, n)
        if left[g] == 0:
            yield g, rows.get(g, now)


def _divide(
    program: Program, target: int, gains: int, grown: int, scratch: int, cap: int, weight: float, ratio: float,
    stride: int,
) -> None:  # fmt: skip
    """Add ``weight (gains - grown) / (1 - ratio z)`` below the ceiling; `gains` is overwritten."""
    program.add(gains, grown, cap, -1.0)
    result, _ = program.recur(gains, scratch, cap, ratio, stride)
    program.add(target, result, cap, weight)

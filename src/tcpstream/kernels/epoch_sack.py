"""One loss epoch of a live stream over a source with independent losses; see `tcpstream.kernels.epoch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .epoch import Playback, Windows, through_windows
from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Laws:
    """What becomes of the packets of a round; arrays over the states but for the first.

    Attributes
    ----------
    repaired : (W_max + 1, M) array
        P(K of w packets are lost, and all repaired).
    held, repaired_whole, all_lost, recovers, fails : (S,) arrays
        (1 - p^2)^w, (p q)^w, p^w; probability to recover, and of a timeout in which not all is lost.
    """

    repaired: Floats
    held: Floats
    repaired_whole: Floats
    all_lost: Floats
    recovers: Floats
    fails: Floats


def climb(
    playback: Playback, states: Windows, laws: Laws, entries: int, entered: Ints, active: int, lost: int, shown: int,
    failing: int, following: int, rows: int,
) -> None:  # fmt: skip
    """Climb through the windows in increasing order, and follow what loses.

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
    q, a = 1.0 - p, 1.0 - p * p
    sending, grown, whole, better, alone, gone, scratch = (program.room(n) for _ in range(7))
    for row in (active, lost, shown, failing, grown, whole, better, alone, gone):
        program.clear(row, n)
    program.clear(following, rows * n)
    for s, now in through_windows(playback, states, entries, entered):
        w = int(states.windows[s])
        program.add(active, now, n)
        program.add(lost, now, cap, float(laws.all_lost[s]))
        playback.lower(sending, now)
        target = following + int(states.rows[s]) * n
        for K in range(1, min(laws.repaired.shape[1], w)):
            program.put(target, n, sending, n, (w - K) * stride, float(laws.repaired[w, K]))
        if w * stride < n:
            program.add(grown + w * stride, sending, n - w * stride, q**w)
        for row, weight in ((whole, 1.0), (better, laws.held[s]), (alone, laws.repaired_whole[s])):
            program.add(row, sending, n, float(weight))
        program.add(gone, sending, n, float(laws.all_lost[s]))
        program.total(shown + cap, sending, n, float(laws.recovers[s]))
        program.total(failing + cap, sending, n, float(laws.fails[s]))
    _divide(program, shown, better, grown, scratch, cap, p * q / a, q / a, stride)
    program.add(shown, alone, cap, -1.0)
    _divide(program, failing, whole, grown, scratch, cap, p, q, stride)
    program.add(failing, gone, cap, -1.0)
    program.add(failing, shown, cap, -1.0)
    for row in (shown, failing):
        program.total(row + cap, row, cap, -1.0)  # what is not below the ceiling is there


def _divide(
    program: Program, target: int, gains: int, grown: int, scratch: int, cap: int, weight: float, ratio: float,
    stride: int,
) -> None:  # fmt: skip
    """Add ``weight (gains - grown) / (1 - ratio z)`` below the ceiling; `gains` is overwritten."""
    program.add(gains, grown, cap, -1.0)
    result, _ = program.recur(gains, scratch, cap, ratio, stride)
    program.add(target, result, cap, weight)

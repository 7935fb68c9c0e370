"""One loss epoch of a live stream over a chain with independent losses; see `tcpstream.stationary.epoch`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .playback import Playback
from .program import Program
from .windows import Windows, through_states

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RoundOutcomes:
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
    playback: Playback, states: Windows, outcomes: RoundOutcomes, entries: int, entered: Ints, active: int, lost: int,
    in_order: int, timing_out: int, following: int, rows: int,
) -> None:  # fmt: skip
    """Climb through all states, and follow what loses.

    Parameters
    ----------
    playback, states, entries, entered, active
        As for `epoch.climb`.
    outcomes : RoundOutcomes
    lost : int
        Row overwritten: mass at the start of a round that will be lost whole.
    in_order, timing_out : int
        Rows overwritten, by what is in order at the end of the round of a loss: mass that recovers, and mass that
        waits for a timeout.
    following : int
        `rows` rows overwritten: mass that has recovered, by what is received, before its next round.
    """
    program, n, steps_per_packet = playback.program, playback.n, playback.steps_per_packet
    p, cap = states.loss, n - 1
    q = 1.0 - p
    sending, grown, whole, better, alone, gone, received, scratch = (program.room(n) for _ in range(8))
    for row in (active, lost, in_order, timing_out, grown, whole, better, alone, gone):
        program.clear(row, n)
    program.clear(following, rows * n)
    for g, now in _through_groups(playback, states, outcomes, entries, entered):
        w = int(outcomes.windows[g])
        program.add(active, now, n)
        program.add(lost, now, cap, float(outcomes.all_lost[g]))
        playback.lower(sending, now)
        if outcomes.losses[g] > 0:
            program.clear(received, n)
        for K in range(1, outcomes.losses[g] + 1):
            program.put(received, n, sending, n, (w - K) * steps_per_packet, float(outcomes.repaired[w, K]))
        for row, share in zip(outcomes.rows[g].tolist(), outcomes.shares[g].tolist()):
            if outcomes.losses[g] > 0 and share > 0.0:
                program.add(following + row * n, received, n, share)
        if w * steps_per_packet < n:
            program.add(grown + w * steps_per_packet, sending, n - w * steps_per_packet, q**w)
        for row, weight in ((whole, 1.0), (better, outcomes.held[g]), (alone, outcomes.repaired_whole[g])):
            program.add(row, sending, n, float(weight))
        program.add(gone, sending, n, float(outcomes.all_lost[g]))
        program.total(in_order + cap, sending, n, float(outcomes.recovers[g]))
        program.total(timing_out + cap, sending, n, float(outcomes.fails[g]))
    _divide(
        program,
        in_order,
        better,
        grown,
        scratch,
        cap,
        outcomes.repairs / outcomes.holds,
        q / outcomes.holds,
        steps_per_packet,
    )
    program.add(in_order, alone, cap, -1.0)
    _divide(program, timing_out, whole, grown, scratch, cap, p, q, steps_per_packet)
    program.add(timing_out, gone, cap, -1.0)
    program.add(timing_out, in_order, cap, -1.0)
    for row in (in_order, timing_out):
        program.total(row + cap, row, cap, -1.0)  # what is not below the ceiling is there


def _through_groups(
    playback: Playback, states: Windows, outcomes: RoundOutcomes, entries: int, entered: Ints
) -> Iterator[tuple[int, int]]:
    """Climb as `windows.through_states`, but yield groups, and the mass of all states of each together."""
    program, n, left, rows = playback.program, playback.n, np.bincount(outcomes.groups), dict[int, int]()
    for s, now in through_states(playback, states, entries, entered):
        g = int(outcomes.groups[s])
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
    steps_per_packet: int,
) -> None:  # fmt: skip
    """Add ``weight (gains - grown) / (1 - ratio z)`` below the ceiling; `gains` is overwritten."""
    program.add(gains, grown, cap, -1.0)
    result, _ = program.recur(gains, scratch, cap, ratio, steps_per_packet)
    program.add(target, result, cap, weight)

"""How windows lead to each other while nothing is lost, the largest one to itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .playback import Playback
from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """How windows lead to each other.

    Parameters
    ----------
    windows : (S,) array
        Window of each state; each state leads to the next one, the last b, of the largest window, to each other.
        Before these come states of slow start.
    rows : (S,) array
        Row of entries for the half of each window (not used below 4), nondecreasing.
    loss : float
        p.
    feedback : (b, b) array
        Mass at the ceiling in column state of the largest window per unit that reached it in row state, over all
        returns: the inverse of 1 - U, with U from `one_return`.
    ends : tuple of int
        States that lead to the first of the largest window instead.
    n_preamble : int
        States of slow start, and of rounds that repair.
    branches : mapping of int to list of (int, float)
        Which states of slow start lead to a state when they are delivered whole, and with which probability then.
    over : int, optional
        Row overwritten: mass that the largest window leads to when delivered whole, where that is not itself (b = 1).
    """

    windows: Ints
    rows: Ints
    loss: float
    feedback: Floats
    ends: tuple[int, ...] = ()
    n_preamble: int = 0
    branches: Mapping[int, Sequence[tuple[int, float]]] = field(default_factory=dict)
    over: int | None = None


def through_states(playback: Playback, states: Windows, entries: int, entered: Ints) -> Iterator[tuple[int, int]]:
    """Climb without a loss: yield each state, and the row of its mass at the start of rounds until the next one.

    Parameters
    ----------
    playback, states, entries, entered
        As for `climb`.
    """
    program, n, windows = playback.program, playback.n, states.windows
    q, b = 1.0 - states.loss, len(states.feedback)
    top, longest = len(windows) - b, int(windows[-1])
    row, other = program.room(n), program.room(n)
    largest = [program.room(n) for _ in range(b)]
    whole = [program.room(n) for _ in range(states.n_preamble)]
    for one in (row, *largest):
        program.clear(one, n)
    entry = {int(s): entries + h * n for h, s in enumerate(entered)}
    ends = set(states.ends)

    def arrive(target: int, state: int) -> None:
        if state in entry:
            program.add(target, entry[state], n)
        for source, share in states.branches.get(state, ()):
            program.add(target, whole[source], n, share)

    for s, w in enumerate(windows[: states.n_preamble].tolist()):
        arrive(row, s)
        playback.pause(row)
        playback.lower(whole[s], row, w, q**w)
        yield s, row
        program.clear(row, n)
    for s, w in enumerate(windows[states.n_preamble : top].tolist(), states.n_preamble):
        arrive(row, s)
        playback.pause(row)
        playback.lower(other, row, w, q**w)
        yield s, row
        row, other = other, row
        if s in ends:
            program.add(largest[0], row, n)
            program.clear(row, n)
    program.add(largest[0], row, n)
    for c in range(b):
        arrive(largest[c], top + c)
    if states.over is not None:
        playback.pause(largest[0])
        playback.lower(states.over, largest[0], longest, q**longest)
    else:
        _all_returns(playback, largest, longest, q**longest, states.feedback)
    for c in range(b):
        yield top + c, largest[c]


def through_windows(playback: Playback, states: Windows, entries: int, entered: Ints) -> Iterator[tuple[int, int]]:
    """Climb as `through_states`, but yield the last state of each window, and the mass of all its states together."""
    program, n, windows = playback.program, playback.n, states.windows
    together = program.room(n)
    before: dict[int, int] = {}  # of slow start, by window
    for s, now in through_states(playback, states, entries, entered):
        w = int(windows[s])
        if s < states.n_preamble:
            if w in before:
                program.add(before[w], now, n)
            else:
                before[w] = program.room(n)
                program.set(before[w], now, n)
            continue
        first, last = s == states.n_preamble or windows[s - 1] != w, s + 1 == len(windows) or windows[s + 1] != w
        if not (first and last and w not in before):
            (program.set if first else program.add)(together, now, n)
            now = together
        if last and w in before:
            program.add(together, before[w], n)
        if last:
            yield s, now


def _all_returns(playback: Playback, largest: list[int], packets: int, weight: float, feedback: Floats) -> None:
    """Complete the states of the largest window from what enters them, pauses at the ceiling included."""
    program, n, b = playback.program, playback.n, len(largest)
    near = replace(playback, n=min(n, 2 * playback.drop + 4))
    m = near.n
    extra = [program.room(m) for _ in range(b)]
    playback.circle(largest, packets, weight)
    for c in range(b):
        program.clear(extra[c], m)
        for d in range(b):
            program.add(extra[c] + m - 1, largest[d] + n - 1, 1, float(feedback[d, c]))
    for c in range(b):
        program.set(largest[c] + n - 1, extra[c] + m - 1, 1)
        near.pause(extra[c])
        program.clear(extra[c] + m - 1, 1)
    near.circle(extra, packets, weight)
    for c in range(b):
        program.add(largest[c] + n - m, extra[c], m - 1)


def one_return(b: int, packets: int, steps_per_packet: int, drop: int, trace: int, weight: float) -> Floats:
    """Return U: mass back at the ceiling in column state of the largest window per unit that paused in row state.

    Parameters
    ----------
    b, packets : int
        States of the largest window; packets that it climbs.
    steps_per_packet, drop, trace
        As for `Playback`.
    weight : float
        Probability that the largest window is delivered whole.
    """
    program, n = Program(), 2 * drop + 4
    playback = Playback(program, n, steps_per_packet, drop, trace)
    rows = [program.room(n) for _ in range(b)]
    for row in rows:
        playback.pause(row)
        program.clear(row + n - 1, 1)
    playback.circle(rows, packets, weight)
    program.ready()
    x, back = program.row(0, b, n), np.empty((b, b))
    for c in range(b):
        x[:] = 0.0
        x[c, -1] = 1.0
        program.run()
        back[c] = x[:, -1]
    return back

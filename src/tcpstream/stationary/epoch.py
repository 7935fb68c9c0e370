"""One loss epoch of a live stream: the window climbs until its loss, and timeouts back off until they are over.

Positions are early packets below the ceiling: the last position is the ceiling itself (nothing is left to send), and
each round of playback moves everything down by m packets. A chain at the ceiling at the start of a round pauses in
that round.

An epoch is linear: what is here records it as a `Program`. Rows are addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .program import Program

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GONE = 1e-18
"""Share of the timeouts that is not followed further."""


@dataclass(frozen=True)
class Playback:
    """A round of playback on rows of n positions.

    Parameters
    ----------
    program : Program
        Records.
    n, steps_per_packet : int
        Positions of a row, and of a packet.
    drop : int
        Positions that a round of playback moves down.
    trace : int
        Positions further that what leaves the ceiling moves down; see `tcpstream.numerics.lattices`.
    """

    program: Program
    n: int
    steps_per_packet: int
    drop: int
    trace: int = 0

    @property
    def paused(self) -> int:
        """Position after a round that begins at the ceiling."""
        return self.n - 1 - self.drop - self.trace

    def pause(self, row: int) -> None:
        """Add what pauses at the ceiling again, one round of playback lower."""
        self.program.add(row + self.paused, row + self.n - 1, 1)

    def lower(self, target: int, row: int, packets: int = 0, weight: float = 1.0, count: int | None = None) -> None:
        """Write what is below the ceiling (or `count` values), one round of playback lower, then packets higher."""
        count = self.n - 1 if count is None else count
        self.program.place(target, self.n, row + self.drop, count - self.drop, packets * self.steps_per_packet, weight)

    def circle(self, rows: Sequence[int], packets: int, weight: float) -> None:
        """Solve rows that lead to each other in turn, each a round of playback lower and then packets higher.

        A round moves up by at least `block` positions: so many are done at a time.
        """
        cap, up = self.n - 1, packets * self.steps_per_packet - self.drop
        block = max(1, up)
        sources, targets = np.asarray(rows), np.roll(rows, -1)
        first = np.arange(0, cap, block)[:, np.newaxis]
        start, end = np.maximum(first, self.drop), np.minimum(first + block, cap - max(up, 0))
        self.program.add(targets + start + up, sources + start, end - start, weight)
        last = max(cap - max(up, 0), self.drop)
        self.program.total(targets + cap, sources + last, cap - last, weight)


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


class Recovery:
    """Fast recovery of all windows with the same half.

    A window that loses leads to its half in two rounds that deliver s = i + j packets, with the distribution
    ``g^2 / 2 + (1 - p/2) E`` of `tcpstream.kernels.recovery`, where ``g = p (q^3 z^3 - q^w z^w) / (1 - qz)`` and
    ``E = p (q^6 z^6 - q^2w z^2w) / (1 - q^2 z^2)``: the numerators of all windows with the same half are added up
    first. Near the ceiling only j < v packets fit in the round of the loss, and v stands for w.

    Parameters
    ----------
    playback : Playback
    loss : float
        p.
    longest : int
        Largest window.
    at_ceiling : int
        Value that gets the mass of short rounds at the ceiling.
    """

    def __init__(self, playback: Playback, loss: float, longest: int, at_ceiling: int) -> None:
        program = playback.program
        self._playback, self._program, self._p, self._at_ceiling = playback, program, loss, at_ceiling
        self._longest = longest
        self._width = playback.n + (longest + 1) * playback.steps_per_packet
        self._numerator, self._diagonal, self._scratch = (program.room(self._width) for _ in range(3))
        self._all = program.room(playback.n)
        self._frozen, self._later, self._stopped = (program.room(longest + 1) for _ in range(3))  # frozen: last j first
        self._begin()

    def _begin(self) -> None:
        self._program.clear(self._numerator, self._width)
        self._program.clear(self._diagonal, self._width)
        self._program.clear(self._all, self._playback.n)
        self._program.clear(self._frozen, self._longest)

    def lose(self, sending: int, w: int) -> None:
        """Add a window's mass, by position at the start of its round of loss, after the round of playback."""
        program, steps_per_packet, cap = self._program, self._playback.steps_per_packet, self._playback.n - 1
        program.add(self._all, sending, cap - 3 * steps_per_packet)
        self._leave(sending, 0, max(0, cap - (w - 1) * steps_per_packet), w)
        v = np.arange(1, w)
        start, end = np.maximum(cap - v * steps_per_packet, 0), cap - (v - 1) * steps_per_packet
        self._leave(sending, start[3:], (end - start)[3:], v[3:])
        program.clear(self._stopped, w)
        program.total(self._stopped + v, sending + start, end - start)
        program.add(self._stopped + 1, self._stopped, w - 1)
        j = v[2:]
        program.add(self._frozen + self._longest - 1 - j, self._stopped + j, 1, self._p * (1 - self._p) ** j)

    def _leave(self, sending: int, first: int | Ints, count: int | Ints, w: int | Ints) -> None:
        """Add the terms of g^2 / 2 and (1 - p/2) E with w, for `count` positions from `first` on."""
        p, q, steps_per_packet = self._p, 1 - self._p, self._playback.steps_per_packet
        source, three, two = sending + first, first + (3 + w) * steps_per_packet, first + 2 * w * steps_per_packet
        self._program.add(self._numerator + three, source, count, -p * p * q ** (3 + w))
        self._program.add(self._numerator + two, source, count, 0.5 * p * p * q ** (2 * w))
        self._program.add(self._diagonal + two, source, count, -(1 - 0.5 * p) * p * q ** (2 * w))

    def end(self, following: int, largest: int) -> None:
        """Write the row that all windows since the last end, up to the largest of them, have recovered to."""
        program, steps_per_packet, cap = self._program, self._playback.steps_per_packet, self._playback.n - 1
        p, q, width = self._p, 1 - self._p, self._width
        six, inside = 6 * steps_per_packet, cap - 3 * steps_per_packet
        program.add(self._numerator + six, self._all, inside, 0.5 * p * p * q**6)
        program.add(self._diagonal + six, self._all, inside, (1 - 0.5 * p) * p * q**6)
        numerator, scratch = self._numerator, self._scratch
        for _ in range(2):
            numerator, scratch = program.recur(numerator, scratch, width, q, steps_per_packet)
        diagonal, scratch = program.recur(self._diagonal, scratch, width, q * q, 2 * steps_per_packet)
        program.add(numerator, diagonal, width)
        self._numerator, self._diagonal, self._scratch = numerator, diagonal, scratch
        self._resume(largest)
        self._playback.lower(following, numerator, count=width)
        self._begin()

    def _resume(self, largest: int) -> None:
        """Short rounds that paused at the ceiling go on, one round of playback lower, to their fast retransmit."""
        program, p, longest = self._program, self._p, self._longest
        program.total(self._at_ceiling, self._frozen, longest)
        program.clear(self._later, 1)
        program.set(self._later + 1, self._frozen, longest - 1)
        program.add(self._later + 1, self._later, longest - 1)
        j = np.arange(3, largest)
        target, pmf = self._numerator + self._playback.paused + j * self._playback.steps_per_packet, (1 - p) ** j
        program.add(target, self._later + longest - 1 - j, 1, p * pmf)
        program.add(target, self._frozen + longest - 1 - j, 1, pmf)


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

"""What a vector of a `Backlog` says of late packets in the step after it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import free_moves
from ..kernels.on_lattice import on_lattice
from .backlog import Backlog
from .excess import Excess

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BacklogLaw:
    """Late packets in a step, over the startup delay, and how long it takes on average.

    Attributes
    ----------
    step : int
        Rounds of TCP between two looks.
    due : float
        m, packets generated per round.
    rounds : float
        That all ways of the step take, with those of silence.
    received : Excess
        The backlog at their ends.
    waits : tuple of (int, Excess)
        The same of those that take so many steps.
    held : Excess
        What changes the backlog received to the one in order.
    sent, chance : arrays
        Packets per round of what is at rest, and its probability.
    """

    step: int
    due: float
    rounds: float
    received: Excess
    waits: tuple[tuple[int, Excess], ...]
    held: Excess
    sent: Floats
    chance: Floats

    def late_packets(self, delay: float) -> float:
        """Return the mean number of late packets, for a startup delay [rounds]."""
        y = np.array([self.due * delay, self.due * (delay + 1)])
        both = self.received(y) + self.held(y)
        for lag, one in self.waits:
            later = np.arange(1, lag) * (self.step * self.due)
            for i in range(2):
                high = y[i] + later
                both[i] += float(one(high[high < one.largest]).sum())
        return self.step * (float(both[0] - both[1]) + self._resting(delay))

    def _resting(self, delay: float) -> float:
        """Return the late packets of a round at rest: none after a delay of a round."""
        late = 0.0
        for sent, chance in zip(self.sent, self.chance) if delay < 1 else ():
            rounds = math.ceil(self.due / (sent - self.due) - 1e-12)
            backlog = self.due - (sent - self.due) * np.arange(rounds)
            late += chance * float(np.maximum(backlog - self.due * delay, 0.0).mean())
        return late


def law(backlog: Backlog, vector: Floats) -> BacklogLaw:
    """Return the law of the step after a vector."""
    ways, levels = backlog.ways, backlog.ladder.levels
    new = backlog.step(vector)
    at_rest = np.flatnonzero(new[:, 0] != 0)
    later = (ways.steps.times * ways.due)[:, np.newaxis]
    values = np.concatenate([(one.backlogs - later)[:, one.own] for one in levels], axis=1)
    received = Excess(values.ravel(), new[:, 1:].ravel())
    rows, lower = backlog.ladder.spread_out(vector)
    entries = vector.sum(axis=1)
    rounds = float((entries[ways.source] * ways.weight * ways.lag).sum()) * ways.steps.step
    rounds += backlog.silence(vector, lower)
    waits, held = _waits(backlog, rows, backlog.from_rest(vector, lower)), _held(backlog, vector, rows)
    return BacklogLaw(ways.steps.step, ways.due, rounds, received, waits, held, ways.sent[at_rest], new[at_rest, 0])


def _waits(backlog: Backlog, rows: list[Floats], from_rest: Floats) -> tuple[tuple[int, Excess], ...]:
    """Return the backlogs with which long ways end, by their length in steps."""
    ways = backlog.ways
    long = np.flatnonzero(ways.lag > 1)
    lags, which = np.unique(ways.lag[long], return_inverse=True)
    later = ways.due * ways.phase[long]
    moved = _moved(
        backlog, rows, ways.source[long], which.ravel(), len(lags), ways.weight[long], ways.change[long] - later,
        ways.variance[long], ways.floor[long],
    )  # fmt: skip
    values, mass = ways.after[long] - later, from_rest[long] * ways.weight[long]
    found = []
    for i, (lag, (points, chances)) in enumerate(zip(lags.tolist(), moved)):
        here = which.ravel() == i
        found.append((int(lag), Excess(np.append(points, values[here]), np.append(chances, mass[here]))))
    return tuple(found)


def _held(backlog: Backlog, vector: Floats, rows: list[Floats]) -> Excess:
    """Return what changes the backlog that is received, at the ends of steps, to the one in order."""
    ways = backlog.ways
    chance, packets, variance, missing, after, in_order = ways.held.T
    change = ways.due * (ways.steps.step - ways.steps.times[ways.holding]) - packets
    twice = np.repeat(ways.holding, 2)
    sign = np.tile([1.0, -1.0], len(ways.holding))
    ((points, chances),) = _moved(
        backlog, rows, twice, np.zeros_like(twice), 1, np.repeat(chance, 2) * sign,
        np.repeat(change, 2) + np.repeat(missing, 2) * (sign > 0), np.repeat(variance, 2), np.repeat(after - change, 2),
    )  # fmt: skip
    below = backlog.mass_below(vector, ways.holding, after - change) * chance
    return Excess(np.concatenate([points, in_order, after]), np.concatenate([chances, below, -below]))


def _moved(
    backlog: Backlog, rows: list[Floats], sources: Ints, which: Ints, kinds: int, chance: Floats, change: Floats,
    variance: Floats, floor: Floats,
) -> list[tuple[Floats, Floats]]:  # fmt: skip
    """Return where ways of some kinds move the rows of levels, above their floors: points and their mass, by kind."""
    points: list[list[Floats]] = [[np.zeros(0)] for _ in range(kinds)]
    masses: list[list[Floats]] = [[np.zeros(0)] for _ in range(kinds)]
    for level, held in zip(backlog.ladder.levels, rows):
        q, above, E = level.quantum, level.above[sources], backlog.ladder.entries
        first = np.ceil((floor - above) / q - 1e-9) + level.base
        first = np.clip(first, level.first, level.end).astype(np.int64)
        keys, key = np.unique((which * (level.end + 1) + first) * E + sources, return_inverse=True)
        order = np.argsort(key.ravel(), kind="stable")
        same, _, shifts, starts, taps = on_lattice(
            key.ravel()[order], np.zeros_like(order), chance[order], (change + above)[order], variance[order], q, 1
        )
        whose, rest = keys[same] % E, keys[same] // E
        to, floors = rest // (level.end + 1), rest % (level.end + 1)
        pad = int(np.maximum(-(floors + shifts), 0).max(initial=0))
        into = np.zeros((kinds, level.end + pad + int((shifts + np.diff(starts)).max(initial=0)) + 1))
        free_moves(held, level.first, level.end, into, whose, to, shifts + pad, starts, taps, floors)
        for kind, row in enumerate(into):
            points[kind].append(np.arange(len(row), dtype=np.float64) * q - (level.base + pad) * q)
            masses[kind].append(row)
    return [(np.concatenate(a), np.concatenate(b)) for a, b in zip(points, masses)]

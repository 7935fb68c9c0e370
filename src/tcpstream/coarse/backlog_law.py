"""What a vector of a `Backlog` says of late packets in the step after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_moves import below_floors, free_moves
from ..kernels.backlog_paths import rounds_to_rest
from ..kernels.on_lattice import on_lattice
from .backlog import WIDE, Backlog
from .excess import Excess
from .ladder import Held

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
            both += [one(y[i] + self._earlier(lag)).sum() for i in range(2)]
        return self.step * (float(both[0] - both[1]) + self._resting(delay))

    def late_packets_to_come(self, delay: float) -> float:
        """Return the late packets of long ways after each step of them, added up."""
        y, both = np.array([self.due * delay, self.due * (delay + 1)]), np.zeros(2)
        for lag, one in self.waits:
            earlier = np.append(0.0, self._earlier(lag))
            both += [np.arange(lag)[::-1] @ one(y[i] + earlier) for i in range(2)]
        return self.step**2 * float(both[0] - both[1])

    @property
    def rounds_to_come(self) -> float:
        """The rounds of long ways after each step of them, added up, over those of the step."""
        return self.step**2 * sum(lag * (lag - 1) / 2 * one.mass for lag, one in self.waits) / self.rounds

    def _earlier(self, lag: int) -> Floats:
        """Return by how much the backlog is less than at the end, at the ends of the steps of a way before."""
        return np.arange(1.0, lag) * (self.step * self.due)

    def _resting(self, delay: float) -> float:
        """Return the late packets of a round at rest: none after a delay of a round."""
        return float(self.resting(np.array(self.due * delay))) if delay < 1 else 0.0

    @cached_property
    def resting(self) -> Excess:
        """The backlog before the rounds of what is at rest."""
        beyond = self.sent - self.due
        rounds = np.array([rounds_to_rest(sent, self.due) for sent in self.sent], dtype=np.int64)
        which = np.repeat(np.arange(len(rounds)), rounds)
        earlier = np.arange(len(which)) - np.repeat(np.cumsum(rounds) - rounds, rounds)
        return Excess(self.due - beyond[which] * earlier, (self.chance / rounds)[which])


def law(backlog: Backlog, vector: Floats) -> BacklogLaw:
    """Return the law of the step after a vector."""
    ways, levels = backlog.ways, backlog.ladder.levels
    new = backlog.step(vector)
    at_rest = np.flatnonzero(new[:, 0] != 0)
    later = (ways.steps.times * ways.due)[:, np.newaxis]
    values = np.concatenate([(one.backlogs - later)[:, one.own] for one in levels], axis=1)
    received = Excess(values.ravel(), new[:, 1:].ravel())
    held = backlog.ladder.spread_out(vector)
    entries = vector.sum(axis=1)
    rounds = float((entries[ways.source] * ways.weight * ways.lag).sum()) * ways.steps.step
    rounds += backlog.silence(vector, held.lower)
    waits = _waits(backlog, vector, held)
    return BacklogLaw(
        ways.steps.step,
        ways.due,
        rounds,
        received,
        waits,
        _missing(backlog, vector, held),
        ways.sent[at_rest],
        new[at_rest, 0],
    )


def _waits(backlog: Backlog, vector: Floats, held: Held) -> tuple[tuple[int, Excess], ...]:
    """Return the backlogs with which long ways end, by their length in steps."""
    ways = backlog.ways
    long = np.flatnonzero(ways.lag > 1)
    lags, which = np.unique(ways.lag[long], return_inverse=True)
    later, sources = ways.due * ways.phase[long], ways.source[long]
    moved, below = _moved(
        backlog, held, sources, which.ravel(), len(lags), ways.weight[long], ways.change[long] - later,
        ways.variance[long], ways.floor[long],
    )  # fmt: skip
    place = np.zeros(len(ways.lag), dtype=np.int64)
    place[long] = np.arange(len(long))
    ends = []
    for every, mass in ((ways.from_rest, vector[sources, 0]), (ways.from_empty, below)):
        one = every.only(ways.lag[every.way] > 1)
        at = place[one.way]
        ends.append((which.ravel()[at], one.backlog - later[at], mass[at] * one.weight))
    found = []
    for i, (lag, (points, chances)) in enumerate(zip(lags.tolist(), moved)):
        values = [points, *(value[kind == i] for kind, value, _ in ends)]
        masses = [chances, *(mass[kind == i] for kind, _, mass in ends)]
        found.append((int(lag), Excess(np.concatenate(values), np.concatenate(masses))))
    return tuple(found)


def _missing(backlog: Backlog, vector: Floats, held: Held) -> Excess:
    """Return what changes the backlog that is received, at the ends of steps, to the one in order."""
    ways = backlog.ways
    chance, packets, variance, missing, *ends = ways.held.T
    change = ways.due * (ways.steps.step - ways.steps.times[ways.holding]) - packets
    twice = np.repeat(ways.holding, 2)
    sign = np.tile([-1.0, 1.0], len(ways.holding))
    rested, emptied = (np.column_stack(pair).ravel() for pair in (ends[:2], ends[2:]))
    change = np.repeat(change, 2) + np.repeat(missing, 2) * (sign > 0)
    chance = np.repeat(chance, 2) * sign
    ((points, chances),), below = _moved(
        backlog, held, twice, np.zeros_like(twice), 1, chance, change, np.repeat(variance, 2), emptied - change
    )
    masses = [chances, vector[twice, 0] * chance, below * chance]
    return Excess(np.concatenate([points, rested, emptied]), np.concatenate(masses))


def _moved(
    backlog: Backlog, held: Held, sources: Ints, which: Ints, kinds: int, chance: Floats, change: Floats,
    variance: Floats, floor: Floats,
) -> tuple[list[tuple[Floats, Floats]], Floats]:  # fmt: skip
    """Return where ways of some kinds move what is held above their floors: points and their mass, by kind.

    The second result is the mass below the floor of each way.
    """
    points: list[list[Floats]] = [[np.zeros(0)] for _ in range(kinds)]
    masses: list[list[Floats]] = [[np.zeros(0)] for _ in range(kinds)]
    below, E = np.zeros(len(sources)), backlog.ladder.entries
    taken = backlog.level(WIDE * np.sqrt(variance))
    for i, level in enumerate(backlog.ladder.levels):
        for rows, least, used in ((held.rows[i], level.first, taken < i), (held.lower[i], 0, taken == i)):
            mine, q = np.flatnonzero(used), level.quantum
            above = level.above[sources[mine]]
            first = np.ceil((floor[mine] - above) / q - 1e-9) + level.base
            first = np.clip(first, least, level.end).astype(np.int64)
            below[mine] += below_floors(rows, sources[mine], first)
            keys, key = np.unique((which[mine] * (level.end + 1) + first) * E + sources[mine], return_inverse=True)
            order = np.argsort(key.ravel(), kind="stable")
            mine, to_one = mine[order], np.zeros_like(order)
            same, _, shifts, starts, taps = on_lattice(
                key.ravel()[order], to_one, chance[mine], change[mine] + above[order], variance[mine], q, 1
            )
            whose, rest = keys[same] % E, keys[same] // E
            to, floors = rest // (level.end + 1), rest % (level.end + 1)
            pad = int(np.maximum(-(floors + shifts), 0).max(initial=0))
            into = np.zeros((kinds, level.end + pad + int((shifts + np.diff(starts)).max(initial=0)) + 1))
            free_moves(rows, least, level.end, into, whose, to, shifts + pad, starts, taps, floors)
            for kind, row in enumerate(into):
                points[kind].append(np.arange(len(row), dtype=np.float64) * q - (level.base + pad) * q)
                masses[kind].append(row)
    return [(np.concatenate(a), np.concatenate(b)) for a, b in zip(points, masses)], below

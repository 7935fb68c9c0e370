"""The deliveries of a chain in quanta: a round of playback is a whole number of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coarse.merged import Merged, numbered
from ..kernels.buffer_moves import Totals
from .deliveries import Deliveries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE = 1e-9
"""Distance from a whole number of quanta that is none."""

ROUNDING = 1e-17
"""Probability that is none."""

MANY, CELLS = 300_000, 16
"""Transitions from which on a table of them is quicker than sorting; and places of the table for each of them at most.
"""


class Joint(NamedTuple):
    """Transitions by what is in order in their first round, and what arrives in all; as `Totals`."""

    starts: Ints
    target: Ints
    rounds: Ints
    ordered: Ints
    received: Ints
    chance: Floats


def joint(found: Deliveries, quantum: float, further: float = 0.0) -> Joint:
    """Return deliveries in quanta. What lies between two is shared by both, so that means are kept.

    Of transitions that take several rounds large numbers of them lie further apart, by a part `further` of themselves.
    """
    if len(found.chance) > MANY and (one := _joint_of_many(found, quantum, further)) is not None:
        return one
    columns = [found.source, found.target, found.rounds, found.ordered, found.held + found.second]
    chance = found.chance
    for i in (3, 4):
        columns, chance = between(columns, chance, i, columns[i] / quantum, np.where(columns[2] > 1, further, 0.0))
    return _joint(columns, chance, found.states)


def _joint_of_many(found: Deliveries, quantum: float, further: float) -> Joint | None:
    """Return the same as `joint` through one table of the quanta between each two states: nothing is sorted.

    None where the table is much larger than the transitions are many, as with windows of thousands of quanta.
    """
    longest = int(found.rounds.max()) + 1
    keys, group = numbered((found.source * found.states + found.target) * longest + found.rounds)
    apart = np.where(found.rounds > 1, further, 0.0)
    (low, high, share), (less, more, part) = (
        _around(packets / quantum, apart) for packets in (found.ordered, found.held + found.second)
    )
    tall, wide = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(tall, group, high + 1)
    np.maximum.at(wide, group, more + 1)
    begin = np.append(0, np.cumsum(tall * wide))
    if begin[-1] > CELLS * len(found.chance):
        return None
    cells, first, width = np.zeros(begin[-1]), begin[group], wide[group]
    for row, weight in ((low, found.chance * (1 - share)), (high, found.chance * share)):
        for column, of in ((less, 1 - part), (more, part)):
            cells += np.bincount(first + row * width + column, weight * of, len(cells))
    used = np.flatnonzero(cells)
    of_group = np.searchsorted(begin, used, "right") - 1
    ordered, later = np.divmod(used - begin[of_group], wide[of_group])
    between_states, rounds = np.divmod(keys[of_group], longest)
    source, target = np.divmod(between_states, found.states)
    starts = np.searchsorted(source, np.arange(found.states + 1))
    return Joint(starts, target, rounds, ordered, ordered + later, cells[used])


def larger(one: Joint, size: int) -> Joint:
    """Return the same in quanta of so many; means are kept."""
    states = len(one.starts) - 1
    source = np.repeat(np.arange(states), np.diff(one.starts))
    columns, chance = [source, one.target, one.rounds, one.ordered, one.received - one.ordered], one.chance
    for i in (3, 4):
        columns, chance = between(columns, chance, i, columns[i] / size, np.zeros(len(chance)))
    return _joint(columns, chance, states)


def _joint(columns: list[Ints], chance: Floats, states: int) -> Joint:
    columns[4] = columns[3] + columns[4]
    (source, target, rounds, ordered, received), chance = together(columns, chance)
    return Joint(np.searchsorted(source, np.arange(states + 1)), target, rounds, ordered, received, chance)


def between(columns: list[Ints], chance: Floats, i: int, at: Floats, further: Floats) -> tuple[list[Ints], Floats]:
    """Return rows whose column i is one of the whole numbers around `at`, or of those that are `spaced` further."""
    low, high, share = _around(at, further)
    more = share > 0
    upper = [one[more] for one in columns]
    upper[i] = high[more]
    columns = [low if j == i else one for j, one in enumerate(columns)]
    whole = [np.append(one, other) for one, other in zip(columns, upper)]
    return whole, np.append(chance * (1 - share), (chance * share)[more])


def _around(at: Floats, further: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the numbers below and above each of some, as `between` has them, and the share of the upper one."""
    low = np.floor(at + WHOLE).astype(np.int64)
    high = low + 1
    for part in np.unique(further[further > 0]).tolist():
        levels, apart = spaced(math.ceil(float(at.max())) + 2, part), further == part
        place = np.searchsorted(levels, at[apart] + WHOLE, "right") - 1
        low[apart], high[apart] = levels[place], levels[place + 1]
    return low, high, np.where(at - low > WHOLE, (at - low) / (high - low), 0.0)


def spaced(most: int, further: float) -> Ints:
    """Return whole numbers from 0 to `most` or more, each larger by a part of the one before, and by 1 at least."""
    found = [0]
    while found[-1] < most:
        found.append(found[-1] + max(1, int(further * found[-1])))
    return np.array(found)


def totals(one: Joint) -> Totals:
    """Return the sums over what is in order in the first round."""
    states = len(one.starts) - 1
    source = np.repeat(np.arange(states), np.diff(one.starts))
    columns = [source, one.target, one.rounds, one.received]
    (source, target, rounds, received), chance = together(columns, one.chance)
    some = np.abs(chance) > ROUNDING  # weights of opposite signs leave nothing
    source, target, rounds, received = (each[some] for each in (source, target, rounds, received))
    return Totals(np.searchsorted(source, np.arange(states + 1)), target, rounds, received, chance[some])


def smooth(found: Deliveries, quantum: float, many: int, due: float = 0.0) -> Totals:
    """Return deliveries in quanta, those between the same states on few of them, which keep as many moments.

    Of what is received so much is `due` in each round [packets], and taken off.
    """
    (source, target, rounds, received), chance = together(
        [found.source, found.target, found.rounds, found.ordered + found.held + found.second], found.chance
    )
    source, target, rounds, received, chance = (one[chance != 0] for one in (source, target, rounds, received, chance))
    unit = max(round(1 / quantum), 1)  # quanta, where a packet has several: nothing lies between them
    merged = Merged(np.column_stack([source, target, rounds]), chance)
    groups, which = merged.keys, merged.which
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which, minlength=len(groups)))
    x, w = ((received - due * rounds) / (quantum * unit))[order], chance[order]
    columns, chances = [], []
    for group, first, end in zip(groups, np.append(0, ends[:-1]), ends):
        lowest = math.floor(-due * group[2] / quantum + WHOLE) - many // 2 if due else 0
        nodes, weights = _few(x[first:end], w[first:end], many, lowest)
        columns.append(np.column_stack([np.tile(group, (len(nodes), 1)), nodes * unit]))
        chances.append(weights)
    keys, chance = together(list(np.concatenate(columns).T), np.concatenate(chances))
    source, target, rounds, received = (one[chance != 0] for one in keys)
    starts = np.searchsorted(source, np.arange(found.states + 1))
    return Totals(starts, target, rounds, received, chance[chance != 0])


def _few(x: Floats, weight: Floats, many: int, least: int) -> tuple[Ints, Floats]:
    """Return at most so many whole numbers, `least` or more, with weights that keep as many moments of a law."""
    low, high = math.floor(x.min() + WHOLE), math.ceil(x.max() - WHOLE)
    if high - low < many and (np.abs(x - np.rint(x)) < WHOLE).all():
        nodes = np.arange(low, high + 1)
        return nodes, np.bincount(np.rint(x).astype(np.int64) - low, weight, len(nodes)).astype(np.float64)
    size = np.abs(weight)
    mean = float(x @ size / size.sum())
    spread = math.sqrt(float((x - mean) ** 2 @ size / size.sum()))
    step = max(1, round(spread * (2 if many == 2 else 1)))  # two keep the variance, too
    first = max(round(mean - step * (many - 1) / 2), least)  # around the mean: a round that nothing changes is stable
    nodes = first + step * np.arange(many)
    scaled = (nodes - mean) / step
    moments = [float(((x - mean) / step) ** k @ weight) for k in range(many)]
    return nodes, np.asarray(np.linalg.solve(np.vander(scaled, increasing=True).T, moments), dtype=np.float64)


def together(columns: list[Ints], chance: Floats) -> tuple[list[Ints], Floats]:
    """Return rows that differ, in order, with the sums of their probabilities."""
    found = Merged(np.column_stack(columns), chance)
    return list(np.ascontiguousarray(found.keys.T)), found.weight

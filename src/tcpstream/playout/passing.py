"""Transitions by what their first round must deliver, that a player plays on or begins to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..coarse.merged import Merged
from ..kernels.buffer_moves import Lacking, Passing
from .lattice import ROUNDING, WHOLE, Joint, between, together

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def passing(one: Joint, more: float, exact: bool, most: int = 1 << 30) -> Passing:
    """Return transitions by what their first round must deliver.

    Parameters
    ----------
    one : Joint
    more : float
        Quanta above k - 1 from which on it is enough, 0.5 to 1.5; 1 where quanta are whole packets.
    exact : bool
        Whether they are.
    most : int
        K at most.
    """
    states = len(one.starts) - 1
    source = np.repeat(np.arange(states), np.diff(one.starts))
    merged = Merged(np.column_stack([source, one.target, one.rounds, one.received]), one.chance)
    keys = merged.keys
    largest = min(int(one.ordered.max()), most + 2)
    chance = np.zeros((len(keys), largest + 3))
    np.add.at(chance, (merged.which, np.minimum(one.ordered, largest)), one.chance)
    at_least = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
    ordered = np.zeros(states, dtype=np.int64)
    np.maximum.at(ordered, source, one.ordered)
    K = np.minimum(ordered + 1, most)
    counts = np.bincount(keys[:, 0], minlength=states)
    first = np.cumsum(counts) - counts
    begin = np.append(0, np.cumsum(K))
    state = np.repeat(np.arange(states), K)
    many = counts[state]
    starts = np.append(0, np.cumsum(many))
    at = np.repeat(first[state] - starts[:-1], many) + np.arange(starts[-1])
    k = np.repeat(np.arange(begin[-1]) - begin[state], many)
    whole, part = (0, 0.0) if exact else divmod(more - 0.5, 1.0)
    place = np.minimum(k + int(whole) + 1, largest + 2), np.minimum(k + int(whole) + 2, largest + 2)
    enough = (1 - part) * at_least[at, place[0]] + part * at_least[at, place[1]]
    short = at_least[at, 0] - enough
    target, rounds, received = (np.ascontiguousarray(keys[at, i]) for i in (1, 2, 3))
    return Passing(begin, starts, target, rounds, received, enough, np.where(np.abs(short) > ROUNDING, short, 0.0))


def lacking(one: Joint, more: float, exact: bool, quanta: int, further: float) -> Lacking:
    """Return transitions whose first round delivers less than k = 1 .. `quanta`; others as for both."""
    states = len(one.starts) - 1
    source = np.repeat(np.arange(states), np.diff(one.starts))
    columns, chances = [], []
    for k in range(1, quanta + 1):
        chance = one.chance * (1 - passed(one.ordered, k - 1 + more, exact))
        used = (chance != 0) & (one.ordered <= k)
        held = one.received - one.ordered
        columns.append(np.column_stack([source * quanta + k - 1, one.target, one.rounds, one.ordered, held])[used])
        chances.append(chance[used])
    rows, chance = list(np.concatenate(columns).T), np.concatenate(chances)
    if further > 0:
        rows, chance = between(rows, chance, 4, rows[4].astype(np.float64), np.full(len(chance), further))
    keys, chance = together(rows, chance)
    which, target, rounds, ordered, held = keys
    return Lacking(np.searchsorted(which, np.arange(states * quanta + 1)), target, rounds, ordered, held, chance)


def passed(ordered: Ints, least: float, exact: bool) -> Floats:
    """Return which part of quanta is at least a number of them: each stands for what is half a quantum around it."""
    if exact:
        return (ordered >= least - WHOLE).astype(np.float64)
    return np.clip(ordered - least + 0.5, 0.0, 1.0)

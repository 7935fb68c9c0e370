"""Which leads over playback are followed: each quantum up to some rounds of playback, and few beyond."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_leads import Deep, Leads
from ..kernels.buffer_moves import Totals
from ..numerics.weights import lagrange
from .deliveries import Deliveries
from .fineness import Fineness
from .lattice import smooth

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WHOLE = 1e-9
"""Distance from a whole number that is none."""

NODES, TWO = 6, 2
"""Leads that stand for what arrives between the same states, where much is held; and where a buffer may become full."""

UNBOUNDED = 1 << 40
"""Quanta that no lead has."""

MARGIN, NEAR = 2, 4
"""Rounds of playback that the least of these leads have at least; and rounds more, up to which each quantum of a lead
is followed."""

READ = 8
"""Rounds of playback more, of which each quantum is read off these leads, as most transitions lead there."""

MOST = 256
"""Rounds of playback up to which leads are as far apart as they are told to be; beyond, as many times further apart."""

FEW = 4
"""Points that are further apart, for which it is not worth while."""


def points(on: Fineness, top: int) -> tuple[int, int, int]:
    """Return up to how many quanta each is followed, and is a point, and how many points there are up to `top`."""
    every = _every(on, top)
    followed = every * math.ceil((_margin(on, every) + NEAR * on.quanta) / max(every, 1))
    even = followed + READ * on.quanta
    if every <= 1 or top < even + FEW * every:
        return top + 1, top + 1, top + 1
    return followed, even, even + math.ceil((top - followed) / every) + 1


def wide(on: Fineness, packets: float) -> bool:
    """Return whether so many packets are held at one of the leads that are further apart, and far from the others."""
    top = math.floor(packets / on.quantum)
    _, even, many = points(on, top)
    return many < top + 1 and top > even


def _every(on: Fineness, top: int) -> int:
    """Return the quanta between leads up to so many, where much is held."""
    return int(on.apart * on.quanta * max(1, top // (MOST * on.quanta)))


def _margin(on: Fineness, every: int) -> int:
    """Return the least lead with transitions on points that are so many quanta apart [quanta]."""
    return MARGIN * on.quanta + NODES // 2 * every


def leads(
    found: Deliveries, on: Fineness, top: int, stop: float = math.inf
) -> tuple[Leads, Deep, int]:  # fmt: skip
    """Return the points of leads up to so many quanta, the transitions between them, and how many they are.

    With a buffer that is full with `stop` quanta.
    """
    longest, every = int(found.rounds.max()), _every(on, top)
    followed, even, many = points(on, top)
    if many == top + 1:
        none = np.zeros(0, dtype=np.int64)
        changes = Totals(np.zeros(found.states + 1, dtype=np.int64), none, none, none, np.zeros(0))
        return (
            Leads(followed, even, 1, np.zeros((1, 4))),
            Deep(changes, changes, np.zeros(longest + 1, dtype=np.int64), np.full(found.states, UNBOUNDED)),
            many,
        )
    nodes = np.tile(np.arange(-1.0, 3.0), (every, 1))
    weights = lagrange(nodes, np.arange(every) / every)
    scale = on.scale(found)
    changes = smooth(found, on.quantum * every / scale, NODES, on.due / scale)
    begins = -(-(np.arange(longest + 1) * on.quanta + _margin(on, every)) // every)
    at_top = smooth(found, on.quantum * every / scale, TWO, on.due / scale) if math.isfinite(stop) else changes
    full = becomes_full(changes, changes.received, stop / every)
    return Leads(followed, even, every, weights), Deep(changes, at_top, begins, full), many


def becomes_full(moves: Totals, ahead: Ints, stop: float) -> Ints:
    """Return from what lead on each state may reach `stop`, where its transitions lead so far `ahead`.

    There what comes after is no longer as smooth a function of the lead as elsewhere: several leads, some with negative
    weights, do not stand for what arrives.
    """
    states = len(moves.starts) - 1
    if not math.isfinite(stop):
        return np.full(states, UNBOUNDED)
    furthest = np.zeros(states, dtype=np.int64)
    np.maximum.at(furthest, np.repeat(np.arange(states), np.diff(moves.starts)), ahead)
    first: Ints = np.floor(stop - furthest + WHOLE).astype(np.int64)
    return first


class Reads(NamedTuple):
    """Points that leads between them are read off, and their weights: (n, 4) arrays."""

    points: Ints
    weights: Floats


def held_at(leads: Leads, many: int) -> Floats:
    """Return the quanta of each of so many points."""
    deep = leads.followed + leads.every * np.arange(max(many - leads.even, 0))
    return np.append(np.arange(min(many, leads.even)), deep).astype(np.float64)


def read_at(leads: Leads, many: int, held: Floats) -> Reads:
    """Return how leads, in parts of quanta, are read off so many points, as `kernels.buffer_leads` has it."""
    every = leads.every
    deep = held >= leads.even
    low = np.floor(np.where(deep, held / every, held) + WHOLE)
    beyond = np.where(deep, held / every, held) - low
    beyond[np.abs(beyond) < WHOLE] = 0.0
    at = np.where(deep, leads.even + low - leads.followed // every, low).astype(np.int64)
    cubic = deep & (at < many - 2) & (beyond > 0)
    weights = np.zeros((len(held), 4))
    weights[:, 1], weights[:, 2] = 1 - beyond, beyond
    weights[cubic] = lagrange(np.tile(np.arange(-1.0, 3.0), (int(cubic.sum()), 1)), beyond[cubic])
    before = np.where(low * every - every < leads.followed, low * every - every, at - 1).astype(np.int64)
    before = np.where(deep, before, at - 1)
    points = np.minimum(np.column_stack([np.maximum(before, 0), at, at + 1, at + 2]), many - 1)
    return Reads(points, weights)

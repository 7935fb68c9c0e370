"""The moves of a chain in steps, on a lattice of packets or of leads."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.bells import with_bells
from ..kernels.on_lattice import on_lattice
from .merged import numbered
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


MARGIN = 4
"""Positions above a lattice, to which moves lead that leave it."""


@dataclass(frozen=True)
class Moves:
    """Moves on a lattice: see `kernels.bells.with_bells`."""

    sources: Ints
    targets: Ints
    lags: Ints
    bells: Ints
    shifts: Ints
    starts: Ints
    taps: Floats

    def part(self, which: slice) -> Moves:
        """Return those that follow each other from one to another, with the taps of all."""
        starts = self.starts[which.start : which.stop + 1]
        return Moves(
            self.sources[which], self.targets[which], self.lags[which], self.bells[which], self.shifts[which], starts,
            self.taps,
        )  # fmt: skip

    def in_order(self, order: Ints) -> Moves:
        """Return the same moves in an order."""
        counts = np.diff(self.starts)[order]
        starts = np.append(0, np.cumsum(counts))
        taps = np.repeat(self.starts[order] - starts[:-1], counts) + np.arange(starts[-1])
        return Moves(
            self.sources[order], self.targets[order], self.lags[order], self.bells[order], self.shifts[order], starts,
            self.taps[taps],
        )  # fmt: skip


def offsets(steps: Steps, quantum: float, due: float = 0.0) -> Floats:
    """Return what the positions of each entry lie above the lattice: so growth moves a whole number of quanta."""
    return np.asarray((steps.grid.sent - due * steps.grid.ages) % quantum)[steps.points]


def moves(steps: Steps, quantum: float, due: float = 0.0) -> Moves:
    """Return the moves on a lattice of so many packets; `due` packets per round are played meanwhile."""
    keys = steps.lag * steps.entries + steps.target
    unique, target = numbered(keys)
    above = offsets(steps, quantum, due)
    mean = steps.mean - due * steps.elapsed + above[steps.source] - above[steps.target]
    sources, targets, bells, shifts, starts, taps = with_bells(
        steps.source, target, steps.weight, mean, steps.variance, quantum, len(unique)
    )
    to, lags = unique[targets] % steps.entries, unique[targets] // steps.entries
    return Moves(sources, to, lags, bells, shifts, starts, taps)


@dataclass(frozen=True)
class Floored:
    """Moves on a lattice of leads, of which those below a floor are late.

    Attributes
    ----------
    moves : Moves
        Which count from position `floors` on.
    floors : (n,) int array
    edges : Moves
        What counts more or less at the first position: a floor lies between two. Sources are indices in `at`.
    at : (m, 2) int array
        Row and position.
    """

    moves: Moves
    floors: Ints
    edges: Moves
    at: Ints


def unfloored(steps: Steps, quantum: float, due: float) -> NDArray[np.bool_]:
    """Return which moves count from a lead of 0 on: what of them is below 0 is late by itself, or none is."""
    at_end = steps.least > steps.mean - due * steps.elapsed - quantum / 2
    return np.asarray(((steps.variance > 0.5 * quantum**2) & at_end) | (steps.least >= 0))


def floored(
    steps: Steps, quantum: float, due: float, top: float, further: float = 0.0, averaged: bool = True
) -> Floored:
    """Return the moves on a lattice of leads; sources lie `further` above it [packets], and from `top` on all is alike.

    A floor between two positions counts as if it were in the middle between them: so the values at the upper one are
    changed by what this is wrong, and their integral over the leads is right. A floor between a lead of 0 and the first
    position, below which nothing counts: what leads there takes it for one at 0, and the values are changed by the
    difference. Not so if it is not `averaged`: then each position is right by itself. Nor where an entry leads back to
    itself within a quantum: the same floor would change the same values in every step, and they would grow without end.
    """
    above, most = offsets(steps, quantum, due), math.ceil(top / quantum) + MARGIN
    source = above[steps.source] + further
    mean = steps.mean - due * steps.elapsed + source - above[steps.target]
    place = (-steps.least - source) / quantum
    alone = unfloored(steps, quantum, due)
    floor = np.where(alone, 0, np.maximum(np.ceil(place - 1e-9), 0)).astype(np.int64)
    E, F = steps.entries, int(floor.max(initial=0)) + 1
    keys, target = numbered((steps.lag * E + steps.target) * F + floor)
    sources, targets, bells, shifts, starts, taps = with_bells(
        steps.source, target, steps.weight, mean, steps.variance, quantum, len(keys), most
    )
    to, lag, floors = keys[targets] // F % E, keys[targets] // F // E, keys[targets] % F
    moves = Moves(sources, to, lag, bells, shifts, starts, taps)
    stays = (steps.source == steps.target) & (np.abs(mean) < quantum)
    change = np.where(floor > 0, np.clip(floor - place - 0.5, -0.5, 0.5), np.where(alone, 0.0, steps.least / quantum))
    edge = np.flatnonzero(((floor > 0) | (change < 0)) & averaged & ~stays)
    places, which = np.unique(steps.source[edge] * F + floor[edge], return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    which, edge = which.ravel()[order], edge[order]
    keys, target = np.unique(steps.lag[edge] * E + steps.target[edge], return_inverse=True)
    weight = steps.weight[edge] * change[edge]
    sources, targets, bells, shifts, starts, taps = with_bells(
        which, target.ravel(), weight, mean[edge], steps.variance[edge], quantum, max(len(keys), 1), most
    )
    edges = Moves(sources, keys[targets] % E, keys[targets] // E, bells, shifts, starts, taps)
    at = np.column_stack([places // F, places % F])
    return Floored(moves, np.ascontiguousarray(floors), edges, at)


def collect(steps: Steps, quantum: float, due: float = 0.0) -> Moves:
    """Return what moves all entries to one row."""
    source = np.arange(steps.entries)
    sources, targets, shifts, starts, taps = on_lattice(
        source, np.zeros_like(source), np.ones(len(source)), offsets(steps, quantum, due), np.zeros(len(source)),
        quantum, 1,
    )  # fmt: skip
    return Moves(sources, targets, np.ones_like(sources), np.zeros_like(sources), shifts, starts, taps)


def not_in_order(steps: Steps, quantum: float) -> Moves:
    """Return what moves to one row at the end of a step to change what is received to what is in order."""
    source = np.repeat(steps.holding, 2)
    sign = np.tile([1.0, -1.0], len(steps.holding))
    weight = np.repeat(steps.held[:, 0], 2) * sign
    mean = np.repeat(steps.held[:, 1], 2) - np.repeat(steps.held[:, 3], 2) * (sign > 0)
    mean += offsets(steps, quantum)[source]
    order = np.argsort(source, kind="stable")
    sources, targets, shifts, starts, taps = on_lattice(
        source[order], np.zeros(len(source), dtype=np.int64), weight[order], mean[order],
        np.repeat(steps.held[:, 2], 2)[order], quantum, 1,
    )  # fmt: skip
    return Moves(sources, targets, np.ones_like(sources), np.zeros_like(sources), shifts, starts, taps)

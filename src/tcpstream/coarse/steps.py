"""A chain in steps of several rounds: moves between what is followed, in moments, and on a lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..kernels.propagate import propagate
from ..numerics.linear import solve
from ..tcp.chain import Chain
from ..tcp.window_chain import WindowChain
from .grid import Grid, grid
from .outcomes import outcomes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEGLIGIBLE = 1e-12
"""Probability of a path within a step that is not followed."""


@dataclass(frozen=True)
class Steps:
    """A chain in steps of several rounds.

    An entry is a state of the grid at a round of the step, 0 for most: waits end in the middle of a step.

    Attributes
    ----------
    step : int
        Rounds.
    grid : Grid
    points, times : (E,) int arrays
        Entries: index in the grid's states, and round of the step. Those of round 0 come first, in order.
    source, target, lag : (k,) int arrays
        Moves from entry to entry, so many steps later.
    weight, mean, variance, least, elapsed : (k,) arrays
        Probability (weights of a grid may be negative), packets received and their variance, the least lead on the way
        (without playback: 0 at most), and rounds.
    holding, held : (l,) and (l, 4) arrays
        See `kernels.propagate.propagate`.
    start : int
        Entry in which a video begins.
    scale : float
        Factor of all packets by which the throughput is that of the chain; near 1.
    """

    chain: Chain
    step: int
    due: float
    grid: Grid
    points: Ints
    times: Ints
    source: Ints
    target: Ints
    lag: Ints
    weight: Floats
    mean: Floats
    variance: Floats
    least: Floats
    elapsed: Floats
    holding: Ints
    held: Floats
    start: int
    scale: float

    @classmethod
    def of(cls, chain: Chain, step: int, ratio: float = 1.2, due: float = 0.0) -> Steps:
        """Return a chain in steps of so many rounds.

        Parameters
        ----------
        chain : Chain
        step : int
            Rounds >= 1.
        ratio : float
            See `coarse.grid.grid`.
        due : float
            m, packets due per round, for the least lead.
        """
        known = outcomes(chain)
        on = grid(chain, known, step, ratio)
        phases = np.unique(np.array([0, 1, *(round(step * i / 4) for i in range(4))] if step > 4 else range(step)))
        n = len(on.states)
        entries = {(point, 0): point for point in range(n)}
        new = list(entries)
        parts = []
        while new:
            first = len(entries) - len(new)
            points, times = (np.array(column, dtype=np.int64) for column in zip(*new))
            landed, moments, holding, held = propagate(
                known.starts, known.to, known.rounds, known.chance, known.mean, known.variance, known.ordered,
                on.states[points], times, step, due, NEGLIGIBLE, 1, 1.0,
            )  # fmt: skip
            elapsed = (landed[:, 2] - times[landed[:, 0]]).astype(np.float64)
            record = projected(on, phases, step, landed)
            found = np.unique(np.column_stack([record[1], record[2]]), axis=0)
            new = []
            for point, phase in found.tolist():
                if (point, phase) not in entries:
                    entries[point, phase] = len(entries)
                    new.append((point, phase))
            which = record[0]
            parts.append((first, landed, moments, holding, held, elapsed, record, which))
        return _assembled(cls, chain, step, due, on, entries, parts)

    @property
    def entries(self) -> int:
        """How many there are."""
        return len(self.points)


def projected(on: Grid, phases: Ints, step: int, landed: Ints) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return, for each landing and what stands for it: its index, point, phase, lag and weight."""
    counts = on.starts[landed[:, 1] + 1] - on.starts[landed[:, 1]]
    which = np.repeat(np.arange(len(landed)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = on.starts[landed[which, 1]] + within
    time = landed[which, 2]
    lag, phase = time // step, time % step
    bounds = np.append(phases, step)
    low = np.searchsorted(bounds, phase, "right") - 1
    upper = (phase - bounds[low]) / (bounds[low + 1] - bounds[low])
    both = [(low, 1 - upper), (low + 1, upper)]
    columns = []
    for place, share in both:
        used = share > 0
        over = bounds[place[used]] == step
        columns.append((
            which[used], on.points[at[used]], np.where(over, 0, bounds[place[used]]), lag[used] + over,
            on.weights[at[used]] * share[used],
        ))  # fmt: skip
    return tuple(np.concatenate(one) for one in zip(*columns))  # type: ignore[return-value]


def _assembled(cls, chain, step, due, on, entries, parts):  # type: ignore[no-untyped-def]
    number = np.full((len(on.states), step + 1), -1)
    for (point, phase), entry in entries.items():
        number[point, phase] = entry
    source, target, lag, weight, mean, variance, least, elapsed, holding, held = ([] for _ in range(10))
    for first, landed, moments, hold, h, spent, record, which in parts:
        source.append(landed[which, 0] + first)
        target.append(number[record[1], record[2]])
        lag.append(record[3])
        weight.append(moments[which, 0] * record[4])
        mean.append(moments[which, 1])
        variance.append(moments[which, 2])
        least.append(moments[which, 3])
        elapsed.append(spent[which] + 0.0)
        holding.append(hold + first)
        held.append(h)
    source = np.concatenate(source)
    order = np.argsort(source, kind="stable")
    sorted_ = [np.concatenate(x)[order] for x in (target, lag, weight, mean, variance, least, elapsed)]
    points = np.array([key[0] for key in entries], dtype=np.int64)
    times = np.array([key[1] for key in entries], dtype=np.int64)
    first_state = chain.graph.start if isinstance(chain, WindowChain) else chain.written_out.start
    begin = on.points[on.starts[first_state]]
    source = source[order]
    target, lag, weight, mean, variance, least, elapsed = sorted_
    scale = chain.packets_per_round / _throughput(len(points), source, target, weight, mean, elapsed)
    held = np.concatenate(held)
    held[:, 1] *= scale
    return cls(
        chain, step, due, replace(on, sent=on.sent * scale), points, times, source, target, lag, weight, mean * scale,
        variance, least + (scale - 1) * mean, elapsed, np.concatenate(holding), held, int(begin), scale,
    )  # fmt: skip


def _throughput(n: int, source: Ints, target: Ints, weight: Floats, mean: Floats, elapsed: Floats) -> float:
    """Return the packets per round of the moves between n entries in the long run."""
    states, others = np.arange(n), target < n - 1  # the last balance follows from the others
    pi = solve(
        np.concatenate([states[:-1], target[others], np.full(n, n - 1)]),
        np.concatenate([states[:-1], source[others], states]),
        np.concatenate([np.ones(n - 1), -weight[others], np.ones(n)]),
        np.eye(1, n, n - 1)[0],
    )
    visits = pi[source] * weight
    return float((visits @ mean) / (visits @ elapsed))

"""A chain in steps of several rounds: moves between what is followed, in moments, and on a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.propagate import propagate
from ..system import watch
from ..tcp.chain import Chain
from .in_moments import in_moments, long_run, throughput
from .state_grid import SMALL, Grid, grid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDER = 2.0
"""Factor of standard deviations up to which moves are given the chain's: what is random in steps is rounding where next
to nothing is in the chain."""

NEGLIGIBLE = 1e-12
"""Probability of a path within a step that is not followed."""


Projected = tuple[Ints, Ints, Ints, Ints, Floats]


class _Landed(NamedTuple):
    """What `propagate` returns for entries from `first` on, which start at `times`, and what stands for it."""

    first: int
    times: Ints
    landed: Ints
    moments: Floats
    holding: Ints
    held: Floats
    projected: Projected


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
        Entries: index in the grid's states, and round of the step. Those of round 0 come first, in order, unless they
        were brought into another one.
    source, target, lag : (k,) int arrays
        Moves from entry to entry, so many steps later.
    weight, mean, variance, least, elapsed : (k,) arrays
        Probability (weights of a grid may be negative), packets received and their variance, the least lead on the way
        (without playback: 0 at most), and rounds.
    holding, held : (l,) and (l, 4) arrays
        See `kernels.propagate.propagate`.
    start : int
        Entry in which a video begins.
    scale, drift : float
        Factor of all packets, near 1, and packets added to them in each round: so the throughput is that of the chain,
        and its variance in the long run where the steps are diffusive.
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
    drift: float

    @classmethod
    def of(
        cls, chain: Chain, step: int, ratio: float = 1.2, due: float = 0.0, small: float = SMALL,
        diffusive: bool = False, kept: bool = False,
    ) -> Steps:  # fmt: skip
        """Return a chain in steps of so many rounds.

        Parameters
        ----------
        chain : Chain
        step : int
            Rounds >= 1.
        ratio, small : float
            See `coarse.state_grid.grid`.
        due : float
            m, packets due per round, for the least lead.
        diffusive : bool
            Whether many losses decide together, so that the variance in the long run matters: moves are given that of
            the chain, by what each is off the mean. Else waits and small windows stay what they are.
        kept : bool
            Whether what is delivered later is kept where points of CUBIC's lines stand for a state.
        """
        known = in_moments(chain).outcomes
        on = grid(chain, step, ratio, small)
        phases = np.unique(np.array([0, 1, *(round(step * i / 4) for i in range(4))] if step > 4 else range(step)))
        entries = {(point, 0): point for point in range(len(on.states))}
        new = list(entries)
        found: list[_Landed] = []
        while new:
            watch.at()
            first = len(entries) - len(new)
            points, times = (np.array(column, dtype=np.int64) for column in zip(*new))
            made = propagate(
                known.starts, known.to, known.rounds, known.chance, known.mean, known.variance, known.ordered,
                on.states[points], times, step, due, NEGLIGIBLE, 1, 1.0, 0,
            )  # fmt: skip
            one = _Landed(first, times, *made, projected(on, phases, step, made[0]))
            found.append(one)
            reached = np.zeros((len(on.states), step + 1), dtype=np.bool_)
            reached[one.projected[1:3]] = True
            new = [(point, phase) for point, phase in np.argwhere(reached).tolist() if (point, phase) not in entries]
            entries |= {key: len(entries) + i for i, key in enumerate(new)}
        return cls._assembled(chain, step, due, on, entries, found, diffusive, kept)

    @classmethod
    def _assembled(
        cls, chain: Chain, step: int, due: float, on: Grid, entries: dict[tuple[int, int], int], found: list[_Landed],
        diffusive: bool, kept: bool,
    ) -> Steps:  # fmt: skip
        points, times = (np.array(column, dtype=np.int64) for column in zip(*entries))
        number = np.full((len(on.states), step + 1), -1)
        number[points, times] = np.arange(len(entries))
        columns = []
        kept = kept and on.curved
        later = in_moments(chain).outlook if kept else np.zeros(0)
        for one in found:
            which, point, phase, lag, weight = one.projected
            chance, mean, variance, least = one.moments[which].T
            if kept:
                mean = mean + _off(on, later, one)
            begun = one.landed[which, 0]
            elapsed = one.landed[which, 2] - one.times[begun]
            columns.append(
                (begun + one.first, number[point, phase], lag, chance * weight, mean, variance, least, elapsed)
            )
        source, target, lag, weight, mean, variance, least, elapsed = (np.concatenate(x) for x in zip(*columns))
        weight /= np.bincount(source, weight, len(points))[source]  # rare states are left out
        order = np.argsort(source.astype(np.min_scalar_type(len(points))), kind="stable")  # quick for small numbers
        elapsed = elapsed.astype(np.float64)
        scale, drift = chain.packets_per_round / throughput(source, target, weight, mean, elapsed, len(points)), 0.0
        if diffusive:
            rate, wide = in_moments(chain).rates
            on_steps = step * lag + times[target] - times[source]
            mean_rate, variance_rate, _ = long_run(source, target, weight, mean, variance, on_steps, len(points))
            wanted = math.sqrt(wide / variance_rate) if min(wide, variance_rate) > 0 else 0.0
            if 1 / WIDER <= wanted <= WIDER:
                scale, drift = wanted, rate - wanted * mean_rate
        more = (scale - 1) * mean + drift * elapsed
        holding = np.concatenate([one.holding + one.first for one in found])
        held = np.concatenate([one.held for one in found])
        held[:, 1] = scale * held[:, 1] + drift * (step - times[holding])
        held[:, 2] *= scale**2
        first = chain.first_state
        return cls(
            chain=chain, step=step, due=due, grid=replace(on, sent=on.sent * scale + on.ages * drift), points=points,
            times=times, source=source[order], target=target[order], lag=lag[order], weight=weight[order],
            mean=(mean + more)[order], variance=variance[order] * scale**2, least=(least + more)[order],
            elapsed=elapsed[order], holding=holding, held=held, start=int(on.points[on.starts[first]]), scale=scale,
            drift=drift,
        )  # fmt: skip

    def corrected(self, packets: Floats, rounds: NDArray[np.number]) -> Floats:
        """Return packets that the chain delivers in some rounds, as moves have them."""
        return np.asarray(packets * self.scale + rounds * self.drift)

    def only(self, which: NDArray[np.bool_] | Ints) -> Steps:
        """Return the same with some of the moves, or with all in an order."""
        names = "source", "target", "lag", "weight", "mean", "variance", "least", "elapsed"
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def in_order(self, order: Ints) -> Steps:
        """Return the same with the entries in an order."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        moved = replace(
            self, points=self.points[order], times=self.times[order], source=place[self.source],
            target=place[self.target], holding=place[self.holding], start=int(place[self.start]),
        )  # fmt: skip
        return moved.only(np.argsort(moved.source, kind="stable"))

    @property
    def entries(self) -> int:
        """How many there are."""
        return len(self.points)


def _off(on: Grid, later: Floats, one: _Landed) -> Floats:
    """Return the packets that landings deliver later, over those of the points that stand for them."""
    which, point, *_, weight = one.projected
    off = later[one.landed[which, 1]] - later[on.states[point]]
    return np.bincount(which, weight * off, len(one.landed)).astype(np.float64)[which]


def projected(on: Grid, phases: Ints, step: int, landed: Ints) -> Projected:
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

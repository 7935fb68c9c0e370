"""A chain in steps of several rounds, with the backlog of a live stream: ways from a step's begin to its end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.backlog_paths import backlog_paths, resting, rests
from ..tcp.chain import Chain
from ..tcp.varying_chain import VaryingChain
from .merged import Merged
from .outcomes import Outcomes, Parts, outcomes
from .steps import NEGLIGIBLE, Steps, projected

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ends(NamedTuple):
    """Where ways end; several times for each way, if the regime of a path may change in its silence.

    Attributes
    ----------
    backlog, variance : (n,) arrays
        Mean and variance.
    silent : (n,) array
        Rounds of silence on the way.
    resting : (n,) bool array
        Whether it rests then.
    way, target : (n,) int arrays
        The way, and the entry that it ends in.
    weight : (n,) array
        Probability.
    """

    backlog: Floats
    variance: Floats
    silent: Floats
    resting: NDArray[np.bool_]
    way: Ints
    target: Ints
    weight: Floats

    def only(self, which: NDArray[np.bool_] | Ints) -> Ends:
        """Return some of them."""
        return Ends._make(one[which] for one in self)


@dataclass(frozen=True)
class Ways:
    """Ways between the entries of `Steps`, as they change the backlog.

    The backlog D of a live stream falls by what TCP sends and grows by `due` a round. Where it is small it comes to
    rest: it empties, a round is silent, and so on. A way from D leads to D + `change` where D is above `floor`;
    elsewhere it empties on the way, and ends as from an empty backlog.

    Attributes
    ----------
    steps : Steps
    due : float
        m, packets generated per round.
    rest : (E,) array
        Mean backlog of each entry at rest; 0 where a round sends hardly more than is due.
    sent : (E,) array
        Packets of a round without loss.
    source, target, lag : (k,) int arrays
    weight, change, variance : (k,) arrays
        Probability, mean and variance of the change [packets, packets^2].
    floor : (k,) array
        The largest backlog that empties on the way.
    from_rest, from_empty : Ends
        Where it ends, if it begins at rest, and with an empty backlog.
    holding : (l,) int array
    held : (l, 8) array
        What is received, but not in order, at the ends of steps: see `kernels.backlog_paths.backlog_paths`.
    """

    steps: Steps
    due: float
    rest: Floats
    sent: Floats
    source: Ints
    target: Ints
    lag: Ints
    weight: Floats
    change: Floats
    variance: Floats
    floor: Floats
    from_rest: Ends
    from_empty: Ends
    holding: Ints
    held: Floats

    @classmethod
    def of(cls, steps: Steps, due: float, parts: Parts = (), near: float = 0.1) -> Ways:
        """Return the ways of a chain in steps, with so many packets generated per round.

        Parameters
        ----------
        steps : Steps
        due : float
            m.
        parts : tuple of float
            In which losses are told apart: see `coarse.outcomes.outcomes`.
        near : float
            Of the packets of a round of playback: ways that end, and empty the backlog, so near are one.
        """
        on, step = steps.grid, steps.step
        states, times = on.states[steps.points], steps.times
        known = outcomes(steps.chain, parts, states if step == 1 else None)
        sent = _sent(known, states)
        sent = np.where(sent > 0, steps.corrected(sent, np.ones_like(sent)), 0.0)
        rest = np.array([resting(w, due)[0] if rests(w, due, step) else 0.0 for w in sent])
        landed, moments, holding, held = backlog_paths(
            known.starts, known.to, known.rounds, known.chance, steps.corrected(known.mean, known.rounds),
            known.variance * steps.scale**2, steps.corrected(known.ordered, np.ones_like(known.rounds)), known.twice,
            states, times, rest, step, due, NEGLIGIBLE,
        )  # fmt: skip
        which, point, phase, lag, weight = projected(on, np.unique(times), step, landed)
        number = np.full((len(on.states), step + 1), -1)
        number[steps.points, steps.times] = np.arange(steps.entries)
        source = landed[which, 0]
        elapsed = (landed[which, 2] - times[source]).astype(np.float64)
        chance, packets, variance, *ends = moments[which].T
        rested, emptied, floor = ends[:3], ends[3:6], ends[6]
        target = number[point, phase]
        to_rest = (landed[which, 3:] == 1) & (rest[target] > 0)[:, np.newaxis]
        change, weight = due * elapsed - packets, chance * weight
        size = near * due
        alike = _near(size, rested[0], emptied[0], floor)
        merged = Merged(np.column_stack([source, target, lag, to_rest, weight > 0, *alike]), weight)
        keys = merged.keys
        every = np.arange(len(keys))
        from_rest, from_empty = (
            Ends(
                merged.mean(mean), merged.variance(mean, wide), merged.mean(silent), keys[:, 3 + i] == 1,
                every, keys[:, 1], merged.weight,
            )
            for i, (mean, wide, silent) in enumerate((rested, emptied))
        )  # fmt: skip
        from_rest, from_empty = (_changed(steps.chain, steps, one, rest) for one in (from_rest, from_empty))
        return cls(
            steps, due, rest, sent, keys[:, 0], keys[:, 1], keys[:, 2], merged.weight, merged.mean(change),
            merged.variance(change, variance), merged.mean(floor), from_rest, from_empty,
            *_missing(holding, held, due * (step - times[holding]).astype(np.float64), size),
        )  # fmt: skip

    @property
    def phase(self) -> Ints:
        """Round of the step in which each way ends."""
        return np.asarray(self.steps.times[self.target])


@singledispatch
def _changed(chain: Chain, steps: Steps, ends: Ends, rest: Floats) -> Ends:  # noqa: ARG001
    """Return ends after what changes in the rounds of silence: nothing."""
    return ends


@_changed.register
def _(chain: VaryingChain, steps: Steps, ends: Ends, rest: Floats) -> Ends:
    """Return ends after the changes of the regime in the rounds of silence.

    Steps are of one round: all entries begin with it.
    """
    on = steps.grid
    states = on.states[steps.points[ends.target]]
    known = chain.regimes[states]
    changing = (ends.silent > 0) & (known >= 0)
    found = [ends.only(~changing)]
    rounds = np.floor(ends.silent).astype(np.int64)
    chances = np.array([chain.switching.after(d) for d in range(int(rounds.max(initial=0)) + 2)])
    for i, j, to in chain.changes():
        mine = np.flatnonzero(changing & (known == i))
        part = (ends.silent - rounds)[mine]
        chance = (1 - part) * chances[rounds[mine], i, j] + part * chances[rounds[mine] + 1, i, j]
        into = to[states[mine] - chain.offsets[i]]
        counts = on.starts[into + 1] - on.starts[into]
        which = np.repeat(np.arange(len(mine)), counts)
        at = np.repeat(on.starts[into] - (np.cumsum(counts) - counts), counts) + np.arange(len(which))
        target = on.points[at]
        one = ends.only(mine[which])
        weight = one.weight * (chance[which] * on.weights[at])
        found.append(one._replace(target=target, weight=weight, resting=one.resting & (rest[target] > 0)))
    return Ends._make(np.concatenate(column) for column in zip(*found))


def _sent(known: Outcomes, states: Ints) -> Floats:
    """Return the packets of a round without loss, of some states; 0 for those that wait."""
    found = np.zeros(len(states))
    for i, s in enumerate(states.tolist()):
        first, end = known.starts[s], known.starts[s + 1]
        o = first + int(np.argmax(known.chance[first:end]))
        found[i] = known.mean[o] if known.rounds[o] == 1 else 0.0
    return found


def _near(size: float, *values: Floats) -> list[Ints]:
    """Return integers that are the same where values are the same, but for about a size."""
    return [np.rint(one / size).astype(np.int64) for one in values]


def _missing(holding: Ints, held: Floats, due: Floats, size: float) -> tuple[Ints, Floats]:
    """Return what is held at the ends of steps, where it is near the same together."""
    chance, packets, variance, missing, *ends = held.T
    alike = _near(size, packets - due, missing, *ends)
    merged = Merged(np.column_stack([holding, *alike]), chance)
    means = [merged.mean(one) for one in (missing, *ends)]
    return merged.keys[:, 0], np.column_stack(
        [merged.weight, merged.mean(packets), merged.variance(packets, variance), *means]
    )

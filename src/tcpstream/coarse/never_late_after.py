"""P(no packet is late) from some beginning on, over the lead: of states and leads that are random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .lead_level import between
from .never_late import NeverLate
from .state_grid import Grid
from .steps import Steps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Started(NamedTuple):
    """How playback starts.

    Attributes
    ----------
    state : (n,) int array
        Of the chain.
    lead, chance : (n,) arrays
        What has arrived more than is played then [packets], and its probability.
    """

    state: Ints
    lead: Floats
    chance: Floats


def on_entries(steps: Steps, begun: Started) -> Started:
    """Return a beginning by the entries of steps that stand for its states."""
    on: Grid = steps.grid
    entry = np.full(len(on.states), -1)
    begins = steps.times == 0
    entry[steps.points[begins]] = np.flatnonzero(begins)
    counts = on.starts[begun.state + 1] - on.starts[begun.state]
    which = np.repeat(np.arange(len(counts)), counts)
    at = np.repeat(on.starts[begun.state] - (np.cumsum(counts) - counts), counts) + np.arange(len(which))
    return Started(entry[on.points[at]], begun.lead[which], begun.chance[which] * on.weights[at])


def late_after(values: NeverLate, begun: Started, further: Floats, more: float = 0.0) -> Floats:
    """Return the probability that a packet is late in the steps to come, of a beginning by entries.

    Parameters
    ----------
    values : NeverLate
        Whose neighbouring levels know each other's values, as after `start_row` or `settle`.
    begun : Started
    further : (x,) array
        Packets by which leads are larger [packets].
    more : float
        The same, of all that are not below 0 without.
    """
    found = np.empty(len(further))
    for i, extra in enumerate(further.tolist()):
        leads = begun.lead + extra
        late = np.where(leads < 0, 1.0, 0.0)
        here = np.flatnonzero(leads >= 0)
        late[here] = 1 - _read(values, begun.state[here], leads[here] + more)
        found[i] = begun.chance @ late
    return found


def _read(values: NeverLate, entries: Ints, leads: Floats) -> Floats:
    """Return values of entries at leads: by cubics, where they do not overshoot."""
    found = np.ones(len(leads))
    left = np.ones(len(leads), dtype=np.bool_)
    leads = np.maximum(leads, 0.0)
    for level in values.levels:
        mine = np.flatnonzero(left & (leads < (level.points - 1) * level.quantum))
        left[mine] = False
        rows, end = entries[mine], level.inside.stop
        above = leads[mine] - level.offsets[rows]
        first, weights = between(above, level.quantum, level.ghosts, end)
        four = level.old[rows[:, np.newaxis], first[:, np.newaxis] + np.arange(4)]
        value = (four * weights).sum(axis=1)
        below = np.clip(np.floor(above / level.quantum).astype(np.int64) + level.ghosts - first, 0, 2)
        each = np.arange(len(mine))
        pair = four[each, below], four[each, below + 1]
        found[mine] = np.clip(value, np.minimum(*pair), np.maximum(*pair))
    return found

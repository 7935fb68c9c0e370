"""What each transition of a chain delivers, packet by packet: in its first round, and in a second one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from ..coarse.in_moments import throughput
from ..coarse.state_grid import grid
from ..errors import AccuracyError
from ..tcp.burst import BurstChain
from ..tcp.chain import Chain, Transitions
from ..tcp.independent import IndependentChain
from ..tcp.varying_chain import VaryingChain
from .rounds_with_losses import rounds_with_losses

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STATES, MOST_APART = 800, 1_600
"""Of a chain: CUBIC has thousands where losses are rare; and where they lie further apart with their age."""


@dataclass(frozen=True)
class Deliveries:
    """Transitions between the states that send a whole round.

    Attributes
    ----------
    states, start : int
        How many states there are, and in which a video begins.
    source, target, rounds : (k,) int arrays
        Rounds are 1 at least.
    ordered, held, second : (k,) int arrays
        Packets in order in the first round, those received out of order in it, which are in order in the next round,
        and those of a second round.
    short : (k,) bool array
        Whether the second round is a short one: with nothing left to send it waits.
    chance : (k,) array
        Those of a source sum to 1; where states stand for others, some are negative.
    scale : float
        Factor of all packets with which the throughput is that of the chain, near 1: states stand for others.
    numbers : (states,) int array or None
        Of the states in the chain, where they stand for others.
    """

    states: int
    start: int
    source: Ints
    target: Ints
    rounds: Ints
    ordered: Ints
    held: Ints
    second: Ints
    short: NDArray[np.bool_]
    chance: Floats
    scale: float = 1.0
    numbers: Ints | None = None


@singledispatch
def deliveries(chain: Chain, step: int = 1, ratio: float = 1.0, further: float = 0.0) -> Deliveries:  # noqa: ARG001
    """Return what the transitions of a chain deliver.

    Parameters
    ----------
    chain : Chain
    step : int
        Every how many rounds of a line of windows there is a state, where states can stand for others.
    ratio : float
        Of the windows of neighbouring lines of CUBIC that have states.
    further : float
        Part of the age of a state by which the next one of its line is older, where this is more than `step`.
    """
    return as_written_out(chain)


def most_states(chain: Chain, further: float) -> int:
    """Return how many states of a chain are followed at most; `further` as for `deliveries`."""
    return (MOST_APART if further else MOST_STATES) * chain.n_regimes


def as_written_out(chain: Chain) -> Deliveries:
    """Return them state by state."""
    rows = chain.written_out
    return Deliveries(
        rows.n_states, rows.start, rows.from_state, rows.to_state, rows.rounds, rows.in_order,
        rows.received - rows.in_order, np.zeros_like(rows.rounds), np.zeros(len(rows.rounds), dtype=np.bool_),
        rows.probability,
    )  # fmt: skip


@deliveries.register
def _(chain: BurstChain, step: int = 1, ratio: float = 1.0, further: float = 0.0) -> Deliveries:  # noqa: ARG001
    """Return them with each short round as the second one of the transition that leads to it."""
    rows = chain.written_out
    short = _short_rounds(rows)
    number = np.cumsum(~short) - 1
    order = np.argsort(rows.from_state, kind="stable")
    counts = np.bincount(rows.from_state, minlength=rows.n_states)
    first = np.cumsum(counts) - counts
    whole = ~short[rows.from_state]
    plain = np.flatnonzero(whole & ~short[rows.to_state])
    before = np.flatnonzero(whole & short[rows.to_state])
    many = counts[rows.to_state[before]]
    before = np.repeat(before, many)
    after = order[first[rows.to_state[before]] + _within(many)]
    return Deliveries(
        int((~short).sum()),
        int(number[rows.start]),
        number[np.append(rows.from_state[plain], rows.from_state[before])],
        number[np.append(rows.to_state[plain], rows.to_state[after])],
        np.append(rows.rounds[plain], rows.rounds[before] + rows.rounds[after]),
        np.append(rows.in_order[plain], rows.in_order[before]),
        np.append(rows.received[plain] - rows.in_order[plain], 0 * before),
        np.append(0 * plain, rows.received[after]),
        np.append(0 * plain, 0 * before + 1).astype(np.bool_),
        np.append(rows.probability[plain], rows.probability[before] * rows.probability[after]),
    )


def _short_rounds(rows: Transitions) -> NDArray[np.bool_]:
    lost = rows.fields.index("l")
    return np.array([label[lost] > 0 for label in rows.labels])


def _within(counts: Ints) -> Ints:
    """Return 0, 1, .. for each count, one after the other."""
    return np.asarray(np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))


@deliveries.register(IndependentChain)
@deliveries.register(VaryingChain)
def _(
    chain: IndependentChain | VaryingChain, step: int = 1, ratio: float = 1.0, further: float = 0.0
) -> Deliveries:  # fmt: skip
    """Return them between states on a grid, which stand for the others."""
    on = grid(chain, step, ratio, further=further)
    most = most_states(chain, further)
    if len(on.states) > most:
        raise AccuracyError(
            f"players are followed for TCP chains of up to {most:,} states, this one has "
            f"{len(on.states):,}: take tcp=reno-sack, a smaller max_window, or more media to start with, if next to "
            "none stall then"
        )
    rows = np.concatenate(list(rounds_with_losses(chain, on.states)))
    state, to = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    counts = on.starts[to + 1] - on.starts[to]
    which = np.repeat(np.arange(len(rows)), counts)
    at = on.starts[to[which]] + _within(counts)
    number = np.full(len(on.starts) - 1, -1)
    number[on.states] = np.arange(len(on.states))
    chance = rows[which, 6] * on.weights[at]
    source = number[state[which]]
    whole = np.bincount(source, chance, len(on.states))  # rare losses and states are left out
    first = int(on.points[on.starts[chain.first_state]])
    rounds, ordered, held, second = (rows[which, i].astype(np.int64) for i in (2, 3, 4, 5))
    target, chance = on.points[at], chance / whole[source]
    packets = (ordered + held + second).astype(np.float64)
    delivered = throughput(source, target, chance, packets, rounds.astype(np.float64), len(on.states))
    return Deliveries(
        len(on.states), first, source, target, rounds, ordered, held, second, second > 0, chance,
        chain.packets_per_round / delivered, on.states,
    )  # fmt: skip

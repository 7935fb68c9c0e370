"""Solving for the stationary backlog: loss epochs, each followed by a correction of the long waves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..numerics import linear
from ..numerics.lattices import Lattice
from ..numerics.stop_loss import Excess
from ..system import watch
from ..tcp.chain import Chain
from .long_waves import LARGEST, LongWaves, too_large
from .mixing import Mixing
from .operator import EpochOperator
from .select import epochs_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WANTED = 1e-12
"""Error bound that is aimed at."""

ACCEPTED = 1e-9
"""Error bound above which there is no answer."""

VISIBLE_LEVELS = 3
"""Back-off levels that set the decay where it is visible."""

PATIENCE = 12
"""Epochs that do not even halve the error, after which rounding is as good as it gets."""

SLOW = 10
"""Epochs that do not make the error as many times smaller, from which on corrections are mixed."""

UNAIDED = 100
"""The same without the correction of long waves."""


@dataclass(frozen=True)
class StationaryBacklog:
    """The stationary distribution of the backlog at the ends of rounds.

    Attributes
    ----------
    pmf : (depth + 1,) array
        Probability of an empty backlog, and of one of 1, 2, ... lattice steps; of 0, 1, ... where they hold a trace.
    lattice : Lattice
        Steps of the backlog, and the rate.
    residual : float
        Mass that one more epoch moves, per round.
    overflow : float
        Mass that leaves through the deepest backlog, per round.
    error_bound : float
        Bound on the error of a late fraction from both: each unit of either changes lateness at most until the
        backlog has emptied, before and after.
    epochs : int
        Loss epochs computed.
    excess : Excess
        E[(D - y)+] for every y.
    """

    pmf: Floats
    lattice: Lattice
    residual: float
    overflow: float
    error_bound: float
    epochs: int
    excess: Excess = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "excess", Excess.of(self.pmf, self.lattice))

    def late_fraction(self, delay: float) -> float:
        """Return f for a startup delay [rounds], >= 0."""
        m = self.lattice.packets_due
        return max(0.0, self.excess.between(m * delay, m * (delay + 1)) / m)


def drain_rounds(chain: Chain, packets_due: float) -> tuple[float, Floats]:
    """Return the rounds that a packet of backlog takes to drain, and the extra packets behind of each TCP state.

    The extra solves the Poisson equation of delivered packets against the mean rate; states as in
    `BurstChain.tilted`.
    """
    rate = chain.packets_per_round
    packets, rounds = chain.per_transition
    gain = packets - rate * rounds
    common = int(np.argmax(chain.stationary))  # its equation follows from the others
    gain[common] = 0.0
    rows, columns, values = chain.transform(0.0, 0.0)
    kept, states = rows != common, np.arange(len(gain))
    bias = linear.solve(
        np.concatenate([states, rows[kept]]), np.concatenate([states, columns[kept]]),
        np.concatenate([np.ones(len(gain)), -values[kept]]), gain,
        chain.junction_states,
    )  # fmt: skip
    return 1 / (rate - packets_due), bias.max() - bias


def solve(chain: Chain, lattice: Lattice) -> StationaryBacklog:
    """Solve for the stationary backlog, as deep as the error bound needs.

    Parameters
    ----------
    chain : Chain
        Must deliver more than `lattice.packets_due` per round.
    lattice : Lattice
        Of the backlog, and what is generated per round.

    Raises
    ------
    AccuracyError
        When the error bound stays above 1e-9, or the state would need more than 2^26 values.
    """
    operator = epochs_of(chain, lattice)
    packets_due, steps_per_packet = lattice.packets_due, lattice.steps_per_packet
    waves = LongWaves(operator)
    longest_wait = packets_due * chain.longest_wait()
    rounds_per_packet, behind = drain_rounds(chain, packets_due)
    further = longest_wait + behind.max()
    depth = waves.depth(WANTED * steps_per_packet / (2 * rounds_per_packet), further * steps_per_packet)
    epochs = 0
    while True:
        if operator.rows * (depth + 1) > LARGEST:
            raise too_large(operator, depth)
        before = np.arange(depth, -1, -1) / steps_per_packet + behind[operator.entered][:, np.newaxis]
        weight = 2 * rounds_per_packet * before
        deepest = 2 * rounds_per_packet * (depth / steps_per_packet + further)
        epoch, change, used = _iterate(operator, waves, depth, weight)
        epochs += used
        pmf = operator.occupancy(epoch)[::-1]
        rounds = pmf.sum()
        overflow = operator.overflow(epoch) / rounds
        wrong = np.abs(change) * weight / rounds
        error = float(wrong.sum() + overflow * deepest)
        if wrong[:, : waves.beyond].sum() + overflow * deepest <= WANTED:
            break
        depth = math.ceil(1.3 * depth)
    if not error <= ACCEPTED:
        raise AccuracyError(
            f"stationary backlog: error bound {error:.1e} exceeds {ACCEPTED:.0e} after {epochs} loss epochs"
        )
    return StationaryBacklog(
        pmf=pmf / rounds,
        lattice=lattice,
        residual=float(np.abs(change).sum() / rounds),
        overflow=overflow,
        error_bound=error,
        epochs=epochs,
    )


def _iterate(operator: EpochOperator[Any], waves: LongWaves, depth: int, weight: Floats) -> tuple[Any, Floats, int]:
    """Make epochs until one changes little; return the last one, its change of the entries, and how many.

    Where epochs hardly differ from each other, or blur no waves, the correction leaves much, and is mixed with those
    before; or it fails: where a buffer overflows and losses are rare. Then epochs are made without; half of each
    counts, as they may take turns.
    """
    entries, patience, epochs = waves.start(depth), PATIENCE if waves.apt else UNAIDED, 0
    rounds = 0.0
    errors: list[float] = []
    mixing = None
    while True:
        watch.at(_share(errors), 1.0)
        epoch = operator.epoch(entries)
        epochs += 1
        rounds = rounds or float(operator.occupancy(epoch).sum())
        change = epoch.entries - entries
        error = float(np.einsum("hk,hk", np.abs(change), weight) / rounds)
        errors.append(error)
        stuck = len(errors) > patience and not error < errors[-1 - patience] / 2
        if error < WANTED / 2 or (stuck and (patience == UNAIDED or error <= ACCEPTED)):
            return epoch, change, epochs
        if stuck:
            entries, patience, errors = waves.start(depth), UNAIDED, []
        elif patience == UNAIDED:
            entries = entries + change / 2
        else:
            if mixing is None and len(errors) > SLOW and not error < errors[-1 - SLOW] / SLOW:
                mixing = Mixing()
            corrected = waves.corrected(entries, change)
            entries = mixing.next(entries, corrected) if mixing else corrected


def _share(errors: list[float]) -> float:
    """Return how much of the way to the error that is aimed at is done, on a logarithmic scale."""
    if not errors:
        return 0.0
    first, last = math.log(errors[0]), math.log(errors[-1])
    return max(0.0, (first - last) / (first - math.log(WANTED / 2)))

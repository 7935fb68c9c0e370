"""Rounds until some packets are delivered, of any chain."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.buffer_times import fill_times
from ..kernels.last_round import Ends
from ..kernels.transfer_times import transfer_times
from ..numerics.linear import solve
from ..tcp.burst import BurstChain
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.silences import LEVELS
from .deliveries import Deliveries, deliveries
from .lattice import joint, totals
from .passing import passing
from .transfer_moves import last_round, transfer_moves

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-10
"""Probability of longer transfers that is left out."""

RARE, SELDOM = 1e-15, 1e-12
"""Probability of a state and a place that is left out, where each packet is followed and where quanta are."""

ROOM = 8
"""Places before the first one, where places are not packets."""

MOST_ROUNDS = 1_000_000
"""That are followed."""

ROW = 8.0
"""Numbers for a way in which a window and the one after it may lose packets, a sixth of the cube of the window."""

MOST_BYTES = 8 * 2**30
"""Memory that a pass may take."""

STATIONARY = 1e-8
"""Residual that is accepted."""


@singledispatch
def transfer_rounds(
    chain: Chain, packets: int, goal: int, stationary: bool, begin: Floats | None = None
) -> tuple[Floats, float]:
    """Return the chance that packets are delivered after 0, 1, 2, ... rounds, and the probability left out.

    Parameters
    ----------
    chain : Chain
    packets : int
    goal : int
        Quanta of as many packets: exact for as many as there are packets.
    stationary : bool
        Whether it begins as the chain is found in the long run, or in its first state.
    begin : (n,) array, optional
        Of an `IndependentChain`: in which of its states it begins, instead.

    Raises
    ------
    AccuracyError
        Where it takes too much memory, or more than a million rounds.
    """
    check_memory(
        chain.largest_round**3 * ROW if isinstance(chain, BurstChain) else 0.0
    )  # losses in bursts: w^3 / 6 ways
    found = deliveries(chain)
    quantum, exact = quantum_of(packets, goal), goal == packets
    both = joint(found, quantum)
    check_memory(found.states * goal * (int(found.rounds.max()) + 1))
    needs = passing(both, 1.0, exact)
    assert begin is None
    begin = _in_the_long_run(found) if stationary else np.eye(1, found.states, found.start)[0]
    law = fill_times(goal, MOST_ROUNDS, needs, totals(both), begin, NEGLIGIBLE, RARE)
    return _whole(law, max(0.0, 1 - float(law.sum())))


@transfer_rounds.register
def _(
    chain: IndependentChain, packets: int, goal: int, stationary: bool, begin: Floats | None = None
) -> tuple[Floats, float]:
    n = chain.n_states
    if begin is None:
        begin = np.maximum(chain.stationary, 0.0) if stationary else np.eye(1, n, chain.first_state)[0]
    quantum = quantum_of(packets, goal)
    moves, by_packet = transfer_moves(chain, quantum), transfer_moves(chain, 1.0)
    check_memory(2 * n * goal + 2 * LEVELS * goal * int(moves.rounds.max() + 1))
    anywhere = Ends(np.arange(n + 1), np.zeros(n, dtype=np.int64), np.ones(n))
    last = last_round(chain, anywhere, anywhere, anywhere)
    room, least = (0, RARE) if goal == packets else (ROOM, SELDOM)
    begin = begin / begin.sum()
    law, out = transfer_times(
        room, room + goal, quantum, begin, moves, by_packet, last, 1, MOST_ROUNDS, NEGLIGIBLE, least
    )  # fmt: skip
    return _whole(law[:, 0], out)


def quantum_of(packets: int, goal: int) -> float:
    """Return the packets of a quantum: half a packet before the last one lies half a quantum before the goal."""
    return (packets - 0.5) / (goal - 0.5)


def check_memory(cells: float) -> None:
    """Raise `AccuracyError` where arrays of so many numbers are too large."""
    if 8 * cells > MOST_BYTES:
        raise AccuracyError(
            f"a transfer would take {8 * cells / 2**30:.3g} GiB of memory to follow, more than the limit of "
            f"{MOST_BYTES / 2**30:g}: take a smaller max_window, fewer bytes or a shorter timer"
        )


def _in_the_long_run(found: Deliveries) -> Floats:
    """Return the stationary distribution of the states that send a whole round."""
    n = found.states
    others, every = found.target < n - 1, np.arange(n)
    pi = solve(
        np.concatenate([every[:-1], found.target[others], np.full(n, n - 1)]),
        np.concatenate([every[:-1], found.source[others], every]),
        np.concatenate([np.ones(n - 1), -found.chance[others], np.ones(n)]),
        np.eye(1, n, n - 1)[0],
        None,
    )
    off = float(np.abs(np.bincount(found.target, pi[found.source] * found.chance, n) - pi).sum())
    if not off < STATIONARY:
        raise AccuracyError(f"stationary distribution of the TCP chain: residual {off:.1e} exceeds {STATIONARY:g}")
    return np.maximum(np.asarray(pi), 0.0)


def _whole(law: Floats, left_out: float) -> tuple[Floats, float]:
    """Return a law that is known to its end, or raise `AccuracyError`."""
    if not left_out < 1e-4:
        raise AccuracyError(
            f"a transfer takes more than {MOST_ROUNDS:,} round trips, or too many ways: {left_out:.1g} of the "
            "probability is left out"
        )
    return np.asarray(law), left_out

"""What backlogged flows deliver in each second, drawn at random."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..system import watch
from ..tcp.chain import Chain
from .drawn_moves import drawn_moves

Floats = NDArray[np.float64]

MOST_ROUNDS = 4000
"""Rounds of a flow that are drawn one by one; seconds of other flows are appended to it where it is longer."""

LEAST_SECONDS = 4
"""Seconds that these rounds have to last."""

UNTIL_LONG_RUN = 1000
"""Rounds after which a chain no longer depends on its start."""


def drawn_flows(chain: Chain, rtt: float, seconds: int, flows: int, rng: np.random.Generator) -> Floats:
    """Return the packets in order that some independent flows deliver in each second, in the long run.

    Parameters
    ----------
    chain : Chain
    rtt : float
        Length of a round [s].
    seconds : int
    flows : int
    rng : numpy.random.Generator

    Returns
    -------
    (seconds, flows) array
        Those of a round are spread evenly over it.

    Raises
    ------
    AccuracyError
        For a round trip so short that 4000 of them last less than four seconds; for a chain that is too large.

    Notes
    -----
    A flow of more than 4000 rounds goes on with the second half of another one's, and so on: what it delivers in two
    such parts is independent. They are many losses long.
    """
    drawn = min(seconds, int(MOST_ROUNDS * rtt))
    if drawn < min(seconds, LEAST_SECONDS):
        raise AccuracyError(
            f"flows with a round trip of {rtt:.3g} s are not drawn: {MOST_ROUNDS} round trips last {drawn} s"
        )
    total = _totals(chain, UNTIL_LONG_RUN + math.ceil(drawn / rtt), flows, rng)[UNTIL_LONG_RUN:]
    at = np.arange(drawn + 1) / rtt
    whole = np.minimum(at.astype(np.int64), len(total) - 2)
    sums = total[whole] + (at - whole)[:, np.newaxis] * (total[whole + 1] - total[whole])
    parts = [np.diff(sums, axis=0)]
    half = parts[0][drawn // 2 :]
    while (left := seconds - sum(map(len, parts))) > 0:
        parts.append(half[:left, rng.permutation(flows)])
    return np.concatenate(parts)


def _totals(chain: Chain, rounds: int, flows: int, rng: np.random.Generator) -> Floats:
    """Return the packets that each flow has in order after 0, 1, .. rounds."""
    step = drawn_moves(chain)
    state = np.full(flows, chain.first_state, dtype=np.int64)
    sent, wait, ahead = (np.zeros(flows, dtype=np.int64) for _ in range(3))
    total = np.zeros((rounds + 1, flows))
    for i in range(1, rounds + 1):
        watch.at(instead=watch.SHORTER)
        due = np.flatnonzero(wait == 0)
        sent += ahead
        ahead[:] = 0
        moved = step(state[due], rng)
        state[due], wait[due] = moved.to, moved.rounds
        sent[due] += moved.first
        ahead[due] = moved.later
        wait -= 1
        total[i] = sent
    return total

"""Rounds of a transfer whose packets are lost each for itself: those of whole windows, and the last one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.buffer_moves import Totals
from ..kernels.last_round import Ends, LastRound
from ..numerics.weights import lagrange
from ..tcp.independent import IndependentChain
from .lattice import WHOLE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE = 1e-16
"""Probability of a transition that is left out."""

NODES = 4
"""Quanta that stand for what lies between two."""


def transfer_moves(chain: IndependentChain, quantum: float) -> Totals:
    """Return every transition by its rounds and the quanta that arrive.

    What is not a whole number of quanta is shared by four around it, which keep its mean, variance and third moment.
    """
    source, target, rounds, received, chance = _transitions(chain)
    at = received / quantum
    whole = np.rint(at)
    columns = [source, target, rounds, whole.astype(np.int64)]
    between = np.abs(at - whole) > WHOLE
    if between.any():
        nodes = np.floor(at[between]).astype(np.int64)[:, np.newaxis] + np.arange(-1, NODES - 1)
        shares = lagrange(nodes.astype(np.float64), at[between]) * chance[between, np.newaxis]
        columns = [np.append(one[~between], np.repeat(one[between], NODES)) for one in columns]
        columns[3][(~between).sum() :] = nodes.ravel()
        chance = np.append(chance[~between], shares.ravel())
    order = np.lexsort(columns[::-1])
    source, target, rounds, received = (one[order] for one in columns)
    first = np.flatnonzero(
        np.append(True, np.any([np.diff(one) != 0 for one in (source, target, rounds, received)], axis=0))
    )
    chance = np.add.reduceat(chance[order], first)
    source, target, rounds, received = (one[first] for one in (source, target, rounds, received))
    return Totals(np.searchsorted(source, np.arange(chain.n_states + 1)), target, rounds, received, chance)


def _transitions(chain: IndependentChain) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Return source, target, rounds, packets received and probability of every transition."""
    graph, silences, p, S = chain.graph, chain.silences, chain.loss, chain.graph.size
    w, q = graph.windows, 1 - p
    rows: list[tuple[Ints, Ints, Ints, Ints, Floats]] = []

    def add(source: Ints, target: Ints, rounds: int, received: Ints, chance: NDArray[np.floating[Any]]) -> None:
        used = chance > RARE
        wide = np.broadcast_arrays(source, target, rounds, received, chance)
        rows.append(tuple(one[used] for one in wide))  # type: ignore[arg-type]

    grows = graph.growth
    add(grows.from_state, grows.to_state, 1, w[grows.from_state], q ** w[grows.from_state] * grows.share)
    every, timer = np.arange(S), np.full(S, S)
    for K in range(1, chain.repaired.shape[1]):
        lossy = np.flatnonzero(w > K)
        chance = chain.repaired[w[lossy], K]
        for to, share in zip(chain.recover_to[lossy].T, chain.recover_share[lossy].T):
            add(lossy, to, 1, w[lossy] - K, chance * share)
    for d, weight in silences.whole_loss:
        add(every, timer, d, 0 * w, chain.all_lost * weight)
    if chain.lost_unseen > 0:
        for j in range(int(w.max())):
            longer = np.flatnonzero(w > j)
            lost = w[longer]
            fails = p * q**j * (1 - (1 - chain.lost_unseen) * chain.holds ** (lost - 1 - j))
            fails = np.maximum(fails - (j == 0) * (chain.all_lost - chain.repaired_whole)[longer], 0.0)
            for d, weight in silences.unrepaired:
                add(longer, timer[longer], d, np.full(len(longer), j), fails * weight)
    timeouts = np.array(silences.rows(p, S, graph.restart))
    source, target, _, received, rounds = timeouts[:, [0, 1, 3, 3, 5]].astype(np.int64).T
    rows.append((source, target, rounds, received, timeouts[:, 2]))
    found = [np.concatenate(one) for one in zip(*rows)]
    return found[0], found[1], found[2], found[3], found[4]


def last_round(chain: IndependentChain, same: Ends, grown: Ends, reduced: Ends) -> LastRound:
    """Return the round that sends the rest, and what the states after it are known as."""
    silences = chain.silences
    whole, timer, unrepaired = map(np.array, (silences.whole_loss, silences.backoff[0], silences.unrepaired))
    return LastRound(
        chain.graph.windows.astype(np.int64), chain.loss, chain.holds, chain.lost_unseen,
        whole[:, 0].astype(np.int64), np.ascontiguousarray(whole[:, 1]),
        timer[:, 0].astype(np.int64), np.ascontiguousarray(timer[:, 1]),
        unrepaired[:, 0].astype(np.int64), np.ascontiguousarray(unrepaired[:, 1]),
        chain.graph.size, chain.lost_unseen == 0.0, same, grown, reduced,
    )  # fmt: skip

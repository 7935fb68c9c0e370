"""What rounds with independent losses deliver, by the number of losses and the packets before the first one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..system import watch
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.varying_chain import VaryingChain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE = 1e-15
"""Probability of a number of losses in a round that is left out; the others are scaled up."""


@singledispatch
def rounds_with_losses(chain: Chain, states: Ints) -> Iterator[Floats]:
    """Give rows of source, target, rounds, packets in order, held and in a second round, probability."""
    raise NotImplementedError(f"no rounds of {type(chain).__name__} from {len(states)} states")


@rounds_with_losses.register
def _(chain: IndependentChain, states: Ints) -> Iterator[Floats]:
    from scipy.stats import binom  # loads slowly

    graph, p, S = chain.graph, chain.loss, chain.graph.size
    q, b = 1 - p, chain.repairs

    def row(*values: object) -> Floats:
        return np.column_stack(np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=float)) for one in values)))

    for s in states[states < S].tolist():
        watch.at()
        w = int(graph.windows[s])
        for target, share in graph.growth.of(s):
            yield row(s, target, 1, w, 0, 0, q**w * share)
        most = min(w, int(binom.isf(RARE / w, w, b / (b + q))) + 2)
        lost, before = (one.ravel() for one in np.meshgrid(np.arange(1, most), np.arange(w), indexing="ij"))
        inside = before <= w - lost
        lost, before = lost[inside], before[inside]
        chance = np.exp(
            gammaln(w - before) - gammaln(lost) - gammaln(w - before - lost + 1)
            + lost * np.log(b) + (w - lost) * np.log(q)
        )  # fmt: skip
        used = chance > RARE
        for target, share in zip(chain.recover_to[s].tolist(), chain.recover_share[s].tolist()):
            if share > 0:
                yield row(s, target, 1, before[used], (w - lost - before)[used], 0, chance[used] * share)
        n = np.arange(w)
        unrepaired = -np.expm1(np.log1p(-chain.lost_unseen) + n[::-1] * np.log(chain.holds))
        fails = np.maximum(p * q**n * unrepaired - (n == 0) * (p**w - b**w), 0.0)
        n, fails = n[fails > 0], fails[fails > 0]  # with RACK only a window lost whole waits for the timer
        for rounds, weight in chain.silences.whole_loss:
            yield row(s, S, rounds, 0, 0, 0, p**w * weight)
        for rounds, weight in chain.silences.unrepaired:
            yield row(s, S, rounds, n, 0, 0, fails * weight)
    for s, to, chance, packets, ordered, rounds in chain.silences.rows(p, S, graph.restart):
        if s in states:
            yield row(s, to, rounds, ordered, packets - ordered, 0, chance)


@rounds_with_losses.register
def _(chain: VaryingChain, states: Ints) -> Iterator[Floats]:
    """Give them for each regime at the end, as often as the path is in it after so many rounds."""
    begins = chain.known_begin is None and chain.n_states - 1 in states
    for i, part in enumerate(chain.parts):
        first, end = chain.offsets[i : i + 2].tolist()
        for rows in rounds_with_losses(part, states[(first <= states) & (states < end)] - first):
            yield from _changing(chain, i, rows, first)
        if begins and chain.begins[i] > 0:
            for rows in rounds_with_losses(part, np.array([part.first_state])):
                for changed in _changing(chain, i, rows, first):
                    changed[:, 0] = chain.n_states - 1
                    changed[:, 6] *= chain.begins[i]
                    yield changed


def _changing(chain: VaryingChain, i: int, rows: Floats, first: int) -> Iterator[Floats]:
    """Give rows of a regime by the regime at their end."""
    lengths, which = np.unique(rows[:, 2], return_inverse=True)
    after = np.array([chain.switching.after(d)[i] for d in lengths.tolist()]).reshape(-1, chain.n_regimes)[which]
    for j, to in enumerate(chain.maps[i]):
        changed = rows.copy()
        changed[:, 0] += first
        changed[:, 1] = to[rows[:, 1].astype(np.int64)] + chain.offsets[j]
        changed[:, 6] *= after[:, j]
        yield changed[changed[:, 6] > 0]

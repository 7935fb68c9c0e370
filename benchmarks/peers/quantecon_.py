"""QuantEcon's stationary distributions: GTH elimination, which makes a sparse chain dense."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from quantecon import MarkovChain
from quantecon.markov import gth_solve

from ..cases import live_small
from ..chain import embedded_live
from ..outcome import Outcome, timed


def stationary(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """`MarkovChain.stationary_distributions` of the sparse matrix, and `gth_solve` of the dense one."""
    case = live_small(quick)
    chain = embedded_live(case)
    dense = chain.matrix.toarray()
    gth_solve(np.array([[0.5, 0.5], [0.5, 0.5]]))
    for name, work in (
        ("QuantEcon MarkovChain", lambda _: MarkovChain(chain.matrix.copy()).stationary_distributions),
        ("QuantEcon gth_solve", lambda _: gth_solve(dense)[np.newaxis]),
    ):
        seconds, found = timed(work, most=1 if quick else 3, warm=False)
        note = f"chain cut at a backlog of {case.depth} packets"
        if len(found) != 1:
            note += f"; found {len(found)} recurrent classes"
        yield Outcome(
            seconds,
            {"f": chain.late_fraction(found[0])},
            method=name,
            states=chain.size,
            claimed="rounding",
            note=note,
        )

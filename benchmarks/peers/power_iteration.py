"""Live streaming by power iteration on the explicit chain: a scipy CSR matrix times a vector until f stands still.

The iteration is judged as a user would who has no better answer: f changes by d in `STRIDE` steps, the changes shrink
by a factor g, so d g / (1 - g) is still to come. A step stands still with probability `LAZY`: without a backlog the
chains nearly alternate, and would not settle. Building the matrix is not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

import tcpstream
from tcpstream.explicit import explicit_live

from .. import cases
from ..chain import Matrix, embedded_live, late_fraction
from ..outcome import Outcome, timed

Floats = NDArray[np.float64]

STRIDE = 50
"""Steps between two looks at f."""

LAZY = 0.1


def embedded(quick: bool, limit: float) -> Iterator[Outcome]:
    """One chain for all startup delays, at the fewest states; two accuracies."""
    chain = embedded_live(cases.live_curve(quick))
    start = np.zeros(chain.size)
    start[chain.start] = 1.0
    yield from iterate(chain.matrix, start, chain.late_fraction, (1e-10, 1e-12), limit, "f", "fewest states")


def one_round(quick: bool, limit: float) -> Iterator[Outcome]:
    """The same with a round a step, as `tcpstream.explicit` writes it out: waits are states too."""
    case = cases.live_curve(quick)
    chain = explicit_live(case.path, case.video, case.delay, depth=case.depth)
    tcp_states = len(chain.states) // (case.depth + 1)

    def curve(weights: Floats) -> Floats:
        law = weights.reshape(-1, tcp_states).sum(axis=1)
        return late_fraction(law / law.sum(), case, case.delays)

    yield from iterate(chain.matrix, chain.start, curve, (1e-10, 1e-12), limit, "f", "one round a step")


def one_delay(quick: bool, limit: float) -> Iterator[Outcome]:
    """The paper's chain (X, N) for one startup delay: as deep as that delay needs."""
    case = cases.live_curve(quick)
    chain = embedded_live(case, case.depth if quick else 2062)
    start = np.zeros(chain.size)
    start[chain.start] = 1.0

    def late(weights: Floats) -> Floats:
        return np.atleast_1d(late_fraction(chain.law(weights), case, np.array(case.delay)))

    yield from iterate(chain.matrix, start, late, (1e-6, 1e-10), limit, "f at one delay", "N_max = mu tau")


def near_capacity(quick: bool, limit: float) -> Iterator[Outcome]:
    """What is left of the error after the time that tcpstream takes here, and after 100 times as long."""
    case = cases.near_capacity(quick)
    chain = embedded_live(case)
    backwards = (1 - LAZY) * chain.matrix.T.tocsr()
    x = np.zeros(chain.size)
    x[chain.start] = 1.0
    spent, steps = 0.0, 0
    same = median(timed(lambda _: tcpstream.live(case.path, case.video, accuracy="exact"), most=3)[0])
    for name, seconds in (("as long as tcpstream", same), ("100 times as long", min(100 * same, limit))):
        while spent < seconds:
            begin = time.perf_counter()
            last, x = x, LAZY * x + np.asarray(backwards @ x)
            spent += time.perf_counter() - begin
            steps += 1
        residual = float(np.abs(x - last).sum())
        yield Outcome(
            [spent],
            {"f": chain.late_fraction(x)},
            method=f"power iteration, {name}",
            states=chain.size,
            claimed=f"residual {residual:.0e} a step",
            note=f"{steps} steps" + (", the time limit" if seconds == limit else ""),
        )


def iterate(
    matrix: Matrix,
    start: Floats,
    answer: Callable[[Floats], Floats],
    accuracies: Sequence[float],
    limit: float,
    name: str,
    note: str,
) -> Iterator[Outcome]:
    """Step from `start` and yield an outcome whenever the estimated error passes one of `accuracies`.

    Parameters
    ----------
    matrix : csr_array
        Row-stochastic.
    start : NDArray
        First distribution.
    answer : callable
        From a distribution to what is wanted, here f.
    accuracies : sequence of float
        Decreasing.
    limit : float
        Seconds after which the last outcome is what has been reached.
    name : str
        Of the answer.
    note : str
        For the rows.
    """
    backwards = (1 - LAZY) * matrix.T.tocsr()
    x, before, steps = start, answer(start), 0
    change = np.inf
    wanted = list(accuracies)
    begin = time.perf_counter()
    while wanted:
        for _ in range(STRIDE):
            last, x = x, LAZY * x + np.asarray(backwards @ x)
        steps += STRIDE
        now = answer(x)
        last_change, change = change, float(np.abs(now - before).max())
        shrinks = change / last_change if steps > 2 * STRIDE else 1.0
        error = change * shrinks / (1 - shrinks) if shrinks < 1 else np.inf
        spent = time.perf_counter() - begin
        stopped = spent > limit
        while wanted and (error <= wanted[0] or stopped):
            residual = float(np.abs(x - last).sum())
            yield Outcome(
                [spent],
                {name: now},
                method=f"power iteration ({note}), to {wanted.pop(0):.0e}",
                states=int(matrix.shape[0]),
                claimed=f"estimate {error:.0e}, residual {residual:.0e} a step",
                note=f"{steps} steps",
                stopped=stopped,
            )
            if stopped:
                return
        before = now

"""How fast the risk of falling behind decays: exponential martingales of a chain against a constant playback rate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, InputError
from ..numerics.roots import crossing
from ..tcp.chain import Chain
from ..tcp.silences import LEVELS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Complexes = NDArray[np.complex128]

DENSE = 200
"""Matrices up to this size are solved dense."""


def _perron(chain: Chain, theta: float, packets_due: float, levels: int) -> tuple[float, Floats]:
    """Return the spectral radius of the tilted matrix and its right eigenvector, positive.

    Of a chain of lines they are those of the chain watched where lines meet: the same where the radius is 1, on the
    same side of 1 elsewhere.
    """
    rows, columns, entries = chain.transform(theta, packets_due, levels)
    n = chain.n_states
    if chain.junction_states is not None:
        return _watched(rows, columns, entries, n, chain.junction_states)
    if n < DENSE:
        matrix = np.zeros((n, n))
        np.add.at(matrix, (rows, columns), entries)
        values, vectors = np.linalg.eig(matrix)
    else:
        from scipy import sparse

        values, vectors = _leading(sparse.csr_array((entries, (rows, columns)), shape=(n, n)))
    largest = int(np.argmax(np.abs(values)))
    return float(np.abs(values[largest])), np.abs(vectors[:, largest])


def _watched(rows: Ints, columns: Ints, entries: Floats, n: int, at: Ints) -> tuple[float, Floats]:
    """Return radius and eigenvector of a matrix watched at some states, between which there are lines alone."""
    from scipy import sparse
    from scipy.sparse.linalg import LinearOperator, splu

    matrix = sparse.csr_array((entries, (rows, columns)), shape=(n, n))
    on = np.setdiff1d(np.arange(n), at)
    lines = splu((sparse.eye_array(len(on)) - matrix[on][:, on]).tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)
    enter, leave, between = matrix[on][:, at], matrix[at][:, on], matrix[at][:, at]

    def step(v: Floats) -> Floats:
        return np.asarray(between @ v + leave @ lines.solve(np.asarray(enter @ v)))

    watched = LinearOperator((len(at), len(at)), step, dtype=np.float64)
    values, vectors = _leading(watched)
    vector = np.empty(n)
    vector[at] = np.abs(vectors[:, 0])
    vector[on] = lines.solve(np.asarray(enter @ vector[at]))
    return float(np.abs(values[0])), vector


def _leading(matrix: Any) -> tuple[Complexes, Complexes]:
    """Return the largest eigenvalue of a large matrix and its eigenvector, or raise `AccuracyError`."""
    from scipy.sparse.linalg import ArpackError, eigs

    try:
        values, vectors = eigs(matrix, k=1, v0=np.ones(matrix.shape[0]))
    except ArpackError as error:
        raise AccuracyError(f"decay of the tail: the eigenvalue did not converge: {error}") from None
    return values, vectors


def decay_rate(chain: Chain, packets_due: float, levels: int = LEVELS) -> float:
    """Return theta > 0 [1/packet] with spectral radius of sum P exp(theta (m d - S)) equal to 1.

    Parameters
    ----------
    chain : Chain
        With more throughput than `packets_due`.
    packets_due : float
        m, packets per round.
    levels : int
        Back-off levels that count. All 7 give the true asymptotic rate of the tail, which rare long back-offs set;
        3 to 5 give the steeper decay seen above the bend.

    Returns
    -------
    float
        Infinite when no cycle within these levels lets the backlog grow.

    Raises
    ------
    InputError
        For a chain with no more throughput than that.
    AccuracyError
        When the eigenvalue of a large chain does not converge.
    """
    if packets_due >= chain.packets_per_round:
        raise InputError(
            f"a backlog has a decay rate where TCP delivers more than is due: {packets_due:g} packets a round are due, "
            f"it delivers {chain.packets_per_round:g}"
        )

    def radius(theta: float) -> float:
        return _perron(chain, theta, packets_due, levels)[0]

    high = 1e-9
    longest = packets_due * chain.longest_wait(levels)
    while radius(2 * high) < 1:
        high *= 2
        if high * longest > 100:
            return math.inf
    return crossing(lambda theta: radius(theta) - 1, high, 2 * high, 1e-10 * high)


def safe_lead(chain: Chain, packets_due: float, risk: float) -> float:
    """Return a lead [packets] of delivered over due from which a packet is ever late with at most probability `risk`.

    With v the right eigenvector at the decay rate theta, exp(-theta N) v(X) is a martingale over the transitions, so
    P(N < 0 ever) <= exp(-theta N) max v / min v. Within a transition N is least at its end, but for the round of a
    loss, after which a recovery can deliver up to the largest window: that is added.

    Parameters
    ----------
    chain : Chain
        With more throughput than `packets_due`.
    packets_due : float
        m, packets per round.
    risk : float
        Probability accepted.
    """
    theta = decay_rate(chain, packets_due)
    v = _perron(chain, theta, packets_due, LEVELS)[1]
    smallest = max(float(v.min()), 1e-300)
    return chain.largest_round + (math.log(float(v.max()) / smallest) - math.log(risk)) / theta

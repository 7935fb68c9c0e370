"""Live streaming by scipy's direct and iterative solvers, on the embedded chain; LU on one cut where it still finishes.

One probability is fixed to 1 and its equation left out: (I - P')' x = b is then regular, and sparser than with a row
of ones for the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, bicgstab, gmres, spilu, splu

from .. import cases
from ..chain import EmbeddedLive, embedded_live
from ..outcome import Outcome, timed

Floats = NDArray[np.float64]

LU_DEPTH = 900
"""Backlogs that sparse LU is given [packets]: about a minute and 2.5 GB."""


def system(chain: EmbeddedLive) -> tuple[Any, Floats]:
    """Return A and b of A x = b for all states but one (the window of 2 at one round of backlog), where x = 1."""
    balance = (sparse.eye_array(chain.size) - chain.matrix.T).tocsc()
    kept = np.delete(np.arange(chain.size), fixed(chain))
    return balance[kept][:, kept].tocsc(), -balance[kept][:, [fixed(chain)]].toarray()[:, 0]


def fixed(chain: EmbeddedLive) -> int:
    """Return the state whose probability is fixed: one that is visited often."""
    per_level = chain.size // (chain.rounds.shape[0])
    return chain.case.packets_per_round * per_level + chain.case.path.max_window - 1


def whole(chain: EmbeddedLive, x: Floats) -> Floats:
    """Return the solution with the fixed probability in its place."""
    return np.insert(x, fixed(chain), 1.0)


def residual(chain: EmbeddedLive, weights: Floats) -> float:
    """Return ``sum |x P - x|`` of the normalised solution."""
    x = weights / weights.sum()
    return float(np.abs(chain.matrix.T @ x - x).sum())


def direct(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Sparse LU (SuperLU, COLAMD)."""
    case = cases.live_curve(quick)
    chain = embedded_live(case, min(case.depth, LU_DEPTH))
    matrix, right = system(chain)
    seconds, x = timed(lambda _: splu(matrix).solve(right), most=3, warm=False)
    weights = whole(chain, x)
    yield Outcome(
        seconds,
        {"f": chain.late_fraction(weights)},
        states=chain.size,
        claimed=f"residual {residual(chain, weights):.0e}",
        note=f"chain cut at a backlog of {min(case.depth, LU_DEPTH)} packets, instead of {case.depth}",
    )


def gmres_ilu(quick: bool, limit: float) -> Iterator[Outcome]:
    """GMRES(50) with an incomplete LU."""
    yield _iterative(quick, limit, gmres, restart=50)


def bicgstab_ilu(quick: bool, limit: float) -> Iterator[Outcome]:
    """BiCGSTAB with an incomplete LU."""
    yield _iterative(quick, limit, bicgstab)


def _iterative(quick: bool, limit: float, solver: Any, **options: Any) -> Outcome:  # noqa: ARG001
    case = cases.live_curve(quick)
    chain = embedded_live(case)
    matrix, right = system(chain)

    def work(_: int) -> tuple[Floats, int]:
        ilu = spilu(matrix, drop_tol=1e-3, fill_factor=3)
        preconditioner = LinearOperator(matrix.shape, matvec=ilu.solve)
        x, info = solver(matrix, right, rtol=1e-13, atol=0.0, maxiter=400, M=preconditioner,
                         **options)  # fmt: skip
        return x, int(info)

    seconds, (x, info) = timed(work, most=1, warm=False)
    weights = whole(chain, x)
    return Outcome(
        seconds,
        {"f": chain.late_fraction(weights)},
        states=chain.size,
        claimed=f"residual {residual(chain, weights):.0e}" + ("" if info == 0 else ", did not converge"),
        note="ILU timed too",
        stopped=info != 0,
    )

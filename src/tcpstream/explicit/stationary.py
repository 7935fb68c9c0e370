"""The stationary distribution of a sparse chain, by stepping until nothing moves any more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import AccuracyError
from ..system import watch

#: Probability of standing still in a step: a chain that has, or nearly has, a period would not settle without.
LAZY = 0.1
#: Steps between two looks at the residual.
STRIDE = 100
#: Steps before giving up, and looks without any progress before giving up.
MAX_STEPS = 2_000_000
MAX_STALLS = 30


def stationary(
    matrix: sparse.csr_array[np.float64, tuple[int, int]], initial: int, accuracy: float
) -> NDArray[np.float64]:
    """Return the stationary distribution of a chain that has one recurrent class.

    Power iteration from `initial`. The residual ``sum |x P - x|`` shrinks by a factor g in `STRIDE` steps; the
    error is the sum of all changes to come, at most ``STRIDE residual / (1 - g)`` once g has settled. The
    residual alone would say too little of a chain that moves slowly.

    Parameters
    ----------
    matrix : csr_array, shape (states, states)
        Row-stochastic.
    initial : int
        State to start from.
    accuracy : float
        Accepted error, the sum of absolute differences from the stationary distribution.

    Returns
    -------
    NDArray, shape (states,)
        Sums to 1.

    Raises
    ------
    AccuracyError
        When the estimated error stays above `accuracy`.
    """
    backwards = matrix.T.tocsr()
    x = np.zeros(matrix.shape[0])
    x[initial] = 1.0
    before = best = error = np.inf
    stalls = 0
    for _ in range(MAX_STEPS // STRIDE):
        for _ in range(STRIDE):
            watch.at()
            last, x = x, LAZY * x + (1 - LAZY) * np.asarray(backwards @ x)
        residual = float(np.abs(x - last).sum())
        x /= x.sum()
        shrinks = residual / before
        error = STRIDE * residual / (1 - shrinks) if shrinks < 1 else np.inf
        if error <= accuracy:
            return x
        stalls = 0 if residual < best else stalls + 1
        if stalls == MAX_STALLS:
            break
        before, best = residual, min(best, residual)
    raise AccuracyError(
        f"the stationary distribution did not converge: estimated error {error:.2g}, accepted {accuracy:.0g}, "
        f"residual {residual:.2g} per step"
    )

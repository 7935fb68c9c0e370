"""Linear systems of a chain's states: dense where small; where large, sparse, with a SciPy loaded only then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE = 600
"""Systems up to this size are solved dense: sooner than SciPy is loaded."""


def solve(rows: Ints, columns: Ints, values: Floats, right: Floats, last: Ints | None = None) -> Floats:
    """Solve A x = b.

    Parameters
    ----------
    rows, columns, values : (m,) arrays
        Entries of A; those of the same place are added.
    right : (n,) array
        b.
    last : int array, optional
        Unknowns to eliminate last, after the others in their order: nothing fills up if the others form chains. By
        default SciPy orders them.
    """
    n = len(right)
    if n <= DENSE:
        dense = np.zeros((n, n))
        np.add.at(dense, (rows, columns), values)
        return np.asarray(np.linalg.solve(dense, right))
    from scipy import sparse
    from scipy.sparse.linalg import splu

    if last is None:
        matrix = sparse.coo_array((values, (rows, columns)), shape=(n, n))
        return np.asarray(splu(matrix.tocsc()).solve(right))
    order = np.append(np.setdiff1d(np.arange(n), last), last)
    place = np.argsort(order)
    matrix = sparse.coo_array((values, (place[rows], place[columns])), shape=(n, n))
    found = np.empty(n)
    found[order] = splu(matrix.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0).solve(right[order])
    return found

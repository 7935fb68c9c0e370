"""Linear systems of a source's states: dense where small; where large, sparse, with a SciPy loaded only then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE = 600
"""Systems up to this size are solved dense: sooner than SciPy is loaded."""


def solve(rows: Ints, columns: Ints, values: Floats, right: Floats) -> Floats:
    """Solve A x = b.

    Parameters
    ----------
    rows, columns, values : (m,) arrays
        Entries of A; those of the same place are added.
    right : (n,) array
        b.
    """
    n = len(right)
    if n <= DENSE:
        dense = np.zeros((n, n))
        np.add.at(dense, (rows, columns), values)
        return np.asarray(np.linalg.solve(dense, right))
    from scipy import sparse
    from scipy.sparse.linalg import splu

    matrix = sparse.coo_array((values, (rows, columns)), shape=(n, n))
    return np.asarray(splu(matrix.tocsc()).solve(right))

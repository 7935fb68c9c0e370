"""Matrices with the same places: solved as by numpy, whichever of them came first."""

import numpy as np
import pytest

from tcpstream.coarse.transforms import DENSE, Eliminated


@pytest.mark.parametrize("n", [DENSE, 3 * DENSE])
def test_as_dense_matrices(n):
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, n, (2, 6 * n))  # some places twice
    kept, right = Eliminated(rows, columns, n), rng.random(n) + 1j * rng.random(n)
    for _ in range(3):
        values = (rng.random(6 * n) + 1j * rng.random(6 * n)) / 9
        dense = -np.eye(n, dtype=complex)
        np.add.at(dense, (rows, columns), values)
        found = kept.of(values)
        np.testing.assert_allclose(found.solve(right), np.linalg.solve(dense, right), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            found.solve_transposed(right), np.linalg.solve(dense.T, right), rtol=1e-8, atol=1e-10
        )

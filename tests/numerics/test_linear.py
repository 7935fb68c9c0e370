"""Linear systems of states: dense and sparse, in any order of elimination."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import Path, throughput
from tcpstream.numerics import linear


def system(seed, n):
    """Entries of a matrix with a large diagonal, some of them at the same place, the matrix, and a right side."""
    rng = np.random.default_rng(seed)
    rows, columns = (np.append(rng.integers(0, n, 4 * n), np.arange(n)) for _ in range(2))
    values = np.append(rng.uniform(-1, 1, 4 * n), rng.uniform(20, 30, n))
    matrix = np.zeros((n, n))
    for row, column, value in zip(rows, columns, values):
        matrix[row, column] += value
    return rows, columns, values, matrix, rng.random(n)


@pytest.mark.parametrize("dense", [0, 600])
@given(seed=st.integers(0, 2**32), n=st.integers(1, 30), ordered=st.booleans())
def test_solve(dense, seed, n, ordered):
    rows, columns, values, matrix, right = system(seed, n)
    last = np.random.default_rng(seed).permutation(n)[: n // 3] if ordered else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "DENSE", dense)
        x = linear.solve(rows, columns, values, right, last)
    np.testing.assert_allclose(matrix @ x, right, rtol=1e-9, atol=1e-12)


def test_sparse_systems_agree_with_dense_ones(monkeypatch):
    path = Path(sender="classic", loss=0.01, rtt=0.1, timeout_ratio=2, max_window=60)
    dense = throughput(path)
    monkeypatch.setattr("tcpstream.numerics.linear.DENSE", 10)
    assert throughput(path) == pytest.approx(dense, rel=1e-12)
    assert np.isfinite(dense)

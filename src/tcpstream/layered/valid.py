"""How many layers of a frame count, where a layer counts only with all below it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, whole


def valid_of_independent(arrives: ArrayLike) -> NDArray[np.float64]:
    """Return the law of valid layers whose segments arrive independently of each other.

    P(V >= k) = s_1 s_2 ... s_k.

    Parameters
    ----------
    arrives : (n,) array
        Probability that a segment of each layer arrives, the lowest layer first, 0..1.

    Returns
    -------
    (n + 1,) array
        P(V = 0), ..., P(V = n).

    Raises
    ------
    InputError
        For what is no probability.
    """
    s = np.atleast_1d(np.asarray(arrives, dtype=np.float64))
    if s.ndim != 1 or not len(s) or not ((s >= 0) & (s <= 1)).all():
        raise InputError("probabilities that layers arrive must lie between 0 and 1, one for each layer")
    return _law(np.concatenate([[1.0], np.cumprod(s)]))


def valid_of_some(layers: int, arrive: int) -> NDArray[np.float64]:
    """Return the law of valid layers where so many of each frame arrive, any as likely as any other.

    P(V >= j) = C(n - j, k - j) / C(n, k); the mean is k / (n - k + 1).

    Parameters
    ----------
    layers : int
        n, of a frame, >= 1.
    arrive : int
        k, 0..n.

    Returns
    -------
    (n + 1,) array
        P(V = 0), ..., P(V = n).

    Raises
    ------
    InputError
        For what is no whole number, or more than there are.

    Notes
    -----
    M. Zink et al., "Scalable TCP-friendly video distribution for heterogeneous clients", MMCN 2003, Section 5.2.2:
    2 of 4 give 2/3.
    """
    n, k = whole("layers", layers), whole("layers that arrive", arrive, 0)
    if k > n:
        raise InputError(f"layers that arrive must be at most {n}, got {k}")
    return _law(np.array([math.comb(n - j, k - j) / math.comb(n, k) if j <= k else 0.0 for j in range(n + 1)]))


def _law(at_least: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(at_least - np.append(at_least[1:], 0.0))

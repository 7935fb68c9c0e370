"""Segments that are sent again, and lists that ask for them (LC-RTP), under independent losses."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, nbinom

from ..errors import InputError, real, whole

TAIL = 1e-12
"""Probability that a law leaves out at most, and of a mean."""


class Law(NamedTuple):
    """A law of counts.

    Attributes
    ----------
    chances : (n,) array
        Of 0, 1, ..., n - 1.
    mean : float
    error : float
        How much is left out at most, of the sum of `chances` and of `mean`.
    """

    chances: NDArray[np.float64]
    mean: float
    error: float


def resends(segments: int, loss: float) -> Law:
    """Return the law of resends until each segment has arrived, if each list asks for what is missing, and no other.

    Each segment takes a geometric number of transmissions: the resends are negative binomial, N p / (1 - p) on average.

    Parameters
    ----------
    segments : int
        N, that were sent, >= 1.
    loss : float
        p, of each transmission, 0 <= p < 1.

    Returns
    -------
    Law
        Its mean is exact.
    """
    count, p = whole("segments", segments), _loss("loss of segments", loss)
    law = nbinom(count, 1 - p)
    most = int(law.isf(TAIL)) + 1
    return Law(np.asarray(law.pmf(np.arange(most + 1))), count * p / (1 - p), TAIL)


def incomplete(missing: int, loss: float, request_loss: float, tries: int) -> float:
    """Return the probability that segments are missing after so many lists.

    The lists that arrive, M, are binomial, and each one brings a segment with probability 1 - p:
    1 - E[(1 - p^M)^n].

    Parameters
    ----------
    missing : int
        n, before the first list, >= 0.
    loss, request_loss : float
        p of a segment, and that of a list, which is one packet, 0 up to and without 1.
    tries : int
        Lists, >= 0.
    """
    n, p, q = whole("missing", missing, 0), _loss("loss of segments", loss), _loss("loss of lists", request_loss)
    arrived = np.arange(whole("tries", tries, 0) + 1)
    return float(binom(len(arrived) - 1, 1 - q).pmf(arrived) @ _lacking(n, p, arrived))


def lists(missing: int, loss: float, request_loss: float = 0.0) -> Law:
    """Return the law of the lists until nothing is missing: see `incomplete`.

    About ln n / ln(1/r) on average, where r = q + (1 - q) p is the probability that a list does not bring a segment.

    Parameters
    ----------
    missing : int
        n, before the first list, >= 0.
    loss, request_loss : float
        p of a segment, and q of a list, 0 up to and without 1.
    """
    n, p, q = whole("missing", missing, 0), _loss("loss of segments", loss), _loss("loss of lists", request_loss)
    r = q + (1 - q) * p
    if n == 0:
        return Law(np.ones(1), 0.0, 0.0)
    most = 1 if r == 0 else max(1, math.ceil(math.log(TAIL * (1 - r) / n) / math.log(r)))
    lacking, arrived, left = _lacking(n, p, np.arange(most + 1)), np.eye(1, most + 1)[0], np.ones(most + 1)
    for tries in range(1, most + 1):
        arrived[1:] = q * arrived[1:] + (1 - q) * arrived[:-1]
        arrived[0] *= q
        left[tries] = arrived @ lacking
    return Law(np.append(0.0, -np.diff(left)), float(left[:-1].sum()), TAIL)


def _lacking(missing: int, loss: float, arrived: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probabilities that segments are missing after so many lists that arrived."""
    if missing == 0:
        return np.zeros(len(arrived))
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(missing * np.log1p(-np.power(loss, arrived))))


def _loss(name: str, value: float) -> float:
    found = real(name, value)
    if not 0 <= found < 1:
        raise InputError(f"{name} must be at least 0 and less than 1, got {found:g}")
    return found

"""How one loss epoch acts on waves of the backlog far from its ends: Perron eigenvalue and eigenvectors.

Far from an empty backlog an epoch does not depend on D: a wave ``exp(t D)``, times a weight for each entered window,
becomes the same wave with other weights. This is the climb and the losses of `tcpstream.stationary.epoch` for waves.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiler import kept

Complexes = NDArray[np.complex128]

STEPS = 8
"""Steps of the power method at an exponent, from the vectors of the one before."""

ROUNDS = 12
"""Times that these are made at the first exponent before."""


BLOCK = 2**16
"""Exponents times windows that are worked on at a time."""

NO_BRANCHES = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)


def perron(
    factors: Callable[..., tuple[Complexes, Complexes, Complexes]],
    entry: NDArray[np.int64],
    half: NDArray[np.int64],
    shares: NDArray[np.float64],
    ends: NDArray[np.bool_],
    branches: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None,
    restart: int,
    packet: NDArray[np.complex128],
    playback: NDArray[np.complex128],
    all_lost: NDArray[np.complex128],
    few: NDArray[np.complex128],
    over: int | None,
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the largest eigenvalue of an epoch, with the weights that it multiplies and their adjoint.

    Parameters
    ----------
    factors : callable
        From packet, playback, all_lost and few to what becomes of a wave that enters each window: see `climbs`.
    entry : (W,) array
        Of each window, in the order in which they lead to each other: row of the entry into it, -1 for none.
    half, shares : (W, M) arrays
        Rows that it recovers to, -1 for none, and the probability of each.
    ends : (W,) array
        Whether it leads to the last window instead of the next.
    branches : tuple of (B + 1,), (k,) and (k,) arrays, optional
        The first B lead elsewhere: where the moves of each begin, to which they lead, and the probability of each.
    restart : int
        Row that timeouts lead to.
    packet, playback, all_lost, few : (T,) arrays
        Of each exponent t: factor of a delivered packet; of a round of playback; of a round all lost and of a short
        round without fast retransmit, from its start until its timeouts are over. Neighbours are close to each other.
    over : int, optional
        Row that the last window leads to when it is delivered whole, instead of itself.

    Returns
    -------
    values : (T,) array
        Largest eigenvalue kappa.
    left : (H, T) array
        Weights by entered window, with sum 1.
    right : (H, T) array
        Adjoint vector, with sum of left times right 1.
    """
    at, to, chances = NO_BRANCHES if branches is None else branches
    shares, last = np.ascontiguousarray(shares), -1 if over is None else over
    order = np.append(np.zeros(ROUNDS, dtype=np.int64), np.arange(len(packet)))
    largest, points, rows = len(entry), len(order), int(entry.max()) + 1
    values = np.empty(points, dtype=np.complex128)
    # the last row of each is that of no window
    left, right = np.ones((points, rows + 1), dtype=np.complex128), np.ones((points, rows + 1), dtype=np.complex128)
    pmf, adjoint = np.ones((2, rows + 1), dtype=np.complex128), np.ones((2, rows + 1), dtype=np.complex128)
    pmf[:, rows] = 0.0
    size = max(1, BLOCK // largest)
    for first in range(0, points, size):
        now = slice(first, first + size)
        waves = (wave[order[now]] for wave in (packet, playback, all_lost, few))
        grown, recovers, times_out = factors(*waves)
        recovers[:, half[:, 0] < 0] = 0.0
        _power_method(
            entry, half, shares, ends, at, to, chances, restart, last, np.ascontiguousarray(grown),
            np.ascontiguousarray(recovers), np.ascontiguousarray(times_out), pmf, adjoint, values[now], left[now],
            right[now],
        )  # fmt: skip
    return values[ROUNDS:], left[ROUNDS:, :rows].T, right[ROUNDS:, :rows].T


def factors(
    loss: float,
    largest: int,
    packet: NDArray[np.complex128],
    playback: NDArray[np.complex128],
    all_lost: NDArray[np.complex128],
    few: NDArray[np.complex128],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], NDArray[np.complex128]]:
    """Return what becomes of a wave in one round of each window.

    Parameters
    ----------
    largest : int
        W.
    loss, packet, playback, all_lost, few
        See `perron`.

    Returns
    -------
    whole, recovers, times_out : (T, W) arrays
        Of window w at index w - 1: factor of a round without a loss; to the end of a recovery; to the end of a timeout.
    """
    p, mu = loss, playback[:, np.newaxis]
    powers = np.empty((len(packet), largest + 1), dtype=np.complex128)  # of what is delivered
    powers[:, 0] = 1.0
    powers[:, 1:] = ((1 - p) * packet)[:, np.newaxis]
    np.multiply.accumulate(powers, axis=1, out=powers)
    whole, delivered = mu * powers[:, 1:], p * powers[:, :-1]
    fast = delivered.copy()
    fast[:, :3] = 0.0
    recovers = 0.5 * np.cumsum(fast, axis=1) ** 2 + (1 / p - 0.5) * np.cumsum(fast**2, axis=1)
    at_most = np.cumsum(delivered[:, :3], axis=1)
    delivered[:, 0] = 0.0
    delivered[:, 3:] *= at_most[:, -1:]
    delivered[:, 1:3] *= (at_most[:, :-1] + powers[:, 1:3])[:, : largest - 1]
    times_out = p * all_lost[:, np.newaxis] + mu * few[:, np.newaxis] * mu * np.cumsum(delivered, axis=1)
    return whole, mu * mu * recovers, times_out


def climbs(
    whole: Complexes, recovers: Complexes, times_out: Complexes, repeats: int, stays_last: bool = True
) -> tuple[Complexes, Complexes, Complexes]:
    """Return what becomes of a wave that enters each window, from what becomes of it in one round there.

    Parameters
    ----------
    whole, recovers, times_out : (T, W) arrays
        As from `factors`.
    repeats : int
        b.
    stays_last : bool
        Whether the last, largest window leads to itself.

    Returns
    -------
    grown, recovers, times_out : (T, W) arrays
        Factor on the way to the next window; to the end of a recovery from this one; to the end of a timeout. In a
        last window that leads to itself the wave loses sooner or later.
    """
    stays, grown = np.ones_like(whole), whole.copy()
    for _ in range(1, repeats):
        stays *= whole
        stays += 1.0
        grown *= whole
    if stays_last:
        stays[:, -1] /= 1.0 - grown[:, -1]
    return grown, recovers * stays, times_out * stays


@kept(nogil=True, fastmath={"contract"}, error_model="numpy")
def _power_method(
    entry: NDArray[np.int64],
    half: NDArray[np.int64],
    shares: NDArray[np.float64],
    ends: NDArray[np.bool_],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    chances: NDArray[np.float64],
    restart: int,
    over: int,
    grown: NDArray[np.complex128],
    recovers: NDArray[np.complex128],
    times_out: NDArray[np.complex128],
    pmf: NDArray[np.complex128],
    adjoint: NDArray[np.complex128],
    values: NDArray[np.complex128],
    left: NDArray[np.complex128],
    right: NDArray[np.complex128],
) -> None:
    """Multiply both vectors, in row 0 of `pmf` and `adjoint`, by the epoch's matrix and its transpose many times.

    Parameters
    ----------
    entry, half, shares, ends, restart, over
        See `perron`; index -1 is a last element that does not count, and no `over`.
    starts, targets, chances
        The branches; none where `starts` has one element.
    grown, recovers, times_out : (T, W) arrays
        See `climbs`; 0 for recoveries to nowhere.
    pmf, adjoint : (2, H + 1) arrays
        Vectors to begin with, and the last ones, up to a factor; row 1 is scratch.
    values : (T,) array
    left, right : (T, H + 1) arrays
        Overwritten: see `perron`.
    """
    points, largest = grown.shape
    rows = pmf.shape[1] - 1
    zero = complex(0.0, 0.0)
    branching = len(starts) > 1
    arrived, ahead_of = np.zeros(largest, dtype=np.complex128), np.zeros(largest, dtype=np.complex128)
    for t in range(points):
        for _ in range(STEPS):
            for h in range(rows + 1):
                pmf[1, h] = pmf[0, h]
                adjoint[1, h] = adjoint[0, h]
                pmf[0, h] = zero
            mass, out, ahead, ended, last = zero, zero, zero, zero, zero
            if over >= 0:  # as it would be after the last window
                ahead = adjoint[1, over]
            for i in range(largest):
                mass += pmf[1, entry[i]]
                if i == largest - 1:
                    mass += ended
                if branching:
                    mass += arrived[i]
                    arrived[i] = zero
                for m in range(half.shape[1]):
                    pmf[0, half[i, m]] += shares[i, m] * recovers[t, i] * mass
                out += times_out[t, i] * mass
                mass *= grown[t, i]
                if ends[i]:
                    ended += mass
                    mass = zero
                if branching:  # noqa: SIM102
                    if i < len(starts) - 1:
                        for m in range(starts[i], starts[i + 1]):
                            arrived[targets[m]] += chances[m] * mass
                        mass = zero
                k = largest - 1 - i
                recovered = zero
                for m in range(half.shape[1]):
                    recovered += shares[k, m] * adjoint[1, half[k, m]]
                ahead = last if ends[k] else ahead
                if branching:  # noqa: SIM102
                    if k < len(starts) - 1:
                        ahead = zero
                        for m in range(starts[k], starts[k + 1]):
                            ahead += chances[m] * ahead_of[targets[m]]
                ahead = grown[t, k] * ahead + recovers[t, k] * recovered + times_out[t, k] * adjoint[1, restart]
                last = ahead if i == 0 else last
                if branching:
                    ahead_of[k] = ahead
                adjoint[0, entry[k]] = ahead
            pmf[0, restart] += out
            if over >= 0:
                pmf[0, over] += mass
        total, product, ahead, mass = zero, zero, zero, zero
        for h in range(rows):
            total += pmf[0, h]
            product += pmf[0, h] * adjoint[0, h]
            ahead += pmf[0, h] * adjoint[1, h]
            mass += pmf[1, h] * adjoint[1, h]
        values[t] = ahead * _inverse(mass)
        total, product = _inverse(total), _inverse(product)
        product *= _inverse(total)
        for h in range(rows):
            pmf[0, h] *= total
            adjoint[0, h] *= product
            left[t, h] = pmf[0, h]
            right[t, h] = adjoint[0, h]


@numba.njit(nogil=True, error_model="numpy")
def _inverse(z: complex) -> complex:
    """Return 1 / z; a division of complex numbers would take long to compile."""
    return z.conjugate() * (1.0 / (z.real * z.real + z.imag * z.imag))

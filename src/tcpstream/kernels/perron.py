"""How one loss epoch acts on waves of the backlog far from its ends: Perron eigenvalue and eigenvectors.

Far from an empty backlog an epoch does not depend on D: a wave ``exp(t D)``, times a weight for each entered window,
becomes the same wave with other weights. This is the climb and the losses of `tcpstream.kernels.epoch` for waves.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

FIRST_STEPS = 100
"""Steps of the power method at the first exponent."""

STEPS = 8
"""Steps at every other one, from the vectors of the one before."""


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def perron(
    loss: float,
    repeats: int,
    entry: NDArray[np.int64],
    half: NDArray[np.int64],
    restart: int,
    packet: NDArray[np.complex128],
    playback: NDArray[np.complex128],
    all_lost: NDArray[np.complex128],
    few: NDArray[np.complex128],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the largest eigenvalue of an epoch, with the weights that it multiplies and their adjoint.

    Parameters
    ----------
    loss : float
        p.
    repeats : int
        b, rounds per window increase.
    entry, half : (W,) arrays
        Of window w at index w - 1: row of the entry into it, row of its half; -1 where there is none.
    restart : int
        Row that timeouts lead to.
    packet, playback, all_lost, few : (T,) arrays
        Of each exponent t: factor of a delivered packet; of a round of playback; of a round all lost and of a short
        round without fast retransmit, from its start until its timeouts are over. Neighbours are close to each other.

    Returns
    -------
    values : (T,) array
        Largest eigenvalue kappa.
    laws : (H, T) array
        Weights by entered window, with sum 1.
    worths : (H, T) array
        Adjoint vector, with sum of law times worth 1.
    """
    largest, points = len(entry), len(packet)
    rows = 0
    for row in entry:
        rows = max(rows, row + 1)
    p, q = loss, 1.0 - loss
    values = np.empty(points, dtype=np.complex128)
    laws, worths = np.empty((rows, points), dtype=np.complex128), np.empty((rows, points), dtype=np.complex128)
    law, worth = np.empty(rows, dtype=np.complex128), np.empty(rows, dtype=np.complex128)
    for h in range(rows):
        law[h] = worth[h] = 1.0
    grown, stays = np.empty(largest, dtype=np.complex128), np.empty(largest, dtype=np.complex128)
    recovers, times_out = np.empty(largest, dtype=np.complex128), np.empty(largest, dtype=np.complex128)
    for t in range(points):
        z, mu = q * packet[t], playback[t]
        once, both, whole = 0.0j, 0.0j, mu
        short = 0.0j
        for i in range(largest):  # window i + 1: j = i joins the numbers delivered in the round of the loss
            if i > 0:
                delivered = p * z**i
                at_most = p + z if i == 1 else (p + p * z + z * z if i == 2 else p + p * z + p * z * z)
                short += delivered * at_most
                if i > 2:
                    once += delivered
                    both += p * z ** (2 * i)
            whole *= z
            grown[i] = whole**repeats
            stays[i] = 1.0
            for _ in range(1, repeats):
                stays[i] = 1.0 + whole * stays[i]
            recovers[i] = mu * mu * (0.5 * once * once + (1.0 - 0.5 * p) * both)
            times_out[i] = p * all_lost[t] + mu * mu * short * few[t]
        value = 0.0j
        for _ in range(FIRST_STEPS if t == 0 else STEPS):
            law, worth, value = _step(
                law, worth, entry, half, restart, grown, stays, recovers, times_out
            )  # fmt: skip
        values[t] = value
        for h in range(rows):
            laws[h, t] = law[h]
            worths[h, t] = worth[h]
    return values, laws, worths


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _step(
    law: NDArray[np.complex128],
    worth: NDArray[np.complex128],
    entry: NDArray[np.int64],
    half: NDArray[np.int64],
    restart: int,
    grown: NDArray[np.complex128],
    stays: NDArray[np.complex128],
    recovers: NDArray[np.complex128],
    times_out: NDArray[np.complex128],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], complex]:
    """Make one epoch with both vectors, scale them, and estimate the eigenvalue."""
    largest = len(entry)
    following, before = np.empty_like(law), np.empty_like(worth)
    for h in range(len(law)):
        following[h] = before[h] = 0.0
    mass, out = 0.0j, 0.0j
    for i in range(largest):
        if entry[i] >= 0:
            mass += law[entry[i]]
        if i == largest - 1:
            mass /= 1.0 - grown[i]
        lost = mass * stays[i]
        if half[i] >= 0:
            following[half[i]] += recovers[i] * lost
        out += times_out[i] * lost
        mass *= grown[i]
    following[restart] += out
    value = 0.0j
    for h in range(len(law)):
        value += worth[h] * following[h]  # law and worth have product 1
    ahead = 0.0j
    for i in range(largest - 1, -1, -1):
        now = times_out[i] * worth[restart]
        if half[i] >= 0:
            now += recovers[i] * worth[half[i]]
        ahead = stays[i] * now + grown[i] * ahead
        if i == largest - 1:
            ahead /= 1.0 - grown[i]
        if entry[i] >= 0:
            before[entry[i]] = ahead
    total = 0.0j
    for h in range(len(law)):
        total += following[h]
    product = 0.0j
    for h in range(len(law)):
        following[h] /= total
        product += before[h] * following[h]
    for h in range(len(law)):
        before[h] /= product
    return following, before, value

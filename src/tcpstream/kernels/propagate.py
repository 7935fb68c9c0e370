"""What becomes of a state within some rounds, in moments: every path, its losses and waits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer, kept
from .doubled import doubled, doubled_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


SMALLEST = 1e-40
"""Probability below which nothing is followed at all."""

DIPS, AHEAD = 4, 32
"""Classes of least leads in a factor of 2, by how far they lie below the present lead; and how many of these."""

RATIOS = 16
"""Of as many as there are, boxes of leads up to which they are about the same size."""

LINEAR, FURTHEST = 2.5, 250.0
"""Boxes below the start's lead up to which classes of least leads nearer to it are about the same size, later in the
same ratio; and up to which they are told apart."""


@kept(nogil=True)
def visited(starts: Ints, to: Ints, chance: Floats, first: int, transitions: int) -> Floats:
    """Return the largest probability of each state after 0 .. `transitions` transitions from `first`."""
    n = len(starts) - 1
    x = np.zeros(n)
    x[first] = 1.0
    most = x.copy()
    for _ in range(transitions):
        new = np.zeros(n)
        for s in range(n):
            if x[s] > 1e-18:
                for o in range(starts[s], starts[s + 1]):
                    new[to[o]] += x[s] * chance[o]
        x = new
        for s in range(n):
            most[s] = max(most[s], x[s])
    return most


@part(nogil=True)
def _put(
    head: Ints, state: Ints, sums: Floats, following: Ints, at: int, time: int, to: int, p: float, mean: float,
    square: float, dip: float,
) -> None:  # fmt: skip
    """Put an atom into a place, at a time."""
    state[at] = to
    sums[at, 0] = p
    sums[at, 1] = mean
    sums[at, 2] = square
    sums[at, 3] = dip
    following[at] = head[time]
    head[time] = at


@part(nogil=True)
def _box(lead: float, box: float, boxes: int) -> int:
    """Return the box of a lead: of the given size near the start's, later in the same ratio."""
    half, linear = boxes // 2, boxes / RATIOS
    part = min(int(linear * np.arcsinh(abs(lead) / (linear * box))), half - 1)
    return half + part if lead >= 0 else half - 1 - part


@part(nogil=True)
def _dip(lead: float, least: float, box: float, classes: int) -> int:
    """Return the class of a least lead, relative to the start's."""
    depth = max(lead - least, 0.0)
    if depth <= -least:
        return min(int(DIPS * np.log2(1 + depth / box)), AHEAD - 1)
    part = np.arcsinh(-least / (LINEAR * box)) / np.arcsinh(FURTHEST / LINEAR)
    return AHEAD + min(int(part * classes), classes - 1)


@kept(nogil=True)
def propagate(
    starts: Ints,
    to: Ints,
    rounds: Ints,
    chance: Floats,
    mean: Floats,
    variance: Floats,
    ordered: Floats,
    from_state: Ints,
    from_time: Ints,
    step: int,
    due: float,
    negligible: float,
    boxes: int,
    box: float,
    dips: int,
) -> tuple[Ints, Floats, Ints, Floats]:
    """Follow atoms of probability until the end of a step.

    Parameters
    ----------
    starts .. ordered : arrays
        See `outcomes.Outcomes`.
    from_state, from_time : (n,) int arrays
        Where atoms of mass 1 start, and in which round 0 .. `step` - 1 of the step.
    step : int
        Rounds.
    due : float
        m, packets due per round.
    negligible : float
        Probability that is not followed; what remains is scaled up to 1.
    boxes : int
    box : float
        Atoms of a state are one if their packets fall in the same of so many boxes of this size [packets].
    dips : int
        If not 0, by leads instead, in boxes that grow with the distance from the start; and if their least leads are of
        the same class, by how far they lie below the present lead or that of the start,
        whichever is nearer; of the latter there are so many, and 0 tells none apart.

    Returns
    -------
    landed, moments : (k, 3) int array, (k, 4) array
        Start, state and time [rounds from the step's begin] where an atom is at its end, or first after it; its
        probability, mean and variance of the packets, mean of the least lead on the way, relative to the start's.
    holding, held : (l,) int array, (l, 4) array
        Start of atoms whose last round of the step was not delivered in order; probability, mean, variance, packets
        not in order at the end of the step.
    """
    S = len(starts) - 1
    place = np.full(S * boxes * (AHEAD + dips if dips > 0 else 1), -1, dtype=np.int32)
    room = 1024
    state = np.empty(room, dtype=np.int64)
    sums = np.empty((room, 4))
    following = np.empty(room, dtype=np.int64)
    head = np.full(step + 1, -1)
    landed = np.empty((4096, 3), dtype=np.int64)
    moments = np.empty((4096, 4))
    n_landed = 0
    holding = np.empty(1024, dtype=np.int64)
    held = np.empty((1024, 4))
    n_held = 0
    merged_state = np.empty(1024, dtype=np.int64)
    merged = np.empty((1024, 4))
    for i in range(len(from_state)):
        head[:] = -1
        begin = from_time[i]
        _put(head, state, sums, following, integer(0), begin, from_state[i], 1.0, 0.0, 0.0, 0.0)
        used, free = 1, -1  # places that were ever used, and the first of those that are free again
        first_landed = n_landed
        lost = 0.0
        for r in range(begin, step):
            n = 0
            atom, last = head[r], -1
            while atom >= 0:  # those in the same state become one
                m1 = sums[atom, 1] / sums[atom, 0]
                lead = m1 - due * (r - begin)
                if dips > 0:
                    s = state[atom] + S * _box(lead, box, boxes)
                    s += S * boxes * _dip(lead, sums[atom, 3] / sums[atom, 0], box, dips)
                else:
                    s = state[atom] + S * (int(m1 / box) % boxes)
                k = place[s]
                if k < 0:
                    if n == len(merged_state):
                        merged_state = doubled(merged_state)
                        merged = doubled_rows(merged)
                    k = n
                    place[s] = k
                    merged_state[k] = s
                    merged[k] = 0.0
                    n += 1
                for column in range(4):
                    merged[k, column] += sums[atom, column]
                atom, last = following[atom], atom
            if last >= 0:
                following[last] = free
                free = head[r]
            for k in range(n):
                place[merged_state[k]] = -1
            for k in range(n):
                p = merged[k, 0]
                if p < negligible:
                    lost += p
                    continue
                m1 = merged[k, 1] / p
                v = max(merged[k, 2] / p - m1 * m1, 0.0)
                dip = merged[k, 3] / p
                s = merged_state[k] % S
                for o in range(starts[s], starts[s + 1]):
                    pp = p * chance[o]
                    if pp < SMALLEST:
                        continue
                    time = r + rounds[o]
                    m2 = m1 + mean[o]
                    least = min(dip, m1 + ordered[o] - due * (r + 1 - begin))
                    least = min(least, m2 - due * (time - begin))
                    square = v + variance[o] + m2 * m2
                    if time < step:
                        at = free
                        if at >= 0:
                            free = following[at]
                        else:
                            if used == len(state):
                                state = doubled(state)
                                sums = doubled_rows(sums)
                                following = doubled(following)
                            at = used
                            used += 1
                        _put(head, state, sums, following, at, time, to[o], pp, pp * m2, pp * square, pp * least)
                        continue
                    if pp < negligible * 1e-3:
                        lost += pp
                        continue
                    if n_landed == len(landed):
                        landed = doubled_rows(landed)
                        moments = doubled_rows(moments)
                    landed[n_landed, 0] = i
                    landed[n_landed, 1] = to[o]
                    landed[n_landed, 2] = time
                    moments[n_landed, 0] = pp
                    moments[n_landed, 1] = m2
                    moments[n_landed, 2] = v + variance[o]
                    moments[n_landed, 3] = least
                    n_landed += 1
                    if r == step - 1 and mean[o] > ordered[o]:
                        if n_held == len(holding):
                            holding = doubled(holding)
                            held = doubled_rows(held)
                        holding[n_held] = i
                        held[n_held, 0] = pp
                        held[n_held, 1] = m2
                        held[n_held, 2] = v + variance[o]
                        held[n_held, 3] = mean[o] - ordered[o]
                        n_held += 1
        for k in range(first_landed, n_landed):
            moments[k, 0] /= 1.0 - lost
    return landed[:n_landed], moments[:n_landed], holding[:n_held], held[:n_held]

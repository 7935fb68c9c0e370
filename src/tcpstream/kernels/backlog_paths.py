"""What becomes of a state and a backlog within some rounds, in moments: losses, waits, and an empty backlog."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import kept
from .doubled import doubled, doubled_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

POINTS = 16
"""Of a uniform distribution, by which the packets of a round with a loss are followed where the backlog may empty."""

SOON = 32
"""Rounds in which a backlog of one round's packets empties, at most, if it is at rest, in steps of several rounds."""

COLUMNS = 10
"""Of what is known of an atom."""

EVEN = 1e-3
"""Variance of the packets of a round, over the square of what is due, up to which they are one number."""

EMPTY = 1e-4
"""Backlog that is none, over what is due in a round: steps scale what is sent by about so much,
also where it is just what is due."""


@kept(nogil=True)
def rounds_to_rest(sent: float, due: float) -> int:
    """Return after how many rounds that send more than is due a backlog of one round's packets is empty."""
    ratio = due / (sent - due)
    return math.ceil(ratio - EMPTY * ratio * (1 + ratio))


@kept(nogil=True)
def resting(sent: float, due: float) -> tuple[float, float]:
    """Return the mean backlog after rounds that send more than is due, and the rounds of silence for each.

    The backlog falls from `due` by what is sent beyond it, until it is empty: then a round is silent.
    """
    rounds = rounds_to_rest(sent, due)
    return due - (sent - due) * (rounds - 1) / 2, 1 / rounds


@kept(nogil=True)
def rests(sent: float, due: float, step: int) -> bool:
    """Return whether rounds that send so much keep a backlog at rest: they empty it soon.

    In steps of one round the backlog is followed round by round until each round empties it. Steps scale what is sent:
    twice what is due may come out a little smaller.
    """
    least = due * (1 + 1 / SOON) if step > 1 else 2 * due
    return sent >= least * (1 - EMPTY)


@part(nogil=True)
def _sent(backlog: float, sent: float, due: float, step: int) -> tuple[float, float]:
    """Return the backlog after a round, and the rounds of silence after it."""
    after = backlog + due - sent
    if not rests(sent, due, step):
        return (after, 0.0) if after > EMPTY * due else (due, 1.0)
    least, silent = resting(sent, due)
    if after >= least:
        return after, 0.0
    return least, silent * min(1.0, (least - after) / (sent - due))


@part(nogil=True)
def landing(
    backlog: float, due: float, rounds: int, mean: float, variance: float, ordered: float, twice: bool, step: int
) -> tuple[float, float, float]:
    """Return mean and mean square of the backlog after a transition, and the mean rounds of silence in it."""
    if rounds == 1 and variance < EVEN * due * due:
        after, silent = _sent(backlog, mean, due, step)
        return after, after * after, silent
    width = math.sqrt(3 * variance)
    first_share = ordered / mean if rounds > 1 and mean > 0 else 1.0
    one, two, idle = 0.0, 0.0, 0.0
    for i in range(POINTS):
        packets = max(mean + width * ((2 * i + 1) / POINTS - 1), 0.0)
        first = packets * first_share
        silent = 0.0
        if rounds == 1:
            after, silent = _sent(backlog, packets, due, step)
        else:
            after = backlog + due - first
            second = packets - first
            if twice:
                if after <= EMPTY * due:
                    after, silent = due, 1.0
                after += due - second
                if after <= EMPTY * due and rounds == 2:
                    after, silent = due, silent + 1.0
                after = max(after, 0.0) + due * (rounds - 2)  # a wait is none of its own rounds of silence
            else:
                after = max(after, 0.0) + due * (rounds - 1)
        one += after
        two += after * after
        idle += silent
    return one / POINTS, two / POINTS, idle / POINTS


@part(nogil=True)
def _ended(
    atom: Floats,
    first: int,
    due: float,
    rounds: int,
    mean: float,
    variance: float,
    ordered: float,
    twice: bool,
    step: int,
) -> tuple[float, float, float]:
    """Return mean and mean square of the backlog after a transition of an atom, and the mean rounds of silence so far.

    From `first` on the atom has its probability times mean and mean square of the backlog and the rounds of silence.
    """
    p = atom[0]
    backlog = atom[first] / p
    after, square, silent = landing(backlog, due, rounds, mean, variance, ordered, twice, step)
    if after <= backlog + due * rounds - mean + 1e-9:
        square += max(atom[first + 1] / p - backlog * backlog, 0.0)  # nothing was cut off
    return after, square, silent + atom[first + 2] / p


@kept(nogil=True)
def backlog_paths(
    starts: Ints, to: Ints, rounds: Ints, chance: Floats, mean: Floats, variance: Floats, ordered: Floats,
    twice: NDArray[np.bool_], from_state: Ints, from_time: Ints, rest: Floats, step: int, due: float, negligible: float,
) -> tuple[Ints, Floats, Ints, Floats]:  # fmt: skip
    """Follow atoms of probability until the end of a step, as `kernels.propagate.propagate`, with the backlog.

    Parameters
    ----------
    rest : (n,) array
        Backlog at which each start rests: see `resting`.

    Returns
    -------
    landed : (k, 5) int array
        Start, state and time, and 1 where a start at rest ends at rest, and where an empty backlog does.
    moments : (k, 10) array
        Probability, mean and variance of the packets; mean and variance of the backlog, and mean rounds of silence, had
        the start been at rest; the same, had its backlog been empty; and the backlog at the start up to which it
        empties on the way.
    holding, held : (l,) int array, (l, 8) array
        Start of atoms whose last round was not delivered in order; probability, mean and variance of what is received,
        packets not in order, mean of the backlog had the start been at rest, received and in order, and the same, had
        it been empty.
    """
    S = len(starts) - 1
    place = np.full(S, -1)
    state = np.empty(1024, dtype=np.int64)
    sums = np.empty((1024, COLUMNS))
    following = np.empty(1024, dtype=np.int64)
    head = np.full(step + 1, -1)
    landed = np.empty((4096, 5), dtype=np.int64)
    moments = np.empty((4096, COLUMNS))
    n_landed = 0
    holding = np.empty(1024, dtype=np.int64)
    held = np.empty((1024, 8))
    n_held = 0
    merged_state = np.empty(S, dtype=np.int64)
    merged = np.empty((S, COLUMNS))
    for i in range(len(from_state)):
        head[:] = -1
        begin = from_time[i]
        state[0] = from_state[i]
        sums[0] = 0.0
        sums[0, 0], sums[0, 3], sums[0, 4] = 1.0, rest[i], rest[i] ** 2
        following[0] = -1
        head[begin] = 0
        used = 1
        first_landed = n_landed
        lost = 0.0
        for r in range(begin, step):
            n = 0
            atom = head[r]
            while atom >= 0:  # those in the same state become one
                s = state[atom]
                k = place[s]
                if k < 0:
                    k = n
                    place[s] = k
                    merged_state[k] = s
                    merged[k] = 0.0
                    n += 1
                for column in range(COLUMNS):
                    merged[k, column] += sums[atom, column]
                atom = following[atom]
            for k in range(n):
                place[merged_state[k]] = -1
            for k in range(n):
                p = merged[k, 0]
                if p < negligible:
                    lost += p
                    continue
                m1 = merged[k, 1] / p
                v = max(merged[k, 2] / p - m1 * m1, 0.0)
                floor = merged[k, 9] / p
                s = merged_state[k]
                for o in range(starts[s], starts[s + 1]):
                    pp = p * chance[o]
                    if pp < negligible * 1e-3:
                        lost += pp
                        continue
                    time = r + rounds[o]
                    m2 = m1 + mean[o]
                    v2 = v + variance[o]
                    fall = m1 + ordered[o] - due * (r + 1 - begin)
                    if mean[o] > ordered[o]:
                        fall = max(fall, m2 - due * (r + min(rounds[o], 2) - begin))
                    least = max(floor, fall)
                    if time < step:
                        if used == len(state):
                            state = doubled(state)
                            sums = doubled_rows(sums)
                            following = doubled(following)
                        state[used] = to[o]
                        sums[used, 0], sums[used, 1], sums[used, 2] = pp, pp * m2, pp * (v2 + m2 * m2)
                        for first in (3, 6):
                            after, square, idle = _ended(
                                merged[k], first, due, rounds[o], mean[o], variance[o], ordered[o], twice[o], step
                            )
                            sums[used, first] = pp * after
                            sums[used, first + 1] = pp * square
                            sums[used, first + 2] = pp * idle
                        sums[used, 9] = pp * least
                        following[used] = head[time]
                        head[time] = used
                        used += 1
                        continue
                    if n_landed == len(landed):
                        landed = doubled_rows(landed)
                        moments = doubled_rows(moments)
                    landed[n_landed, 0], landed[n_landed, 1], landed[n_landed, 2] = i, to[o], time
                    even = rounds[o] == 1 and variance[o] == 0.0 and rests(mean[o], due, step)
                    moments[n_landed, 0], moments[n_landed, 1], moments[n_landed, 2] = pp, m2, v2
                    for first in (3, 6):
                        after, square, idle = _ended(
                            merged[k], first, due, rounds[o], mean[o], variance[o], ordered[o], twice[o], step
                        )
                        at_rest = even and after <= resting(mean[o], due)[0] * (1 + 1e-9)
                        landed[n_landed, 2 + first // 3] = 1 if at_rest else 0
                        moments[n_landed, first] = after
                        moments[n_landed, first + 1] = max(square - after * after, 0.0)
                        moments[n_landed, first + 2] = idle
                    moments[n_landed, 9] = least
                    n_landed += 1
                    if r == step - 1 and mean[o] > ordered[o]:
                        if n_held == len(holding):
                            holding = doubled(holding)
                            held = doubled_rows(held)
                        holding[n_held] = i
                        held[n_held, 0], held[n_held, 1], held[n_held, 2] = pp, m2, v2
                        held[n_held, 3] = mean[o] - ordered[o]
                        for j in range(2):
                            before = merged[k, 3 + 3 * j] / p
                            held[n_held, 4 + 2 * j] = max(before + due - mean[o], 0.0)
                            held[n_held, 5 + 2 * j] = max(before + due - ordered[o], 0.0)
                        n_held += 1
        for k in range(first_landed, n_landed):
            moments[k, 0] /= 1.0 - lost
    return landed[:n_landed], moments[:n_landed], holding[:n_held], held[:n_held]

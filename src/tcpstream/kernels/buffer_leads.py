"""Leads over playback: each quantum where little is held, and few of them where much is."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from ..system.compiler import integer, kept
from .buffer_moves import Totals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Leads(NamedTuple):
    """Points of leads.

    Attributes
    ----------
    followed : int
        Quanta that are points each, from 0 on, and are followed; a multiple of `every`.
    even : int
        Quanta that are points each; those that are not followed are read off what is further apart.
    every : int
        Quanta between two points from `followed` on, which come after these.
    weights : (every, 4) array
        Of the last two points before a lead and the two after it, by its quanta beyond the last one.
    """

    followed: int
    even: int
    every: int
    weights: Floats


class Deep(NamedTuple):
    """Transitions where much is held.

    Attributes
    ----------
    changes, at_top : Totals
        What they change a lead by, in multiples of `Leads.every` quanta, instead of what is received; and the same
        where a buffer may become full.
    begins : (longest + 1,) int array
        Multiples from which on they are those of so many rounds.
    top : (S,) int array
        Multiples from which on a buffer may become full, by state.
    """

    changes: Totals
    at_top: Totals
    begins: Ints
    top: Ints


@part(nogil=True)
def point(multiple: int, followed: int, even: int, every: int) -> int:
    """Return the point at a multiple of `every` quanta."""
    held = multiple * every
    return held if held < followed else even + (held - followed) // every


@kept(nogil=True)
def points_below(held: int, points: int, leads: Leads) -> int:
    """Return before which of so many points all are less than so many quanta."""
    if held <= leads.followed:
        return min(held, points)
    return min(points, leads.even + (held - leads.followed + leads.every - 1) // leads.every)


@part(nogil=True)
def put(out: Floats, values: Floats) -> None:
    """Set values: compiled much sooner than an assignment, which reports shapes that do not fit."""
    for c in range(len(out)):
        out[c] = values[c]


@numba.njit(nogil=True, inline="always")
def add_held(out: Floats, weight: float, row: Floats, held: int, leads: Leads) -> None:
    """Add values for so many quanta held; the most there is from there on."""
    if held < leads.even:
        for c in range(len(out)):
            out[c] += weight * row[held, c]
    else:
        add_between(out.reshape(1, len(out)), weight, row, integer(0), integer(1), held, leads)


@part(nogil=True)
def add_between(
    out: Floats, weight: float, row: Floats, begin: int, end: int, shift: int, leads: Leads
) -> None:  # fmt: skip
    """Add values for `shift` quanta more than `begin` .. `end` - 1, where points are further apart, by a cubic."""
    followed, even, every, weights = leads
    last, C = len(row) - 1, out.shape[1]
    for i in range(begin, end):
        low, beyond = (i + shift) // every, (i + shift) % every
        at = point(low, followed, even, every)
        if beyond == 0 or at >= last:
            at = min(at, last)
            for c in range(C):
                out[i, c] += weight * row[at, c]
        elif at == last - 1:
            share = beyond / every
            for c in range(C):
                out[i, c] += weight * ((1.0 - share) * row[at, c] + share * row[last, c])
        else:
            before = point(low - 1, followed, even, every)
            one, two, three, four = (
                weight * weights[beyond, 0], weight * weights[beyond, 1], weight * weights[beyond, 2],
                weight * weights[beyond, 3],
            )  # fmt: skip
            for c in range(C):
                out[i, c] += one * row[before, c] + two * row[at, c] + three * row[at + 1, c] + four * row[at + 2, c]


@part(nogil=True)
def add_values(out: Floats, weight: float, values: Floats) -> None:
    """Add values."""
    for i in range(len(out)):
        out[i] += weight * values[i]

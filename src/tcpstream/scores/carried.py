"""Loss rate and throughput of every session: one is given, the other is inferred from some that are solved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..sender import LINUX_VARIATION
from .distinct import Sessions
from .one_session import Solved
from .surface import SMOOTH, fit, nearest

Floats = NDArray[np.float64]

ENOUGH = 120
"""Throughputs that are solved: each takes a hundredth of a second, or some tenths where windows are large."""


@dataclass(frozen=True)
class Carried:
    """What the path of each case carries.

    Attributes
    ----------
    loss, loss_error : (n,) arrays
        p, and the relative error of it; 0 where it is given.
    throughput, throughput_error : (n,) arrays
        T [packets/s], the same.
    refused : list of str
        Why it is not known, or nothing.
    """

    loss: Floats
    loss_error: Floats
    throughput: Floats
    throughput_error: Floats
    refused: list[str]


def timers(numbers: Floats) -> Floats:
    """Return R_TO of cases [s], that of Linux where it is not given."""
    return np.where(np.isnan(numbers[:, 2]), numbers[:, 1] + LINUX_VARIATION, numbers[:, 2])


def places(numbers: Floats) -> Floats:
    """Return where cases lie: logarithms of what says how much a path carries, of R and R_TO; what varies of these."""
    columns = [numbers[:, 0], numbers[:, 1]]
    if not np.isnan(numbers[:, 2]).all():
        columns.append(timers(numbers))
    return np.log(np.column_stack(columns))


def varying(where: Floats) -> NDArray[np.bool_]:
    """Return which coordinates are not the same everywhere; the first one if none is."""
    found = np.ptp(where, axis=0) > 1e-9 if len(where) else np.zeros(where.shape[1], dtype=np.bool_)
    found[0] |= not found.any()
    return np.asarray(found, dtype=np.bool_)


def carried(cases: Sessions, some: list[int], found: list[Solved]) -> Carried:
    """Return loss rate and throughput of all cases, from those that were found of some."""
    where = places(cases.numbers)
    where = where[:, varying(where)]
    wanted = "throughput" if cases.given == "loss" else "loss"
    good = [k for k, one in enumerate(found) if not one.refused]
    given = cases.numbers[:, 0]
    refused = [""] * len(cases)
    other, off = np.full(len(cases), math.nan), np.full(len(cases), math.nan)
    if len(good) > 1:
        known = np.array([math.log(getattr(found[k], wanted)) for k in good])
        value, error = fit(where[[some[k] for k in good]], known, SMOOTH).at(where)
        other, off = np.exp(value), np.expm1(np.minimum(error, 20.0))
    if len(good) < len(found):
        closest = nearest(where[some], where)[1].tolist()
        refused = [found[k].refused and f"as the nearest that was tried: {found[k].refused}" for k in closest]
    for k, i in enumerate(some):
        refused[i] = found[k].refused
        if not refused[i]:
            other[i], off[i] = getattr(found[k], wanted), 0.0
    none = np.zeros(len(cases))
    if cases.given == "loss":
        return Carried(given, none, other, off, refused)
    return Carried(other, off, given, none, refused)

"""Independent repetitions of a simulation, and what they say together."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..errors import whole
from ..numerics.confidence import student
from ..system.threads import on_cores
from .scenario import Scenario
from .simulation import Run, simulate


def replicate(
    make: Callable[[np.random.Generator], Scenario],
    runs: int,
    seed: int,
    seconds: float,
    done: Callable[[], object] = lambda: None,
) -> list[Run]:
    """Simulate a scenario several times, on all cores.

    Parameters
    ----------
    make : callable
        From a generator to the scenario of a run; what it draws, each run draws anew.
    runs : int
    seed : int
        The generators are ``numpy.random.default_rng(seed).spawn(runs)``: the first runs of many are those of few.
    seconds : float
        Length of each run [s].
    done : callable
        Called after each run.

    Returns
    -------
    list of Run
        In the order of their generators.
    """

    def one(rng: np.random.Generator) -> Run:
        run = simulate(make(rng), seconds, rng)
        done()
        return run

    return on_cores(one, np.random.default_rng(whole("seed", seed, 0)).spawn(whole("number of runs", runs)))


def interval(values: ArrayLike) -> tuple[float, float, float]:
    """Return the mean of independent values and the ends of its 95% interval, by Student's t.

    Parameters
    ----------
    values : (n,) array_like
        One a run; runs that have none (NaN) do not count.

    Returns
    -------
    mean, low, high : float
        NaN where there are too few values: one for the mean, two for the interval.
    """
    found = np.asarray(values, dtype=float)
    found = found[~np.isnan(found)]
    n = len(found)
    if n < 2:
        return (float(found[0]) if n else math.nan, math.nan, math.nan)
    half, mean = float(student(found)), float(found.mean())
    return mean, mean - half, mean + half


def nonnegative(values: ArrayLike) -> tuple[float, float, float]:
    """Return the `interval` of values that are not negative, which reaches down to 0 at most."""
    mean, low, high = interval(values)
    return mean, low if math.isnan(low) else max(0.0, low), high

"""What one measurement found, and how repetitions are timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


@dataclass
class Outcome:
    """One row of the table.

    Attributes
    ----------
    seconds : list of float
        Of every repetition [s]; empty when nothing was timed.
    answer : mapping of str to NDArray
        Compared with the answer of the same name of the case's reference row.
    method : str
        What the row is called, where it differs from the name of its measurement.
    states : int, optional
        States (stored media: states x positions) that were followed.
    claimed : str
        What the method itself says about its accuracy.
    note : str
        What a reader of the row must know.
    stopped : bool
        The time limit came first: `seconds` is how long it ran.
    extrapolated : bool
        `seconds` was not measured but computed from what was.
    figures : mapping of str to float
        Whatever else was measured.
    """

    seconds: list[float]
    answer: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    method: str = ""
    states: int | None = None
    claimed: str = ""
    note: str = ""
    stopped: bool = False
    extrapolated: bool = False
    figures: Mapping[str, Any] = field(default_factory=dict)


def timed(
    work: Callable[[int], Result], *, most: int = 9, budget: float = 8.0, warm: bool = True
) -> tuple[list[float], Result]:
    """Time `work` a few times and return the seconds, and the result of its first call.

    Parameters
    ----------
    work : callable
        Takes the number of the repetition, 0 first, so that it can avoid repeating itself.
    most : int
        Repetitions at most.
    budget : float
        No repetition starts after these seconds [s].
    warm : bool
        Do not time the first call: it compiles, or loads, what later calls have.
    """
    start = time.perf_counter()
    result = work(0)
    first = time.perf_counter() - start
    if not warm and (first > budget or most == 1):
        return [first], result
    seconds: list[float] = [] if warm else [first]
    begin = time.perf_counter()
    while len(seconds) < most and (not seconds or time.perf_counter() - begin < budget):
        start = time.perf_counter()
        work(len(seconds) + 1)
        seconds.append(time.perf_counter() - start)
    return seconds, result


def duration(seconds: float) -> str:
    """Return a time that can be read.

    >>> duration(0.01234), duration(12.34), duration(5e7)
    ('12.3 ms', '12.3 s', '1.6 years')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 1e4:
        return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:.0f} s"
    if seconds < 2e6:
        return f"{seconds / 3600:.0f} hours"
    return f"{seconds / 31_557_600:.2g} years"

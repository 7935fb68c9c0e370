"""Throughput over time: the mean of each interval, whatever measured it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, positive

Floats = NDArray[np.float64]

FASTEST, LATEST = 1e11, 1e12
"""Largest throughput [bit/s] and time [s]; above them the unit of a file was mistaken."""


@dataclass(frozen=True, eq=False)
class ThroughputTrace:
    """Throughput of a path over time.

    Parameters
    ----------
    edges : (n + 1,) array_like
        Where intervals begin and end [s], increasing.
    throughput : (n,) array_like
        Mean of each interval [bit/s], 0 to 1e11 bit/s.
    source : str
        What it was read from, for people.

    Raises
    ------
    InputError
        For values out of range, not finite, or too few.

    Examples
    --------
    >>> from tcpstream.traces import ThroughputTrace
    >>> trace = ThroughputTrace([0, 1, 2, 4], [1e6, 2e6, 0], "three intervals")
    >>> trace.resampled(2.0).tolist()
    [1500000.0, 0.0]
    """

    edges: Floats
    throughput: Floats
    source: str = "trace"

    def __init__(self, edges: ArrayLike, throughput: ArrayLike, source: str = "trace") -> None:
        try:
            times, rates = np.array(edges, dtype=np.float64), np.array(throughput, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{source}: times [s] and throughputs [bit/s] are numbers") from None
        if rates.ndim != 1 or times.shape != (len(rates) + 1,) or len(rates) < 1:
            raise InputError(f"{source}: each of one or more intervals has a throughput, ends where the next begins")
        if not (np.abs(times) <= LATEST).all():
            i = int(np.argmin(np.abs(times) <= LATEST))
            raise InputError(f"{source}: times must lie within {LATEST:g} s, got {times[i]:g} s")
        if not (np.diff(times) > 0).all():
            i = int(np.argmin(np.diff(times) > 0))
            raise InputError(f"{source}: times must increase, got {times[i + 1]:g} s after {times[i]:g} s")
        if not ((rates >= 0) & (rates <= FASTEST)).all():
            i = int(np.argmin((rates >= 0) & (rates <= FASTEST)))
            raise InputError(
                f"{source}: throughput must lie between 0 and {FASTEST:g} bit/s, got {rates[i]:g} bit/s "
                f"at {times[i + 1]:g} s"
            )
        for name, value in {"edges": times, "throughput": rates, "source": source}.items():
            object.__setattr__(self, name, value)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return float(self.edges[-1] - self.edges[0])

    @property
    def interval(self) -> float:
        """Length of the median interval [s]."""
        return float(np.median(np.diff(self.edges)))

    @property
    def longest_interval(self) -> float:
        """Length of the longest interval [s]."""
        return float(np.diff(self.edges).max())

    @property
    def mean(self) -> float:
        """Mean throughput [bit/s]."""
        return float(self.throughput @ np.diff(self.edges)) / self.duration

    def whole_intervals(self, step: float) -> int:
        """Return how many equal intervals of a length [s], > 0, fit into the trace."""
        return math.floor(self.duration / step * (1 + 1e-12))

    def resampled(self, interval: float) -> Floats:
        """Return the mean throughput in equal intervals [bit/s]; what is left at the end is left out.

        Parameters
        ----------
        interval : float
            Length of each [s], > 0.

        Raises
        ------
        InputError
            For a length that is not positive, or longer than the trace.
        """
        step = positive("interval", interval, "s")
        count = self.whole_intervals(step)
        if count < 1:
            raise InputError(
                f"{self.source}: an interval of {step:g} s is longer than the trace of {self.duration:g} s"
            )
        times = self.edges - self.edges[0]
        bits = np.append(0.0, np.cumsum(self.throughput * np.diff(times)))
        found = np.diff(np.interp(step * np.arange(count + 1), times, bits)) / step
        return np.asarray(np.maximum(found, 0.0))  # rounding of the sums

"""What a run says of a TFRC flow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..traffic import Traffic


def figures(traffic: Traffic, start: float, end: float) -> dict[str, float]:
    """Return what a TFRC flow measured in a time of a run; NaN for what it had no time to measure.

    Parameters
    ----------
    traffic : Traffic
        Of the flow.
    start, end : float
        Since the run began [s].

    Returns
    -------
    dict
        ``loss_event_rate``, one over the mean number of packets from a loss event to the next; ``p``, ``rtt_s``, R, and
        ``allowed_bps``, X [bit/s]: means over time of what the sender used.
    """
    times, numbers = traffic.noted("loss_event")
    numbers = numbers[(times >= start) & (times < end)]
    between = numbers[-1] - numbers[0] if len(numbers) > 1 else math.nan
    found = {"loss_event_rate": float((len(numbers) - 1) / between)}
    for name, note in (("p", "p"), ("rtt_s", "rtt"), ("allowed_bps", "allowed_rate")):
        found[name] = _mean(*traffic.noted(note), start, end)
    return found


def _mean(times: NDArray[np.float64], values: NDArray[np.float64], start: float, end: float) -> float:
    """Return the mean over time of what holds from its time on, from `start`, or from the first value, to `end`."""
    if not len(times) or times[0] >= end:
        return math.nan
    lengths = np.diff(np.clip(np.append(times, end), start, end))
    return float(values @ lengths / lengths.sum())

"""Throughput over time as JSON: the networks of Sabre, and the intervals of iperf3."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, positive, real, shown
from .throughput_trace import ThroughputTrace


def of_sabre(data: Any, name: str) -> ThroughputTrace:
    """Return the trace of a list of periods, each with its length and bandwidth."""
    wanted = f"{name}: a list of objects with duration_ms and bandwidth_kbps is wanted"
    if not isinstance(data, list) or not data:
        raise InputError(f"{wanted}, got {shown(data)}")
    lengths, rates = [], []
    for number, one in enumerate(data, 1):
        if not isinstance(one, dict) or not {"duration_ms", "bandwidth_kbps"} <= one.keys():
            raise InputError(f"{wanted}, got {shown(one)} as number {number}")
        lengths.append(positive(f"{name}, period {number}: duration_ms", one["duration_ms"], "ms"))
        rates.append(1000 * real(f"{name}, period {number}: bandwidth_kbps", one["bandwidth_kbps"], "kbit/s"))
    with np.errstate(over="ignore"):
        edges = np.append(0.0, np.cumsum(lengths)) / 1000
    return ThroughputTrace(edges, rates, name)


def of_iperf3(data: dict[str, Any], name: str) -> ThroughputTrace:
    """Return the trace of the intervals of ``iperf3 -J``, the sum of all streams."""
    if problem := data.get("error"):
        raise InputError(f"{name} holds an error of iperf3: {' '.join(str(problem).split())}")
    edges: list[float] = []
    rates = []
    try:
        for number, interval in enumerate(data["intervals"], 1):
            one = interval["sum"]
            if one.get("omitted"):
                continue
            start, end, size = (
                real(f"{key} of interval {number} of {name}", one[key]) for key in ("start", "end", "bytes")
            )
            if not end > start or (edges and abs(start - edges[-1]) > (end - start) / 2):
                raise InputError(f"{name}: intervals follow each other, got one from {start:g} s to {end:g} s")
            edges = edges or [start]
            rates.append(8 * size / (end - edges[-1]))
            edges.append(end)
    except (LookupError, TypeError, AttributeError):
        raise InputError(
            f"{name} is no output of iperf3 -J: intervals with a sum of start, end and bytes are wanted"
        ) from None
    except ZeroDivisionError:
        raise InputError(f"{name}: intervals follow each other, got one without length") from None
    if not rates:
        raise InputError(f"{name} has no interval that counts: the JSON of a finished test of iperf3 -J is wanted")
    return ThroughputTrace(edges, rates, name)

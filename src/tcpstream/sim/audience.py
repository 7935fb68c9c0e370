"""What the viewers of many runs saw, in the names of ``tcpstream play --json``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numerics.confidence import wilson
from .replications import nonnegative
from .session import Session

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}

COUNTED = 4
"""Numbers of stalls that have a share of their own, from 0 on."""


def seen(sessions: Sequence[Session], duration: float, *, counted: bool) -> dict[str, Any]:
    """Return means, quantiles and shares of sessions, ready for JSON, and 95% intervals under ``intervals``.

    Parameters
    ----------
    sessions : sequence of Session
    duration : float
        Of the video [s].
    counted : bool
        Whether stalls are counted: not for a player that resumes with the missing packet alone, whose stalls fall
        apart into one for each packet.
    """
    joins = np.array([one.join_time for one in sessions])
    stalled = np.array([one.total_rebuffer for one in sessions])
    stalls = np.array([len(one.stall_start) for one in sessions])
    first = np.array([one.stall_start[0] for one in sessions if len(one.stall_start)])
    some = int((stalls > 0).sum())
    values = {"join_time_s": joins, "total_rebuffer_s": stalled, "rebuffering_ratio": stalled / (stalled + duration)}
    if counted:
        values["rebuffer_count"] = stalls.astype(np.float64)
    means, intervals = {}, {"stall_probability": list(wilson(some, len(sessions)))}
    for name, found in values.items():
        means[name], *intervals[name] = nonnegative(found)
    shares = [float((stalls == k).mean()) for k in range(COUNTED)]
    return {
        "join_time_s": {"mean": means["join_time_s"]} | _quantiles(joins),
        "stall_probability": some / len(sessions),
        "total_rebuffer_s": {"mean": means["total_rebuffer_s"]} | _quantiles(stalled),
        "rebuffer_count": {"mean": means["rebuffer_count"], "pmf": [*shares, float((stalls >= COUNTED).mean())]}
        if counted
        else None,
        "stall_length_s": {"mean": float(stalled.sum() / stalls.sum())} if counted and some else None,
        "first_stall_s": _quantiles(first) if some else None,
        "rebuffering_ratio": means["rebuffering_ratio"],
        "intervals": intervals,
    }


def _quantiles(values: NDArray[np.float64]) -> dict[str, float]:
    """Return the least value that so many of them do not exceed."""
    ordered = np.sort(values)
    return {name: float(ordered[max(math.ceil(u * len(ordered) - 1e-9), 1) - 1]) for name, u in QUANTILES.items()}

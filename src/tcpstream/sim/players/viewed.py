"""What a viewer saw, from what a client wrote down."""

from __future__ import annotations

import math

from ..traffic import Traffic


def viewed(traffic: Traffic, duration: float) -> dict[str, float]:
    """Return what a viewer saw in a run of so many seconds, and the changes of the level."""
    asked, starts, ends = (traffic.noted(name) for name in ("asks", "start", "end"))
    halts, resumes = (traffic.noted(name)[1] for name in ("halt", "resume"))
    begun = asked[0][0] if len(asked[0]) else math.nan
    joined = starts[1][0] if len(starts[1]) else math.nan
    end = ends[1][0] if len(ends[1]) else math.nan
    stalled = float(resumes.sum() - halts.sum()) + (duration if len(halts) > len(resumes) else 0.0)
    watched = (duration if math.isnan(end) else end) - joined
    _, coded = traffic.noted("coded")
    return {
        "join_time_s": joined - begun,
        "rebuffer_count": float(len(halts)),
        "total_rebuffer_s": stalled,
        "rebuffering_ratio": stalled / watched if watched > 0 else math.nan,
        "end_s": end - begun,
        "level_changes": float(max(len(coded) - 1, 0)),
        "coded_bps": float(coded[-1]) if len(coded) else math.nan,
    }

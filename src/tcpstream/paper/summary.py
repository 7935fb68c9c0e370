"""Section 6.3: what the paper concludes from all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .claim import Claim
from .conditions import over_paths
from .late_fractions import LOSSES, RTTS, SATISFACTORY, TIMERS, over_rate, required_delays

RATIOS = (2.0, 3.0, 4.0)


def summary(**tcp: Any) -> Iterator[Claim]:
    """Yield the conclusions of Section 6.3 that Sections 6.1 and 6.2 do not state already; parameters as `claims`."""
    for kind in ("live", "stored"):
        delays = np.array(list(over_paths(kind, **tcp).values()))
        enough = int((delays <= SATISFACTORY).sum())
        yield Claim(
            f"{kind}-not-T-alone",
            "6.3",
            f"{kind.capitalize()}: T/mu alone does not decide (over p, R and T_O the required delays at T/mu = 2 "
            "differ by a factor of more than 10)",
            f"{delays.min():.2f} s to {delays.max():.1f} s",
            bool(delays.max() > 10 * delays.min()),
        )
        yield Claim(
            f"{kind}-generally",
            "6.3",
            f"{kind.capitalize()}: T/mu = 2 is generally good with a few seconds (10 s suffice in most of the "
            "settings of p, R and T_O)",
            f"{enough} of {len(delays)} settings within 10 s, median {np.median(delays):.1f} s",
            bool(enough > len(delays) / 2),
        )
    high, long, slow = LOSSES[-1], RTTS[-1], TIMERS[-1]
    cases = [over_rate(high, slow, long, ratio, **tcp) for ratio in RATIOS]
    needed = {kind: required_delays(kind, cases) for kind in ("live", "stored")}
    yield Claim(
        "more-than-twice",
        "6.3",
        "Large R, p and T_O (300 ms, 0.04, 4) need a long startup delay or T/mu above 2 (at 2 more than 10 s, above it "
        "less; live and stored)",
        "T/mu = 2, 3, 4: " + "; ".join(f"{kind} {', '.join(f'{d:.1f}' for d in ds)} s" for kind, ds in needed.items()),
        all(bool(ds[0] > SATISFACTORY and (np.diff(ds) < 0).all()) for ds in needed.values()),
    )

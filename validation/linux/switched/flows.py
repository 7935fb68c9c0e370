"""Downloads over such paths, and whether the machine disturbed them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from conditions import DISTURBED, LATE
from emulator import Source, deliveries
from hub import Flow
from losses import Losses
from run import PIECE, undisturbed

from .cases import Case


def flow(case: Case, seconds: float, seed: Sequence[int], **more: Any) -> Flow:
    """Return an endless download over a path."""
    changes, lost = np.random.default_rng(seed).spawn(2)
    return Flow(
        "reno", case.rtt / 2, Losses(case.p, lost), Source(), seconds, link=case.link(seconds, changes), **more
    )  # fmt: skip


def disturbed(one: Flow, rtt: float) -> bool:
    """Return whether a packet was forwarded more than 50 ms late, or packets by 2% of R in the mean."""
    return bool(one.seen.stalls) or float(np.mean(one.seen.late)) > LATE * rtt


def often_disturbed(one: Flow, rtt: float) -> bool:
    """Return whether a fifth of a long connection lies in or soon after such packets, or packets were as late."""
    pieces = np.linspace(0, one.seconds, math.ceil(one.seconds / PIECE) + 1)
    out = float(np.mean(~undisturbed(pieces, one.seen, warmup=0.0)))
    return out > DISTURBED or float(np.mean(one.seen.late)) > LATE * rtt


def series(one: Flow, interval: float, seconds: float) -> list[float]:
    """Return the mean throughput of each interval [bit/s], of payload in packets of 1500 bytes."""
    edges = np.arange(0.0, seconds + interval / 2, interval)
    return list(np.histogram(deliveries(one.seen), edges)[0] * 12_000 / interval)

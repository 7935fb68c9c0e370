"""Downloads over such paths, many at the same time, and what a viewer of the data would have had to wait."""

from __future__ import annotations

import gc
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from conditions import DISTURBED, LATE
from emulator import Source, deliveries, everyday, real_time
from hub import Flow, Hub
from losses import Losses
from run import PIECE, undisturbed

from .cases import Case


def flow(case: Case, seconds: float, seed: Sequence[int], **more: Any) -> Flow:
    """Return an endless download over a path."""
    changes, lost = np.random.default_rng(seed).spawn(2)
    return Flow(
        "reno", case.rtt / 2, Losses(case.p, lost), Source(), seconds, link=case.link(seconds, changes), **more
    )  # fmt: skip


def carry(flows: Sequence[Flow]) -> None:
    """Make all connections."""
    hub = Hub(flows)
    gc.disable()
    priority = real_time()
    hub.run()
    if priority:
        everyday()


def disturbed(one: Flow, rtt: float) -> bool:
    """Return whether a packet was forwarded more than 50 ms late, or packets by 2% of R in the mean."""
    return bool(one.seen.stalls) or float(np.mean(one.seen.late)) > LATE * rtt


def often_disturbed(one: Flow, rtt: float) -> bool:
    """Return whether a fifth of a long connection lies in or soon after such packets, or packets were as late."""
    pieces = np.linspace(0, one.seconds, math.ceil(one.seconds / PIECE) + 1)
    out = float(np.mean(~undisturbed(pieces, one.seen, warmup=0.0)))
    return out > DISTURBED or float(np.mean(one.seen.late)) > LATE * rtt


def needed(one: Flow, begin: float, rate: float, seconds: float) -> float | None:
    """Return the least startup delay with which no packet would have been late [s].

    Parameters
    ----------
    one : Flow
    begin : float
        When the viewer asks for the video, since the beginning of the connection [s].
    rate, seconds : float
        Of the video [packets/s; s].

    Returns
    -------
    float or None
        None if the connection ended too soon to tell.
    """
    times = deliveries(one.seen)
    first, packets = int(np.searchsorted(times, begin)), round(rate * seconds)
    times = times[first : first + packets]
    if len(times) < packets:
        return None
    return round(max(0.0, float((times - begin - np.arange(1, packets + 1) / rate).max())), 4)


def series(one: Flow, interval: float, seconds: float) -> list[float]:
    """Return the mean throughput of each interval [bit/s], of payload in packets of 1500 bytes."""
    edges = np.arange(0.0, seconds + interval / 2, interval)
    return list(np.histogram(deliveries(one.seen), edges)[0] * 12_000 / interval)

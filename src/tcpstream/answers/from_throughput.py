"""From a measured throughput to a path: the loss rate at which the path's chain has it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ..errors import AccuracyError, InputError, unremarked, within
from ..path import LARGE_LOSS, LOSSES, Path
from ..system import watch
from ..video import RATES, SIZES

__all__ = ["Path", "from_throughput"]

RESIDUAL = 1e-6
"""Relative difference of the chain's throughput and the wanted one, at most."""

STEP = 8.0
"""Factor from one loss rate to the next, until two have the wanted throughput between them."""

FIRST = 0.1
"""Loss rate at which the search begins: the chains of larger ones are small, those of ever smaller ones ever larger."""


def from_throughput(
    cls: type[Path],
    /,
    throughput: float | None = None,
    *,
    bitrate: float | None = None,
    packet_size: float = 1500,
    rtt: float,
    **chosen: Any,
) -> Path:
    """Return the path whose backlogged TCP has a measured throughput: its loss rate p is found, the rest is given.

    Parameters
    ----------
    throughput : float, optional
        T [packets/s], of a sender that always had data and was limited by losses. Give this or `bitrate`.
    bitrate : float, optional
        T [bit/s], in packets of `packet_size` bytes.
    packet_size : float
        Bytes of a packet, 1 to 1e6.
    rtt : float
        R, round trip time [s].
    **chosen
        What else `Path` takes, but `loss`. The classic sender without ``max_window`` has that of each p, too large to
        matter.

    Returns
    -------
    Path
        ``tcpstream.throughput`` of it is T within 1e-6 of itself, p at most 0.5.

    Raises
    ------
    InputError
        For values that `Path` rejects, and for a throughput that the path cannot have: the message says between which
        it can.
    AccuracyError
        For a p so small that the chain has too many states.

    Notes
    -----
    T falls as p grows, for every chain, so there is one p at most. An interval of T is carried by its ends: the higher
    T is the better path. Where `max_window` or a bottleneck limits T rather than losses, T says little about p.
    """
    if (throughput is None) == (bitrate is None):
        raise InputError("give the throughput that was measured: throughput [packets/s] or bitrate [bit/s]")
    if "loss" in chosen:
        raise InputError("a throughput stands for the loss rate: leave out loss, or give Path(loss=...)")
    if bitrate is not None:
        size = within("packet size", packet_size, *SIZES, "bytes")
        throughput = within("bit rate", bitrate, RATES[0] * 8 * size, RATES[1] * 8 * size, "bit/s") / (8 * size)
    wanted = within("throughput", throughput, *RATES, "packets/s")

    def path(loss: float) -> Path:
        with unremarked():
            return cls(loss=loss, rtt=rtt, **chosen)

    p = loss_rate(path, wanted)
    return cls(loss=p, rtt=rtt, **chosen)


def loss_rate(path: Callable[[float], Path], wanted: float, largest: float = LARGE_LOSS) -> float:
    """Return the p, up to a largest one, at which a path has the wanted throughput [packets/s]."""
    from .. import tcp
    from ..numerics.roots import crossing

    @cache
    def gap(log_loss: float) -> float:
        watch.at()
        return math.log(tcp.throughput(path(min(math.exp(log_loss), largest))) / wanted)

    least, most = math.log(LOSSES[0]), math.log(largest)
    low = high = math.log(FIRST)
    while gap(low) < 0 and low > least:
        low, high = max(low - math.log(STEP), least), low
    while gap(high) > 0 and high < most:
        low, high = high, min(high + math.log(STEP), most)
    if gap(low) < 0 or gap(high) > 0:
        reach = _reach(path, largest)
        raise InputError(f"a throughput of {wanted:.4g} packets/s is not what this path can have: {reach}")
    found = crossing(gap, low, high, 1e-9)
    if abs(gap(found)) > RESIDUAL:
        raise AccuracyError(
            f"no loss rate gives the path {wanted:.6g} packets/s: {wanted * math.exp(gap(found)):.6g} is next to it"
        )
    return min(math.exp(found), largest)


def _reach(path: Callable[[float], Path], largest: float) -> str:
    """Return between which throughputs losses can take a path, in words."""
    from ..tcp import throughput

    low = f"{throughput(path(largest)):.4g} packets/s at a loss rate of {largest:g}"
    clean = path(LOSSES[0])
    try:
        return f"it has {low} and {throughput(clean):.4g} packets/s at most, with windows of {clean.max_window} packets"
    except AccuracyError:
        return f"it has {low}, and more at any below"


Path.from_throughput = classmethod(from_throughput)  # type: ignore[assignment]

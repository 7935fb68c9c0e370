"""What each TCP is, one record each: a new TCP is a record here and a file with its chain."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .errors import InputError

#: A run of growth from half the default largest window reaches it with at most this probability.
REACHES_MAX_WINDOW = 1e-9

#: How a path loses packets: each for itself, or with the first one lost of a round the rest of it.
LOSS_PROCESSES = ("independent", "bursts")


def enough_window(loss: float, rounds_per_increase: int = 1) -> int:
    """Return the smallest largest-window that hardly ever matters.

    Growing from w/2 to w without a loss takes ``rounds_per_increase`` rounds at each window, with probability
    ``(1 - loss) ** (rounds_per_increase * (w/2 + ... + (w - 1)))``. The smallest w for which this is at most
    `REACHES_MAX_WINDOW` (1e-9) is returned: the chain meets the limit about once in 10^9 loss epochs.

    Parameters
    ----------
    loss : float
        Loss rate p, 0 < p < 1.
    rounds_per_increase : int
        b, 1 or 2.

    Returns
    -------
    int
        Largest window [packets], at least 4.
    """
    needed = math.log(REACHES_MAX_WINDOW) / (rounds_per_increase * math.log1p(-loss))
    needed = min(needed, 1e300)  # finite for every loss rate, however small
    low, high = 3, 4
    while _grown(high) < needed:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _grown(middle) >= needed else (middle, high)
    return high


def enough_cubic(loss: float, rtt: float) -> int:
    """Return the smallest largest-window that hardly ever matters to CUBIC, as `enough_window`.

    Growing to w without a loss takes at least ``w^(4/3) / (4 C^(1/3) R)`` packets on the cubic function with C = 0.4
    packets/s^3, which is quickest where it starts at its plateau; and ``(1 - 0.7^2) / (2 alpha) w^2`` packets from
    0.7 w on by alpha = 9/17 packets a round (RFC 9438, Sections 4.2 and 4.3).

    Parameters
    ----------
    loss : float
        Loss rate p, 0 < p < 1.
    rtt : float
        R, round trip time [s], > 0.

    Returns
    -------
    int
        Largest window [packets], at least 4.
    """
    needed = min(math.log(REACHES_MAX_WINDOW) / math.log1p(-loss), 1e300)
    steady = math.sqrt(needed / (0.51 * 17 / 18))
    cubic = math.pow(min(4 * math.cbrt(0.4) * rtt * needed, 1e300), 0.75)
    return max(4, math.ceil(max(cubic, steady)))


def _grown(w: int) -> int:
    """Return w//2 + ... + (w - 1), the packets of a growth from half of w, one round at each window."""
    return (w - w // 2) * (w + w // 2 - 1) // 2


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What a TCP is, as far as others than its chain need to know.

    Attributes
    ----------
    chain : str or callable, optional
        What makes a `tcpstream.Path` its chain; as "module:function" it is imported when it is needed. Without one
        there is a throughput alone.
    losses : {"bursts", "independent"}
        The losses that the chain is for.
    text : str
        What it is, as a clause for the command line.
    throughput : str or callable, optional
        Likewise what gives a path its throughput [packets/s], where that does not come from a chain.
    clock : {"rounds", "seconds"}
        What windows grow with. In seconds each round trip time has another chain.
    decrease : float
        Share of the window that is kept at a loss.
    growth : str
        How the window grows, for people; a format of the path's parameters.
    rounds_per_increase : tuple of int
        The b that the chain accepts.
    bottleneck : bool
        Whether the chain takes the rate and the buffer of a link.
    needs_bottleneck : bool
        Whether it is right with them only.
    most_loss : float
        Loss rate up to which it is right.
    control : str, optional
        The congestion control, as Linux names it, that only this chain follows.
    largest_window : callable
        From p, R [s] and b, the window [packets] that a flow hardly ever reaches.
    """

    chain: str | Callable[[Any], Any] | None
    losses: str
    text: str
    throughput: str | Callable[[Any], float] | None = None
    clock: str = "rounds"
    decrease: float = 0.5
    growth: str = "1 packet in {rounds_per_increase} R, half of odd windows: {halving}"
    rounds_per_increase: tuple[int, ...] = (1, 2)
    bottleneck: bool = False
    needs_bottleneck: bool = False
    most_loss: float = 1.0
    control: str | None = None
    largest_window: Callable[[float, float, int], int] = lambda loss, _rtt, b: enough_window(loss, b)

    @property
    def counts_events(self) -> bool:
        """Whether p is the rate of loss events, of packets that are the first lost of their round; else of packets."""
        return self.losses == "bursts"

    def build(self, path: Any) -> Any:
        """Return the chain (`tcpstream.tcp.Chain`) of a path, or raise `InputError` where there is none."""
        if self.chain is None:
            raise InputError(
                f"tcp = {path.tcp} has a throughput and no chain: how it starts and repairs decides how long a player "
                f"waits, which tcpstream simulate follows (congestion = {path.tcp})"
            )
        return _function(self.chain)(path)

    def closed_throughput(self, path: Any) -> float | None:
        """Return the throughput [packets/s] of a path where it does not come from a chain, else None."""
        return None if self.throughput is None else float(_function(self.throughput)(path))

    def counts_rounds(self, bottleneck: float | None) -> bool:
        """Return whether the chain counts in rounds alone: no window grows with seconds, no bottleneck has a rate."""
        return self.clock == "rounds" and bottleneck is None


def _function(named: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function, imported if it is "module:function"."""
    if callable(named):
        return named
    module, name = named.split(":")
    found: Callable[[Any], Any] = getattr(import_module(module), name)
    return found


VARIANTS = {
    "reno": Variant(
        chain="tcpstream.tcp.reno:reno",
        losses="bursts",
        text="Reno, losses in bursts",
    ),
    "reno-sack": Variant(
        chain="tcpstream.tcp.reno_sack:reno_sack",
        losses="independent",
        text="Reno with SACK, independent losses",
        bottleneck=True,
    ),
    "cubic": Variant(
        chain="tcpstream.tcp.cubic:cubic",
        losses="independent",
        text="CUBIC with SACK, independent losses",
        clock="seconds",
        decrease=0.7,
        growth="RFC 9438, reduced windows: {halving}",
        rounds_per_increase=(1,),
        bottleneck=True,
        control="cubic",
        largest_window=lambda loss, rtt, _b: enough_cubic(loss, rtt),
    ),
    "bbr": Variant(
        chain=None,
        throughput="tcpstream.tcp.bbr_throughput:throughput",
        losses="independent",
        text="BBR version 1 behind a bottleneck, independent losses, throughput alone",
        clock="seconds",
        decrease=1.0,
        growth="to what the bottleneck carries",
        rounds_per_increase=(1,),
        bottleneck=True,
        needs_bottleneck=True,
        most_loss=0.1,
    ),
}
"""Every TCP by the name that `tcpstream.Path` takes as `tcp`."""

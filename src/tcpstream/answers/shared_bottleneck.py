"""Long-lived TCP flows that share a bottleneck: the loss rate and the round trip time that they make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .._version import __version__
from ..errors import InputError, whole
from ..path import LOSSES, Network, Path
from ..sender import DEFAULT_SENDER, Sender, sender_of
from ..system.html_table import Rows
from ..tcp.shared_queue import fixed_point
from ..variants import VARIANTS
from .answer import SCHEMA
from .shown import Shown, inputs

LEAST_WINDOW = 2
"""Packets that the pipe and the buffer must hold for each flow."""

MOST_FLOWS = 100_000


@dataclass(frozen=True, repr=False)
class SharedBottleneck(Shown):
    """What long-lived TCP flows make of a bottleneck; made by `shared_bottleneck`.

    Attributes
    ----------
    bottleneck : float
        C, its rate [packets/s].
    buffer : int
        B, packets that wait before it at most.
    base_rtt : float
        R0, the round trip time of a full packet that finds the queue empty [s].
    flows : int
        n, how many share it.
    path : Path
        What each of them meets: p, R, and the sender; it has no bottleneck of its own.
    utilization : float
        Share of C that is carried.
    residual : float
        By how much the two sides of the fixed point differ, relative.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.shared_bottleneck(bottleneck=2000, buffer=100, rtt=0.05, flows=10)
    >>> found
    <SharedBottleneck: 10 flows, loss rate 0.004101, R 0.09446 s, 200 packets/s each>
    >>> round(found.queue)  # packets
    89
    """

    bottleneck: float
    buffer: int
    base_rtt: float
    flows: int
    path: Path
    utilization: float
    residual: float

    @property
    def loss(self) -> float:
        """p, dropped over sent packets."""
        return self.path.loss

    @property
    def rtt(self) -> float:
        """R, the mean round trip time of packets [s]."""
        return self.path.rtt

    @property
    def share(self) -> float:
        """What each flow gets [packets/s]."""
        return self.utilization * self.bottleneck / self.flows

    @property
    def queue(self) -> float:
        """Packets that a packet finds waiting, on average."""
        return max(self.bottleneck * (self.rtt - self.base_rtt), 0.0)  # rounding may leave less than nothing

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        given = {"bottleneck_pps": self.bottleneck, "buffer": self.buffer, "rtt_s": self.base_rtt, "flows": self.flows}
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "shared bottleneck",
            "parameters": given,
            "loss": self.loss,
            "rtt_s": self.rtt,
            "share_pps": self.share,
            "utilization": self.utilization,
            "queue_packets": self.queue,
            "residual": self.residual,
            "path": self.path.to_dict(),
        }

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"{self._flows} over {self.bottleneck:.4g} packets/s with a buffer of {self.buffer} packets",
                f"loss rate {self.loss:.4g}, round trip time {self.rtt:.4g} s",
                f"{self.share:.4g} packets/s each, {self.utilization:.1%} of the bottleneck together",
            ]
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return the answers as names and values, for tables."""
        return [
            ("loss rate p", f"{self.loss:.4g}"),
            ("round trip time R", f"{self.rtt:.4g} s"),
            ("share of a flow", f"{self.share:.4g} packets/s"),
            ("utilization", f"{self.utilization:.1%}"),
            ("queue", f"{self.queue:.4g} of {self.buffer} packets"),
        ]

    def _sections(self) -> Mapping[str, Rows]:
        given = [
            ("bottleneck", f"{self.bottleneck:.4g} packets/s"),
            ("buffer", f"{self.buffer} packets"),
            ("round trip time with an empty queue", f"{self.base_rtt:.4g} s"),
            ("flows", f"{self.flows}"),
        ]
        return {"shared bottleneck": self.rows(), "given": given, **inputs(self.path)}

    @property
    def _flows(self) -> str:
        return "1 flow" if self.flows == 1 else f"{self.flows} flows"

    def __repr__(self) -> str:
        return (
            f"<SharedBottleneck: {self._flows}, loss rate {self.loss:.4g}, R {self.rtt:.4g} s, "
            f"{self.share:.4g} packets/s each>"
        )


def shared_bottleneck(
    *, bottleneck: float, buffer: int, rtt: float, flows: int, sender: str | Sender = DEFAULT_SENDER, **given: Any
) -> SharedBottleneck:
    """Solve for the loss rate and the round trip time that long-lived TCP flows make of a bottleneck, and their shares.

    Parameters
    ----------
    bottleneck : float
        C, rate of the link [packets/s], C R0 at least 2 packets.
    buffer : int
        B, packets that wait before it at most, 0 or more. The first that finds it full is lost (drop tail).
    rtt : float
        R0, round trip time of a full packet that finds the queue empty, its own transmission included [s], 1e-6 to
        1000 s; the same for all flows.
    flows : int
        n, 1 to 100,000: all backlogged flows. A stored video that is sent as fast as TCP allows is one of them.
        The pipe and the buffer, C R0 + B, hold at least 2 packets for each.
    sender : {"linux", "classic"} or Sender
        Of all flows, as for `Path`; its TCP must be ``"reno-sack"`` or ``"cubic"``.
    **given
        Any parameter of `Sender` that replaces the sender's, as ``tcp="reno-sack"``.

    Returns
    -------
    SharedBottleneck

    Raises
    ------
    InputError
        For a value out of range, another TCP, and flows whose largest windows fit into pipe and buffer: they lose
        nothing there.
    AccuracyError
        When the fixed point is not found within 1e-4, or a chain is too large.

    Notes
    -----
    With W(p, R) the mean window of a flow's chain and S the sum of the windows, a sawtooth below C R0 + B whose depth
    follows from how fast the chain's windows grow (`tcpstream.tcp.sawtooth`), p and R solve

        n W(p, R) / R = u C,  u = E[S] / E[max(S, C R0)],  R = E[S max(S, C R0)] / (C E[S]).

    The first is the relation of loss rate and throughput, read backwards: flows lose what makes them fit, as in Bu and
    Towsley, "Fixed point approximations for TCP behavior in an AQM network", SIGMETRICS 2001. Beside packets
    (`docs/shared.md`) R is 2% off in the median and p 19%; stalls by `SharedBottleneck.path` are far too few.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.shared_bottleneck(bottleneck=2000, buffer=100, rtt=0.05, flows=10, tcp="reno-sack")
    >>> print(f"{found.loss:.4f} {found.rtt:.4f} s {found.share:.0f} packets/s")
    0.0054 0.0852 s 200 packets/s
    >>> round(tcpstream.throughput(found.path))
    200
    """
    n = whole("flows", flows, most=MOST_FLOWS)
    if unknown := given.keys() - {one.name for one in fields(Sender)}:
        raise TypeError(f"shared_bottleneck() got an unexpected keyword argument {min(unknown)!r}")
    link = Network(loss=LOSSES[0], rtt=rtt, bottleneck=bottleneck, buffer=buffer)
    asked = sender_of(sender, "independent" if isinstance(sender, str) and "tcp" not in given else None, given)
    variant = VARIANTS[asked.tcp]
    if variant.chain is None or not variant.bottleneck:
        raise InputError(f"flows at a shared bottleneck are reno-sack or cubic, got tcp = {asked.tcp}")
    assert link.bottleneck is not None
    assert link.buffer is not None
    full = link.pipe + link.buffer
    if full < LEAST_WINDOW * n:
        raise InputError(
            f"pipe and buffer must hold at least {LEAST_WINDOW} packets a flow, {LEAST_WINDOW * n} for {n} flows, got "
            f"{full:.4g}: give fewer flows, or a larger bottleneck, buffer or round trip time"
        )
    if asked.max_window is not None and asked.max_window * n <= full:
        raise InputError(
            f"flows = {n} with windows of at most {asked.max_window} packets do not fill pipe and buffer of {full:.4g} "
            "packets, and lose nothing: give more flows, or a larger max_window"
        )
    longest = link.rtt + link.buffer / link.bottleneck
    if asked.rto is not None and asked.rto < longest:
        raise InputError(
            f"retransmission timer (rto) must be at least the round trip time with a full queue, {longest:.4g} s, got "
            f"{asked.rto:g} s"
        )
    path, total, residual = fixed_point(link, n, asked)
    return SharedBottleneck(link.bottleneck, link.buffer, link.rtt, n, path, total.utilization, residual)

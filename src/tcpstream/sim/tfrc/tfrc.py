"""A flow of datagrams under TCP-friendly rate control."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError, choice, positive, real, whole
from ..application import Application, Client, Server
from ..hosts import HEADERS, LARGEST
from ..traffic import Traffic
from .allowed_rate import AllowedRate
from .feed import Endless, Feed
from .tfrc_figures import figures
from .tfrc_receiver import TfrcReceiver
from .tfrc_sender import TfrcSender

STARTS = ("rfc5348", "rfc3448")

INITIAL = 4380
"""Bytes of the first round trip, unless they are less than two segments or more than four."""


@dataclass(frozen=True)
class Tfrc(Application):
    """A sender that paces segments at the rate of a TCP flow with the same p and R.

    Notes of its run are ``allowed_rate`` X [bit/s], ``p`` and ``rtt`` [s] with each feedback, and ``loss_event``, the
    number of the packet whose loss began one. A subclass with a `feed` of its own carries what it likes.

    Parameters
    ----------
    size : int
        s, of segments [bytes], headers included.
    cap : float, optional
        What the application wants at most [bit/s].
    start : {"rfc5348", "rfc3448"}
        After the first feedback up to 4380 bytes a round trip, two to four segments, or a single segment.
    discounting : bool
        Whether old loss intervals count less while the newest one is long (RFC 5348, Section 5.5).
    damping : bool
        Whether the spacing of packets follows each sample of the round trip (Section 4.5).
    jitter : float
        Each packet takes its sender up to this long, at random, one after the other [s].

    Notes
    -----
    S. Floyd, M. Handley, J. Padhye and J. Widmer, "TCP Friendly Rate Control (TFRC): Protocol Specification", RFC 5348,
    2008; M. Handley, S. Floyd, J. Padhye and J. Widmer, RFC 3448, 2003.
    """

    size: int = 1000
    cap: float | None = None
    start: str = "rfc5348"
    discounting: bool = False
    damping: bool = False
    jitter: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole("size of segments", self.size, HEADERS, most=LARGEST, unit="bytes"))
        if self.cap is not None:
            positive("cap of the rate", self.cap, "bit/s")
        choice("start", self.start, STARTS)
        for name in ("discounting", "damping"):
            choice(name, getattr(self, name), (True, False))
        if real("jitter", self.jitter, "s") < 0:
            raise InputError(f"jitter must be at least 0 s, got {self.jitter:g} s")

    @property
    def initial_window(self) -> float:
        """W_init [bytes]."""
        return float(self.size if self.start == "rfc3448" else min(4 * self.size, max(2 * self.size, INITIAL)))

    def feed(self) -> Feed:
        """Return what a run's sender pulls from."""
        return Endless(self.size)

    def sender(self, feed: Feed) -> TfrcSender:
        """Return what pulls from a feed at the rate of TFRC."""
        allowed = AllowedRate(self.size, self.initial_window, damping=self.damping)
        cap = math.inf if self.cap is None else self.cap / 8
        return TfrcSender(feed, allowed, self.size, cap, self.jitter)

    def server(self) -> Server:
        """Return the sender of a run."""
        return self.sender(self.feed())

    def client(self) -> Client:
        """Return the receiver of a run."""
        return TfrcReceiver(self.size, discounting=self.discounting)

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return ``loss_event_rate``, ``rtt_s`` and ``allowed_bps``, as `tfrc_figures.figures`."""
        return figures(traffic, 0.0, duration)

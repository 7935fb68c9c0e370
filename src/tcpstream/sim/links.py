"""Links that packets cross, and how they change during a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, positive, real, shown, whole
from .losses import Loss, probability


@dataclass(frozen=True)
class TokenBucket:
    """A packet passes when the bucket holds a token for each of its bytes; until then it waits, or it is dropped.

    Parameters
    ----------
    rate : float
        Filling rate [bit/s].
    depth : float
        Size of the bucket [bytes]; at least a packet.
    polices : bool
        A policer: what finds too few tokens is dropped, before the queue, instead of waiting at its head.
    """

    rate: float
    depth: float
    polices: bool = False

    def __post_init__(self) -> None:
        positive("token bucket rate", self.rate, "bit/s")
        if positive("token bucket depth", self.depth, "bytes") < LARGEST_PACKET:
            raise InputError(f"token bucket depth must be at least {LARGEST_PACKET} bytes, got {self.depth:g} bytes")


@dataclass(frozen=True)
class CoDel:
    """Packets that have waited too long for an interval are dropped when they would leave, ever more often.

    Parameters
    ----------
    target : float
        Wait at the head of the queue that is short enough [s], above 0.
    interval : float
        How long waits must be longer before a first packet is dropped [s], above 0; after n drops the next follows
        ``interval / sqrt(n)`` later.

    Notes
    -----
    K. Nichols, V. Jacobson, A. McGregor and J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018.
    """

    target: float = 0.005
    interval: float = 0.1

    def __post_init__(self) -> None:
        positive("target of CoDel", self.target, "s")
        positive("interval of CoDel", self.interval, "s")


@dataclass(frozen=True)
class Change:
    """A change of a link during a run; what is not given stays.

    Parameters
    ----------
    at : float
        When [s].
    rate, delay, loss : float, optional
        New rate [bit/s], delay [s], loss probability p.
    """

    at: float
    rate: float | None = None
    delay: float | None = None
    loss: float | None = None


LARGEST_PACKET = 1500
"""Bytes."""


@dataclass(frozen=True)
class Link:
    """A queue, a rate, and a delay, in one direction. The queue is first in, first out, and drops what does not fit.

    Parameters
    ----------
    delay : float
        Propagation [s], >= 0.
    rate : float
        [bit/s]; infinite by default.
    queue, queue_bytes : int, optional
        Room for packets [packets, bytes], the one being sent included; unlimited by default.
    loss : Bernoulli, RoundLoss, GilbertElliott or LossTrace, optional
        What is lost before the queue.
    bucket : TokenBucket, optional
    capacity : (n,) array, optional
        Capacity trace: times [s], nondecreasing, at each of which up to 1500 bytes can leave, instead of `rate`; it
        starts over at the last one. As `read_capacity` reads it.
    changes : tuple of Change
        In the order of their times.
    holds_delayed : bool
        Whether packets keep their room in the queue until they reach the other end, as in NIST Net, which holds them
        for the delay that it emulates (M. Carson and D. Santay, "NIST Net: a Linux-based network emulation tool", ACM
        SIGCOMM Computer Communication Review 33, 2003).
    codel : CoDel, optional
        Of a queue with a limit, which drops what does not fit as well.
    """

    delay: float
    rate: float = math.inf
    queue: int | None = None
    queue_bytes: int | None = None
    loss: Loss | None = None
    bucket: TokenBucket | None = None
    capacity: NDArray[np.float64] | None = None
    changes: tuple[Change, ...] = ()
    holds_delayed: bool = False
    codel: CoDel | None = None

    def __post_init__(self) -> None:
        _delay(self.delay)
        _rate(self.rate)
        for name, unit in (("queue", "packets"), ("queue_bytes", "bytes")):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), unit=unit))
        if self.capacity is not None:
            times = np.asarray(self.capacity, dtype=float)
            if times.ndim != 1 or not len(times) or (np.diff(times) < 0).any() or times[0] < 0 or times[-1] <= 0:
                raise InputError("a capacity trace is a row of nondecreasing times [s] that ends after 0")
            object.__setattr__(self, "capacity", times)
        if not isinstance(self.loss, Loss | None) or not isinstance(self.bucket, TokenBucket | None):
            raise InputError(f"a link has a loss process and a bucket, or None, got {self.loss} and {self.bucket}")
        if not isinstance(self.codel, CoDel | None):
            raise InputError(f"codel of a link must be a CoDel, or None, got {shown(self.codel)}")
        if self.codel and ((self.queue is None and self.queue_bytes is None) or self.holds_delayed):
            raise InputError("CoDel needs a queue with a limit, queue or queue_bytes, without holds_delayed")
        for before, change in zip((None, *self.changes), self.changes):
            if real("time of a change", change.at, "s") < (0 if before is None else before.at):
                raise InputError(
                    f"changes of a link must be in the order of their times, from 0 s on, got {change.at:g} s"
                )
            _ = None if change.rate is None else _rate(change.rate)
            _ = None if change.delay is None else _delay(change.delay)
            if change.loss is not None:
                probability("loss probability of a change", change.loss)
                if self.loss is None:
                    raise InputError("a change of the loss probability needs a link with a loss process")

    def pieces(self) -> list[tuple[float, float, float, float]]:
        """Return start [s], rate [bytes/s], delay [s] and loss probability from there on."""
        rate, delay, loss = self.rate, self.delay, 0.0 if self.loss is None else self.loss.p
        found = [(0.0, rate / 8, delay, loss)]
        for change in self.changes:
            rate = rate if change.rate is None else change.rate
            delay = delay if change.delay is None else change.delay
            loss = loss if change.loss is None else change.loss
            found.append((change.at, rate / 8, delay, loss))
        return found


def _rate(value: Any) -> float:
    if value == math.inf:
        return math.inf
    return positive("rate of a link", value, "bit/s")


def _delay(value: Any) -> float:
    number = real("delay of a link", value, "s")
    if number < 0:
        raise InputError(f"delay of a link must be at least 0 s, got {number:g} s")
    return number

"""TCP senders and their receivers' acknowledgements."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError, choice, positive, real, whole
from .engine import records
from .engine.control_records import BBR, CUBIC

VARIANTS = {"reno": records.RENO, "newreno": records.NEWRENO, "sack": records.SACK, "rack": records.SACK}

TIMERS = ("bsd", "rfc6298")

GROWTH = ("unlimited", "limited")

CONGESTION = {"reno": 0, "cubic": CUBIC, "bbr": BBR}

LEAST_RTO = 1e-3
"""Of a first retransmission timer [s]."""


@dataclass(frozen=True)
class Tcp:
    """A TCP sender and its receiver, in whole packets.

    Parameters
    ----------
    variant : {"reno", "newreno", "sack", "rack"}
        Loss recovery: RFC 5681 (fast recovery ends with the first new acknowledgement), RFC 6582, RFC 6675; "rack" as
        "sack", but sees that a retransmission is lost when something sent later arrives (RFC 8985), and forgets the
        back-off with every new acknowledgement, as Linux does.
    max_window : int
        Receiver's window [packets].
    initial_window : int
        [packets].
    slow_start : bool
        False: windows grow by a packet a round from the start, and after timeouts.
    limited_transmit : bool
        A new packet for each of the first two duplicate acknowledgements (RFC 3042).
    ack_every : int
        Packets per acknowledgement (delayed acknowledgements: 2); out of order every packet is acknowledged.
    ack_delay : float
        Longest time that an acknowledgement is held back [s].
    min_rto, initial_rto : float
        Least and first retransmission timer [s] (RFC 6298).
    timer : {"bsd", "rfc6298"}
        The retransmission timer in whole ticks of `granularity`, as BSD's and ns-2's, or in real numbers, as RFC 6298:
        the smoothed round trip plus at least `granularity` (Linux: 0.2 s).
    granularity : float
        Tick of the clock that times round trips [s]; 0 for none.
    jitter : float
        Each packet takes its sender up to this long, at random, one after the other [s]. As in hosts, this breaks the
        phase effects of drop-tail queues among senders that are clocked by the same queue (Floyd and Jacobson, "Traffic
        phase effects in packet-switched gateways", 1991).
    packet_size, ack_size : int
        [bytes], headers included.
    growth : {"unlimited", "limited"}
        Whether a window grows that the source does not use. "limited" as Linux, after RFC 2861: it grows only if the
        last window was full, in slow start half full; after each retransmission timer without that it goes half way
        to what was used, and after a timer in which nothing was sent it is halved for each, both down to the initial
        window, while the slow start threshold stays at three quarters of it at least.
    congestion : {"reno", "cubic", "bbr"}
        How windows grow, and what losses leave of them: RFC 5681; or, for "sack" and "rack", CUBIC (RFC 9438) as Linux
        has it, which counts acknowledged packets and whose clock stands while nothing is under way; or, for "rack",
        BBR version 1, which paces packets (`slow_start`, `growth`, `hystart`, `prr` and `limited_transmit` are not for
        it).
    hystart : bool
        Slow start ends when acknowledgements come close together for half a round trip, or the round trip grows, from
        windows of 16 on (HyStart, as Linux has it; Linux has it on for CUBIC).
    prr : bool
        Recoveries of "sack" and "rack" reduce the window packet by packet (RFC 6937), as Linux does, rather than wait
        until what is under way fits the new one.
    send_buffer : int
        What an `Application` may have written that is not acknowledged yet [packets].
    """

    variant: str = "reno"
    max_window: int = 64
    initial_window: int = 2
    slow_start: bool = True
    limited_transmit: bool = True
    ack_every: int = 1
    ack_delay: float = 0.1
    min_rto: float = 0.2
    initial_rto: float = 3.0
    timer: str = "bsd"
    granularity: float = 0.01
    jitter: float = 0.0
    packet_size: int = 1500
    ack_size: int = 40
    send_buffer: int = 64
    growth: str = "unlimited"
    congestion: str = "reno"
    hystart: bool = False
    prr: bool = False

    def __post_init__(self) -> None:
        choice("TCP variant", self.variant, tuple(VARIANTS))
        choice("timer", self.timer, TIMERS)
        choice("growth", self.growth, GROWTH)
        choice("congestion", self.congestion, tuple(CONGESTION))
        if (self.congestion != "reno" or self.prr) and VARIANTS[self.variant] != records.SACK:
            what = f'congestion = "{self.congestion}"' if self.congestion != "reno" else "prr"
            raise InputError(f'{what} needs variant = "sack" or "rack", got "{self.variant}"')
        if self.congestion == "bbr" and (
            self.variant != "rack" or self.hystart or self.prr or self.growth != "unlimited"
        ):
            raise InputError('congestion = "bbr" needs variant = "rack", without hystart, prr and growth = "limited"')
        for name, unit in (
            ("max_window", "packets"), ("initial_window", "packets"), ("ack_every", "packets"),
            ("packet_size", "bytes"), ("ack_size", "bytes"), ("send_buffer", "packets"),
        ):  # fmt: skip
            object.__setattr__(self, name, whole(name, getattr(self, name), unit=unit))
        if self.initial_window > self.max_window:
            raise InputError(
                f"initial_window must be at most max_window = {self.max_window} packets, "
                f"got {self.initial_window} packets"
            )
        if positive("initial_rto", self.initial_rto, "s") < LEAST_RTO:
            raise InputError(f"initial_rto must be at least {LEAST_RTO:g} s, got {self.initial_rto:g} s")
        for name in ("ack_delay", "min_rto", "granularity", "jitter"):
            if real(name, getattr(self, name), "s") < 0:
                raise InputError(f"{name} must be at least 0 s, got {getattr(self, name):g} s")

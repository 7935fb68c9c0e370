"""What sends: a TCP and its settings, in one record; and two that have names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from typing import Any

from .errors import InputError, choice, positive, shown, whole
from .variants import VARIANTS

BACKOFFS = ("rfc6298", "paper")
HALVINGS = ("floor", "ceil")
DETECTIONS = ("duplicates", "rack")

#: What Linux adds at least to the smoothed round trip time for its timer [s]: `tcp_rto_min`, RFC 6298's variance term.
LINUX_VARIATION = 0.2

#: What Linux takes as the largest window of a connection by default [packets]: of the 6 MiB to which a receive buffer
#: grows (`tcp_rmem`) one half is announced, the other is for what packets need beside their data; in segments of
#: 1500 - 40 bytes less 12 of timestamps.
LINUX_WINDOW = 6 * 2**20 // 2 // 1448

#: Longest first timer [s], beyond any round trip time, and largest T_O: Linux's is 200,001 at a microsecond.
LONGEST_TIMER = 1e4
MOST_TIMEOUT_RATIO = 1e6

#: Packets of a window or a buffer, and of a bottleneck in a second: a thousand times what TCP's window field can hold.
MOST_PACKETS = 1e9

#: What a unit adds to the name of a number where nothing else says it.
SUFFIXES = {"s": "_s", "packets/s": "_pps", "bit/s": "_bps", "bytes": "_bytes"}


def parameter(
    text: str | Callable[[Any], str], of: str | Iterable[object] = "N", unit: str = "1", default: Any = MISSING
) -> Any:  # as dataclasses.field
    """Return a field of a record whose option on the command line and column of a sweep follow from it.

    Parameters
    ----------
    text : str or callable
        Help; or what makes it of `of`, as that is when the option is made.
    of : str or iterable
        What it takes: a number N, a probability P, a rate R, a time T; or the values to choose from.
    unit : str
        Unit of the value; "1" for none.
    default : object
    """
    return field(default=default, metadata={"text": text, "of": of, "unit": unit})


def takes_text(one: Field[Any]) -> bool:
    """Tell whether a parameter is chosen from names."""
    of = one.metadata["of"]
    return not isinstance(of, str) and all(isinstance(value, str) for value in of)


@dataclass(frozen=True, kw_only=True)
class Sender:
    """What sends: its TCP, its timer and how it grows, backs off and sees losses.

    Parameters
    ----------
    rto : float, optional
        R_TO, the first retransmission timer [s], from the round trip time to 10,000 s. By default that of Linux where
        round trips are regular, R + 0.2 s.
    timeout_ratio : float, optional
        T_O = R_TO / R [rounds], any real number from 1 to 1e6, instead of `rto`.
    max_window : int, optional
        W_max, largest window [packets], at most 1e9. By default large enough not to matter (`Variant.largest_window`);
        with a bottleneck what fits in the path, C R + B in whole packets: then it cannot be given.
    rounds_per_increase : {1, 2}
        b, rounds of full windows per window increase: 2 for delayed ACKs where growth is per ACK; 1 for cubic.
    backoff : {"rfc6298", "paper"}
        Timer of back-off level e: 2^min(e, 6) R_TO, or the paper's 2^(e-1) R_TO.
    halving : {"floor", "ceil"}
        How half of an odd window is rounded; of cubic, seven tenths of any window.
    tcp : {"reno", "reno-sack", "cubic", "bbr"}
        The chain: the paper's, in which the first loss of a round takes the rest of it along; or Reno or CUBIC with
        SACK and independent losses; or BBR version 1, of which there is the throughput behind a bottleneck, for loss
        rates up to 0.1. The loss rate of the last three is the probability that a packet is lost.
    initial_window : int, optional
        Window of the first round [packets], at most the largest one, and slow start from there: 10 in RFC 6928.
        Timeouts then lead back to half the window by slow start (RFC 5681). By default a video starts at a window of
        1, and there is no slow start: the paper's chain. The first slow start goes on to `max_window` where no loss
        ends it: then give what the receiver's or the sender's buffer allows.
    detection : {"duplicates", "rack"}
        How the sender sees losses: by three duplicate acknowledgements, else by the timer; or as RACK-TLP does
        (RFC 8985): by the time since a later packet was sent, and by a probe two round trips after the last packet.
        With independent losses a retransmission that is lost again then costs no timeout.

    Raises
    ------
    InputError
        For a value out of range, not finite or contradictory.

    Examples
    --------
    >>> import tcpstream
    >>> slow = tcpstream.Sender(initial_window=10)
    >>> tcpstream.Path(loss=0.02, rtt=0.1, sender=slow).initial_window
    10
    """

    rto: float | None = parameter("First retransmission timer.  [default: R + 200ms, as Linux]", "T", "s", None)
    timeout_ratio: float | None = parameter("Instead of --rto: timer over round trip time, at least 1.", default=None)
    max_window: int | None = parameter(
        "Largest window [packets].  [default: the sender's, else too large to matter]", unit="packets", default=None
    )
    rounds_per_increase: int = parameter(
        "Rounds of full windows per window increase; 2 for delayed ACKs.  [default: 1]", (1, 2), default=1
    )
    backoff: str = parameter(
        "Timers doubled 6 times at most, or from the second.  [default: rfc6298]", BACKOFFS, default="rfc6298"
    )
    halving: str = parameter("How half of an odd window is rounded.  [default: floor]", HALVINGS, default="floor")
    tcp: str = parameter(
        lambda of: "; ".join(one.text for one in of.values()) + ".  [default: what fits a capture, else the sender's]",
        VARIANTS,
        default="reno",
    )
    initial_window: int | None = parameter(
        "Slow start, from this window on and after timeouts; 10 as RFC 6928.  [default: what the capture shows, else "
        "the sender's]",
        unit="packets",
        default=None,
    )
    detection: str = parameter(
        "Losses seen by duplicate acknowledgements, or by RACK-TLP.  [default: what the capture shows, else the "
        "sender's]",
        DETECTIONS,
        default="duplicates",
    )

    def __post_init__(self) -> None:
        """Judge every value that needs no path."""
        values: dict[str, Any] = {"rounds_per_increase": whole("rounds per increase", self.rounds_per_increase)}
        choice("rounds per increase", self.rounds_per_increase, (1, 2))
        choice("tcp", self.tcp, tuple(VARIANTS))
        for name, words in (("initial_window", "initial window"), ("max_window", "largest window")):
            if (given := getattr(self, name)) is not None:
                values[name] = whole(words, given, unit="packets", most=MOST_PACKETS)
        choice("back-off", self.backoff, BACKOFFS)
        choice("halving", self.halving, HALVINGS)
        accepted = VARIANTS[self.tcp].rounds_per_increase
        if self.rounds_per_increase not in accepted:
            raise InputError(
                f"tcp = {self.tcp} counts acknowledged packets: rounds per increase must be "
                f"{' or '.join(map(str, accepted))}, got {self.rounds_per_increase:g}"
            )
        choice("detection", self.detection, DETECTIONS)
        for name, value in values.items():
            object.__setattr__(self, name, value)


LINUX = Sender(tcp="cubic", initial_window=10, detection="rack", max_window=LINUX_WINDOW)

SENDERS = {
    "classic": (Sender(), Sender(tcp="reno-sack")),
    "linux": (LINUX, replace(LINUX, tcp="reno")),
}
"""Senders by name: one for each loss process of paths, that which is taken without one first."""

DEFAULT_SENDER = "linux"
"""That of a path which names none."""


def name_of(sender: Sender) -> str | None:
    """Return the name of a sender, whatever its timer; None for one whose other values are not those of a named one."""
    values = replace(sender, rto=None, timeout_ratio=None)
    return next((name for name, several in SENDERS.items() if values in several), None)


def sender_of(sender: object, losses: str | None, given: Mapping[str, Any]) -> Sender:
    """Return the sender of a path.

    Parameters
    ----------
    sender : str or Sender
        One of `SENDERS`, or a record.
    losses : str, optional
        Loss process of the path.
    given : mapping
        Values that replace the sender's.

    Raises
    ------
    InputError
        For a name that is not known, and a TCP whose chain is for other losses.
    """
    if isinstance(sender, Sender):
        several: tuple[Sender, ...] = (sender,)
    elif isinstance(sender, str):
        choice("sender", sender, tuple(SENDERS))
        several = SENDERS[sender]
    else:
        raise InputError(f"sender must be a Sender or the name of one ({', '.join(SENDERS)}), got {shown(sender)}")
    base = next((one for one in several if VARIANTS[one.tcp].losses == losses), several[0])
    values = {one.name: getattr(base, one.name) for one in fields(Sender)}
    if {"rto", "timeout_ratio"} & given.keys():
        values |= {"rto": None, "timeout_ratio": None}
    made = Sender(**(values | dict(given)))
    meant = VARIANTS[made.tcp].losses
    if losses not in (None, meant):
        other = ", ".join(name for name, one in VARIANTS.items() if one.losses == losses)
        raise InputError(
            f"tcp = {made.tcp} is for losses = {meant}, got losses = {losses}: leave out one, or take tcp = {other}"
        )
    return made


def first_timer(sender: Sender, rtt: float) -> tuple[float, float]:
    """Return R_TO [s] and T_O [rounds] of a sender at a round trip time [s]."""
    if sender.timeout_ratio is None:
        rto = round(rtt + LINUX_VARIATION, 12) if sender.rto is None else sender.rto
        rto = positive("retransmission timer (rto)", rto, "s")
        if rto < rtt * (1 - 1e-12):
            raise InputError(
                f"retransmission timer (rto) must be at least the round trip time of {rtt:g} s, got {rto:g} s"
            )
        ratio = max(rto / rtt, 1.0)
        _limit_timer(rto, ratio)
        nearest = float(round(ratio))
        return rto, nearest if math.isclose(ratio, nearest, rel_tol=1e-12) else ratio  # 0.3 s / 0.1 s is 3
    ratio = positive("timeout ratio", sender.timeout_ratio)
    if ratio < 1:
        raise InputError(f"timeout ratio T_O = rto/rtt must be at least 1, got {ratio:g}")
    _limit_timer(ratio * rtt, ratio)
    rto = ratio * rtt if sender.rto is None else positive("retransmission timer (rto)", sender.rto, "s")
    if not math.isclose(rto, ratio * rtt):
        raise InputError(
            f"rto = {rto:g} s and timeout_ratio = {ratio:g} contradict each other at rtt = {rtt:g} s: give one"
        )
    return ratio * rtt, ratio


def _limit_timer(rto: float, ratio: float) -> None:
    """Raise `InputError` for a first timer [s] that no TCP has."""
    if rto > LONGEST_TIMER:
        raise InputError(f"retransmission timer (rto) must be at most {LONGEST_TIMER:g} s, got {rto:g} s")
    if ratio > MOST_TIMEOUT_RATIO:
        raise InputError(f"timeout ratio T_O = rto/rtt must be at most {MOST_TIMEOUT_RATIO:g}, got {ratio:g}")

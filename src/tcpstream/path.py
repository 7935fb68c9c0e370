"""Path: what TCP sees of the network. The only validation of it, the only units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import ClassVar

from .errors import InputError, choice, note, positive, real, unremarked, whole, within

BACKOFFS = ("rfc6298", "paper")
HALVINGS = ("floor", "ceil")
TCPS = ("reno", "reno-sack", "cubic")
DETECTIONS = ("duplicates", "rack")

#: A run of growth from half the default largest window reaches it with at most this probability.
REACHES_MAX_WINDOW = 1e-9

#: Packets that a bottleneck must carry in a round trip.
LEAST_PIPE = 2

#: What Linux adds at least to the smoothed round trip time for its timer [s]: `tcp_rto_min`, RFC 6298's variance term.
LINUX_VARIATION = 0.2

#: Loss rates: from a packet lost in four days at 3000 packets/s, to packets that take a thousand attempts each. The
#: chains work with 1 - p, which has p within 1e-7 of itself there.
LOSSES = 1e-9, 0.999

#: Round trip times [s]: in a microsecond light goes 300 m, to the next machines of a hall; in 1000 s to Mars and back.
ROUND_TRIPS = 1e-6, 1000.0

#: Longest first timer [s], beyond any round trip time, and largest T_O: Linux's is 200,001 at a microsecond.
LONGEST_TIMER = 1e4
MOST_TIMEOUT_RATIO = 1e6

#: Packets of a window or a buffer, and of a bottleneck in a second: a thousand times what TCP's window field can hold.
MOST_PACKETS = 1e9

#: Longer round trip times [s] are noted: a satellite's is 0.6 s, overfilled buffers make it 2 s.
LONG_ROUND_TRIP = 3.0

#: Larger loss rates are noted: at 0.5 and T_O = 2 a TCP sends a packet in three seconds.
LARGE_LOSS = 0.5


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


def per_round(rate: float, rtt: float) -> float:
    """Return the packets of a rate [packets/s] in a round [s]; 100 packets/s in 0.07 s are 7."""
    packets = rate * rtt
    return float(round(packets)) if math.isclose(packets, round(packets), rel_tol=1e-12) else packets


def _grown(w: int) -> int:
    """Return w//2 + ... + (w - 1), the packets of a growth from half of w, one round at each window."""
    return (w - w // 2) * (w + w // 2 - 1) // 2


@dataclass(frozen=True, init=False)
class Path:
    """A TCP path: loss, round trip time, retransmission timer, window limit, and how its TCP grows and backs off.

    Parameters
    ----------
    loss : float
        p, the probability that a packet is the first one lost of its round: a loss-event rate, 1e-9 to 0.999.
        `from_throughput` finds the p of a measured throughput.
    rtt : float
        R, round trip time [s], the length of one round, 1e-6 to 1000 s.
    rto : float, optional
        R_TO, the first retransmission timer [s], from `rtt` to 10,000 s. By default that of Linux where round trips
        are regular, R + 0.2 s, and `rto_assumed` says so.
    timeout_ratio : float, optional
        T_O = R_TO / R [rounds], any real number from 1 to 1e6, instead of `rto`.
    max_window : int, optional
        W_max, largest window [packets], at most 1e9. By default large enough not to matter (`enough_window`,
        `enough_cubic`); what fits in the path, C R + B in whole packets, where there is a bottleneck: then it cannot be
        given.
    rounds_per_increase : {1, 2}
        b, rounds of full windows per window increase: 2 for delayed ACKs where growth is per ACK; 1 for cubic.
    backoff : {"rfc6298", "paper"}
        Timer of back-off level e: 2^min(e, 6) R_TO, or the paper's 2^(e-1) R_TO.
    halving : {"floor", "ceil"}
        How half of an odd window is rounded; of cubic, seven tenths of any window.
    tcp : {"reno", "reno-sack", "cubic"}
        The chain: the paper's, in which the first loss of a round takes the rest of it along; or Reno or CUBIC with
        SACK and independent losses. `loss` is then the probability that a packet is lost.
    initial_window : int, optional
        Window of the first round [packets], at most `max_window`, and slow start from there: 10 in RFC 6928. Timeouts
        then lead back to half the window by slow start (RFC 5681). By default a video starts at a window of 1, and
        there is no slow start: the paper's chain. The first slow start goes on to `max_window` where no loss ends it:
        then give what the receiver's or the sender's buffer allows.
    detection : {"duplicates", "rack"}
        How the sender sees losses: by three duplicate acknowledgements, else by the timer; or as RACK-TLP does
        (RFC 8985): by the time since a later packet was sent, and by a probe two round trips after the last packet.
        With independent losses a retransmission that is lost again then costs no timeout.
    bottleneck : float, optional
        C, rate of a link that the flow has for itself [packets/s], C R at least 2 packets; for tcp reno-sack. `rtt` is
        then the round trip time of an empty queue. By default the rate has no limit.
    buffer : int, optional
        B, packets that wait before the bottleneck at most, 0 or more; given with `bottleneck` only.

    Attributes
    ----------
    rto_assumed : bool
        Whether the timer is R + 0.2 s because none was given. Paths that differ in nothing else are equal.

    Raises
    ------
    InputError
        For a value out of range, not finite, missing or contradictory.

    Warns
    -----
    InputWarning
        For a round trip time above 3 s and a loss rate above 0.5, which were probably meant in milliseconds and in
        percent.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study", Section 3.2.
    After construction both `rto` and `timeout_ratio` are set. Linux's timer: SRTT + max(0.2 s, 4 RTTVAR).
    """

    # The path whose TCP has a measured throughput: `tcpstream.answers.from_throughput`, put here.
    from_throughput: ClassVar[Callable[..., Path]]

    loss: float
    rtt: float
    rto: float
    timeout_ratio: float
    max_window: int
    rounds_per_increase: int
    backoff: str
    halving: str
    tcp: str
    initial_window: int | None
    detection: str
    bottleneck: float | None
    buffer: int | None
    rto_assumed: bool = field(init=False, compare=False)

    def __init__(
        self,
        *,
        loss: float,
        rtt: float,
        rto: float | None = None,
        timeout_ratio: float | None = None,
        max_window: int | None = None,
        rounds_per_increase: int = 1,
        backoff: str = "rfc6298",
        halving: str = "floor",
        tcp: str = "reno",
        initial_window: int | None = None,
        detection: str = "duplicates",
        bottleneck: float | None = None,
        buffer: int | None = None,
    ) -> None:
        loss = real("loss rate", loss)
        if not 0 < loss < 1:
            percent = f": {loss:g}% is {loss / 100:g}" if 1 < loss < 100 else ""
            raise InputError(f"loss rate must lie strictly between 0 and 1, got {loss:g}{percent}")
        loss = within("loss rate", loss, *LOSSES)
        rtt = within("round trip time", rtt, *ROUND_TRIPS, "s")
        rto_assumed = rto is None and timeout_ratio is None
        rto, timeout_ratio = _timeout(rtt, round(rtt + LINUX_VARIATION, 12) if rto_assumed else rto, timeout_ratio)
        rounds_per_increase = whole("rounds per increase", rounds_per_increase)
        choice("rounds per increase", rounds_per_increase, (1, 2))
        choice("tcp", tcp, TCPS)
        if bottleneck is not None or buffer is not None:
            bottleneck, buffer, max_window = _limited(bottleneck, buffer, rtt, tcp, max_window)
        if initial_window is not None:
            initial_window = whole("initial window", initial_window, unit="packets", most=MOST_PACKETS)
        if max_window is None:
            max_window = enough_cubic(loss, rtt) if tcp == "cubic" else enough_window(loss, rounds_per_increase)
            max_window = max(max_window, initial_window or 1)
        elif bottleneck is None:
            max_window = whole("largest window", max_window, unit="packets", most=MOST_PACKETS)
        choice("back-off", backoff, BACKOFFS)
        choice("halving", halving, HALVINGS)
        if tcp == "cubic" and rounds_per_increase != 1:
            raise InputError("tcp = cubic counts acknowledged packets: rounds per increase must be 1, got 2")
        if initial_window is not None and initial_window > max_window:
            raise InputError(
                f"initial window must be at most the largest window of {max_window} packets, got {initial_window}"
            )
        choice("detection", detection, DETECTIONS)
        values = {
            "loss": loss,
            "rtt": rtt,
            "rto": rto,
            "timeout_ratio": timeout_ratio,
            "max_window": max_window,
            "rounds_per_increase": rounds_per_increase,
            "backoff": backoff,
            "halving": halving,
            "tcp": tcp,
            "initial_window": initial_window,
            "detection": detection,
            "bottleneck": bottleneck,
            "buffer": buffer,
            "rto_assumed": rto_assumed,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if rtt > LONG_ROUND_TRIP:
            note(f"a round trip time of {rtt:g} s is longer than paths have: {rtt:g} ms are {rtt / 1000:g} s")
        if loss > LARGE_LOSS:
            note(f"a loss rate of {loss:g} leaves no path to stream over: {loss:g}% is {loss / 100:g}")

    def application_limited(self, packet_rate: float) -> Path:
        """Return the path for a sender that opens its window no further than a live stream needs.

        Parameters
        ----------
        packet_rate : float
            mu, playback rate [packets/s], > 0.

        Raises
        ------
        InputError
            For a rate that is not positive and finite, and for a path with a bottleneck.

        Notes
        -----
        A window does not grow while less is sent than it allows (RFC 7661, Section 4; Linux). After a loss at a window
        of m = mu R packets it is half of that, or 0.7 m of CUBIC. The stream falls behind until the window is m again,
        and has caught up when it is as far above m as it was below: at 1.5 m, or 1.3 m. There it stays: `max_window` is
        the next whole number and one more, unless it is smaller, and `initial_window` is that at most. A stream that is
        further behind has a larger window; that is left out.
        """
        if self.bottleneck is not None:
            raise InputError(
                "an application-limited sender takes its largest window from the stream: leave out bottleneck "
                f"{self.bottleneck:g} packets/s"
            )
        peak = 1.3 if self.tcp == "cubic" else 1.5
        needed = peak * positive("playback rate", packet_rate, "packets/s") * self.rtt
        limit = min(self.max_window, math.ceil(min(needed, self.max_window)) + 1)
        first = self.initial_window and min(self.initial_window, limit)
        timer = {"timeout_ratio", *(["rto"] if self.rto_assumed else [])}
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.init and one.name not in timer}
        with unremarked():
            return Path(**(values | {"max_window": limit, "initial_window": first}))

    @property
    def pipe(self) -> float:
        """C R, what the bottleneck carries in a round [packets]; infinite without one."""
        return math.inf if self.bottleneck is None else per_round(self.bottleneck, self.rtt)

    def to_dict(self) -> dict[str, float | int | str | bool | None]:
        """Return the parameters as a plain dict, units in the names."""
        return {
            "loss": self.loss,
            "rtt_s": self.rtt,
            "rto_s": self.rto,
            "timeout_ratio": self.timeout_ratio,
            "max_window": self.max_window,
            "rounds_per_increase": self.rounds_per_increase,
            "backoff": self.backoff,
            "halving": self.halving,
            "tcp": self.tcp,
            "initial_window": self.initial_window,
            "detection": self.detection,
            "bottleneck_pps": self.bottleneck,
            "buffer": self.buffer,
            "rto_assumed": self.rto_assumed,
        }


def _limited(
    bottleneck: float | None, buffer: int | None, rtt: float, tcp: str, max_window: int | None
) -> tuple[float, int, int]:
    """Return C [packets/s], B and W_max [packets] of a path with a bottleneck."""
    if bottleneck is None:
        raise InputError("a buffer is that of a bottleneck: give bottleneck [packets/s] as well, or leave out buffer")
    if buffer is None:
        raise InputError("a bottleneck needs its buffer [packets], 0 or more")
    if tcp != "reno-sack":
        raise InputError(f"a bottleneck is solved for tcp = reno-sack, got {tcp}")
    if max_window is not None:
        raise InputError("a bottleneck sets the largest window: leave out max_window, or bottleneck and buffer")
    rate = positive("bottleneck", bottleneck, "packets/s")
    if rate > MOST_PACKETS:
        raise InputError(f"bottleneck must be at most {MOST_PACKETS:g} packets/s, got {rate:g} packets/s")
    room = whole("buffer", buffer, least=0, unit="packets", most=MOST_PACKETS)
    pipe = real("bottleneck times round trip time", per_round(rate, rtt), "packets")
    if pipe < LEAST_PIPE:
        raise InputError(
            f"a bottleneck must carry at least {LEAST_PIPE} packets in a round trip, got {pipe:.4g}: "
            f"{rate:.4g} packets/s x {rtt:.4g} s"
        )
    return rate, room, math.floor(pipe + room)


def _timeout(rtt: float, rto: float | None, ratio: float | None) -> tuple[float, float]:
    """Return the first retransmission timer [s] and T_O [rounds] from whichever of the two was given."""
    if ratio is None:
        rto = positive("retransmission timer (rto)", rto, "s")
        if rto < rtt * (1 - 1e-12):
            raise InputError(
                f"retransmission timer (rto) must be at least the round trip time of {rtt:g} s, got {rto:g} s"
            )
        ratio = max(rto / rtt, 1.0)
        _limit_timer(rto, ratio)
        nearest = float(round(ratio))
        return rto, nearest if math.isclose(ratio, nearest, rel_tol=1e-12) else ratio  # 0.3 s / 0.1 s is 3
    ratio = positive("timeout ratio", ratio)
    if ratio < 1:
        raise InputError(f"timeout ratio T_O = rto/rtt must be at least 1, got {ratio:g}")
    _limit_timer(ratio * rtt, ratio)
    if rto is not None and not math.isclose(positive("retransmission timer (rto)", rto, "s"), ratio * rtt):
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

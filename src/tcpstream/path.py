"""Path: what TCP sees of the network. The only validation of it, the only units."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .errors import InputError, choice, positive, real, whole

BACKOFFS = ("rfc6298", "paper")
HALVINGS = ("floor", "ceil")
TCPS = ("reno", "reno-sack", "cubic")
DETECTIONS = ("duplicates", "rack")

#: A run of growth from half the default largest window reaches it with at most this probability.
REACHES_MAX_WINDOW = 1e-9

#: Packets that a bottleneck must carry in a round trip.
LEAST_PIPE = 2


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
        p, the probability that a packet is the first one lost of its round: a loss-event rate, 0 < p < 1.
    rtt : float
        R, round trip time [s], the length of one round.
    rto : float, optional
        R_TO, the first retransmission timer [s], at least `rtt`. Give this or `timeout_ratio`.
    timeout_ratio : float, optional
        T_O = R_TO / R >= 1 [rounds], any real number.
    max_window : int, optional
        W_max, largest window [packets]. By default large enough not to matter (`enough_window`, `enough_cubic`); what
        fits in the path, C R + B in whole packets, where there is a bottleneck: then it cannot be given.
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

    Raises
    ------
    InputError
        For a value out of range, not finite, missing or contradictory.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study", Section 3.2.
    After construction both `rto` and `timeout_ratio` are set.
    """

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
            raise InputError(f"loss rate must lie strictly between 0 and 1, got {loss:g}")
        rtt = positive("round trip time", rtt, "s")
        rto, timeout_ratio = _timeout(rtt, rto, timeout_ratio)
        rounds_per_increase = whole("rounds per increase", rounds_per_increase)
        choice("rounds per increase", rounds_per_increase, (1, 2))
        choice("tcp", tcp, TCPS)
        if bottleneck is not None or buffer is not None:
            bottleneck, buffer, max_window = _limited(bottleneck, buffer, rtt, tcp, max_window)
        if initial_window is not None:
            initial_window = whole("initial window", initial_window, unit="packets")
        if max_window is None:
            max_window = enough_cubic(loss, rtt) if tcp == "cubic" else enough_window(loss, rounds_per_increase)
            max_window = max(max_window, initial_window or 1)
        max_window = whole("largest window", max_window, unit="packets")
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
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

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
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "timeout_ratio"}
        return Path(**(values | {"max_window": limit, "initial_window": first}))

    @property
    def pipe(self) -> float:
        """C R, what the bottleneck carries in a round [packets]; infinite without one."""
        return math.inf if self.bottleneck is None else per_round(self.bottleneck, self.rtt)

    def to_dict(self) -> dict[str, float | int | str | None]:
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
    rate, room = positive("bottleneck", bottleneck, "packets/s"), whole("buffer", buffer, least=0, unit="packets")
    pipe = real("bottleneck times round trip time", per_round(rate, rtt), "packets")
    if pipe < LEAST_PIPE:
        raise InputError(
            f"a bottleneck must carry at least {LEAST_PIPE} packets in a round trip, got {pipe:.4g}: "
            f"{rate:.4g} packets/s x {rtt:.4g} s"
        )
    return rate, room, math.floor(pipe + room)


def _timeout(rtt: float, rto: float | None, ratio: float | None) -> tuple[float, float]:
    """Return the first retransmission timer [s] and T_O [rounds] from whichever of the two was given."""
    if rto is None and ratio is None:
        raise InputError("give the retransmission timer: either rto [s] or timeout_ratio [rounds]")
    if ratio is None:
        rto = positive("retransmission timer (rto)", rto, "s")
        if rto < rtt * (1 - 1e-12):
            raise InputError(
                f"retransmission timer (rto) must be at least the round trip time of {rtt:g} s, got {rto:g} s"
            )
        ratio = real("timeout ratio T_O = rto/rtt", max(rto / rtt, 1.0))
        nearest = float(round(ratio))
        return rto, nearest if math.isclose(ratio, nearest, rel_tol=1e-12) else ratio  # 0.3 s / 0.1 s is 3
    ratio = positive("timeout ratio", ratio)
    if ratio < 1:
        raise InputError(f"timeout ratio T_O = rto/rtt must be at least 1, got {ratio:g}")
    if rto is not None and not math.isclose(positive("retransmission timer (rto)", rto, "s"), ratio * rtt):
        raise InputError(
            f"rto = {rto:g} s and timeout_ratio = {ratio:g} contradict each other at rtt = {rtt:g} s: give one"
        )
    return real("retransmission timer (rto)", ratio * rtt, "s"), ratio

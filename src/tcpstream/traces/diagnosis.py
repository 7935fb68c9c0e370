"""What limits a flow, from what its sender waited for and what its losses and round trips say of a cap.

What is seen comes first, as what the sender waited for; then what is inferred from how it behaves. Wherever a share
decides, it is one half: a limit that holds a flow for less of the time changes its throughput by less than the factor
of two from which on there is no verdict.
"""

from __future__ import annotations

from .capping import Capping
from .intervals import Measured
from .limitation import Limitation
from .waiting import Waiting

_MOST = 0.5
#: Payload of full packets of the hosts that announce none (RFC 9293, Section 3.7.1) [bytes].
_DEFAULT_MSS = 536
#: Between 0.03, of senders that acknowledgements clock, and 0.35, of BBR's: those of Linux over an emulated path.
_OWN_CLOCK = 0.2
#: Half-way between CUBIC's 0.7 and no decrease at all.
_NO_DECREASE = 0.85
#: A correlation of this much explains a quarter of how the round trip varies.
_TOGETHER = 0.5
#: A queue that makes half of the round trips so much longer than the shortest one has made the path another one.
_LONGER = 1.5
#: One that grows by less than this until it loses packets is as good as none.
_AT_LAST = 1.25
#: A policer drops what arrives while its bucket is empty, several packets at once.
_BURST = 2.0

_THROUGHPUT = "Ask for a path with the throughput that was measured: --throughput {rate:.4g}pps, without --capture."


def limitation(
    waited: Waiting, capped: Capping, decrease: Measured | None, where: str, *, mss: int, rate: float
) -> Limitation | None:
    """Return what limits a flow; None if nothing is seen but losses.

    Parameters
    ----------
    waited : Waiting
        What the sender waited for.
    capped : Capping
        What losses and round trips say of a cap.
    decrease : Measured or None
        Packets in flight after a fast recovery over those before.
    where : {"sender", "receiver", "between"}
        Where the capture was taken: only at the sender can its own clock be told from acknowledgements.
    mss : int
        Payload of a full packet [bytes].
    rate : float
        Throughput [packets/s].
    """
    return (
        _application(waited, capped, where, mss)
        or _window(waited, mss)
        or _own_clock(waited, decrease, where)
        or _overshoot(capped, rate)
        or _queue(capped, rate)
        or _policer(capped, rate)
        or _unnamed(waited, decrease, where, rate)
    )


def bulk_is_udp(largest: int, payload: int) -> Limitation | None:
    """Return that the capture is of something else if its largest UDP flow is larger than the TCP flow [bytes]."""
    if largest <= payload:
        return None
    return Limitation(
        "udp",
        f"The largest UDP flow, perhaps QUIC, carries {largest} bytes, this TCP flow {payload}: a side connection.",
        "Nothing can be said of a UDP flow: capture the same download over TCP, or give --loss and --rtt.",
    )


def _application(waited: Waiting, capped: Capping, where: str, mss: int) -> Limitation | None:
    queues = not _paced(waited) if where == "sender" else _fills(capped)
    if 2 * waited.payload < max(mss, _DEFAULT_MSS) and waited.application > _MOST:
        return Limitation(
            "interactive",
            f"The sender had nothing to send {waited.application:.0%} of the time, and half of its packets carry at "
            f"most {waited.payload} bytes.",
            "Capture a download over the same path, or give --loss and --rtt.",
        )
    if waited.application > _MOST:
        evidence = f"The sender had nothing to send {waited.application:.0%} of the time."
    elif waited.steady > _MOST and not queues:  # a link makes the rate constant as well
        evidence = f"{waited.steady:.0%} of the time the sender kept to a constant rate of {waited.rate:.4g} packets/s."
    else:
        return None
    return Limitation(
        "application",
        evidence,
        "For a live stream ask with --application-limited; this flow does not show how much more the path carries.",
    )


def _window(waited: Waiting, mss: int) -> Limitation | None:
    if waited.window <= _MOST or waited.announced is None:
        return None
    packets = waited.announced // mss
    return Limitation(
        "receive-window",
        f"{waited.window:.0%} of the time the sender waited for the receiver's window, {waited.announced} bytes in the "
        "median.",
        f"Ask for a path with this largest window: --max-window {packets}."
        if packets
        else "The receiver takes less than a packet at a time: the path does not matter.",
    )


def _paced(waited: Waiting) -> bool:
    return waited.clock > _OWN_CLOCK


def _own_clock(waited: Waiting, decrease: Measured | None, where: str) -> Limitation | None:
    if where != "sender" or not _paced(waited) or decrease is None or decrease.value <= _NO_DECREASE:
        return None
    return Limitation(
        "bbr",
        f"The sender is paced, {waited.clock:.0%} of the time waiting for its own clock, and at a loss the packets in "
        f"flight fall to {decrease.value:.2g} of what they were: BBR, or another that does not react to losses.",
        "No chain knows BBR; --throughput asks for a TCP whose losses give it the same throughput.",
    )


def _overshoot(capped: Capping, rate: float) -> Limitation | None:
    if not capped.overshoot or capped.first <= _MOST or capped.burst < _BURST or capped.constant:
        return None
    return Limitation(
        "slow-start",
        f"{capped.first:.0%} of the lost packets were lost at once, at the end of the first slow start: the loss rate "
        "says how large the window was then, not how often losses come.",
        f"Capture longer. {_THROUGHPUT.format(rate=rate)}",
    )


def _fills(capped: Capping) -> bool:
    """Tell whether the flow fills a queue: most of the time, or from loss to loss."""
    mostly = capped.middle >= _LONGER * capped.least
    at_last = capped.constant and capped.high >= _AT_LAST * capped.least
    return capped.least > 0 and capped.together > _TOGETHER and (mostly or at_last)


def _queue(capped: Capping, rate: float) -> Limitation | None:
    if not _fills(capped):
        return None
    return Limitation(
        "bottleneck",
        f"The round trip grows with the packets in flight (correlation {capped.together:.2g}), from {capped.least:.3g} "
        f"s to {capped.middle:.3g} s in the median: the flow fills a queue, and the rate of a link limits it.",
        f"Ask for a path with this link: --bottleneck {rate:.4g}pps --rtt {capped.least:.4g}, and --buffer.",
    )


def _policer(capped: Capping, rate: float) -> Limitation | None:
    if not capped.constant or capped.burst < _BURST or capped.together > _TOGETHER:
        return None
    return Limitation(
        "policer",
        f"Between losses the rate was {capped.rate:.4g} packets/s, within 10% {capped.alike} of {capped.bursts - 1} "
        f"times; {capped.burst:.2g} are lost at once, and the round trip does not grow: a policer, or a short queue.",
        _THROUGHPUT.format(rate=rate),
    )


def _unnamed(waited: Waiting, decrease: Measured | None, where: str, rate: float) -> Limitation | None:
    if where != "sender" or not _paced(waited):
        return None
    reaction = "too few losses tell whether it reacts to them" if decrease is None else "it reacts to losses"
    return Limitation(
        "unknown",
        f"{waited.clock:.0%} of the time the sender waited for its own clock, which its application or pacing may set; "
        f"{reaction}.",
        f"Capture a download in which the sender never pauses. If it did not: {_THROUGHPUT.format(rate=rate)}",
    )

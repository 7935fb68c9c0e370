"""What a sender's own counters say about its path: less than a capture, and which part of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CaptureError, InputError, real
from ..numerics.confidence import wilson
from ..path import Path
from .intervals import Measured, batch_means
from .proposal import Proposal, propose

#: Half-width of 95% of a normal distribution over its mean deviation, which RTTVAR estimates: 1.96 sqrt(pi / 2).
_DEVIATIONS = 2.46


@dataclass(frozen=True)
class SenderReport:
    """What `ss` or iperf3 say about the path of a TCP flow.

    Attributes
    ----------
    source : {"ss", "iperf3"}
        The program.
    flow : str
        "sender > receiver"; the flow with most bytes.
    loss : Measured
        Retransmitted over sent data packets, 0 to 1; needless retransmissions count where the sender does not know of
        them.
    rtt : Measured
        Mean of the smoothed round trip times [s].
    rto : Measured
        Mean first retransmission timer [s].
    timeout_ratio : Measured
        `rto` / `rtt`, at least 1 [rounds].
    throughput_pps : Measured or None
        Packets per second; None without the times of at least two intervals.
    packets : int
        Data packets sent, retransmissions included.
    packet_payload : int
        Payload of a full packet, the MSS [bytes].
    samples : int
        Snapshots or intervals that were used.
    duration_s : float or None
        Time that they cover [s].
    others : tuple of str
        The other flows of the file.
    control : str or None
        Congestion control of the sender, as Linux names it; None if the report does not say.

    Notes
    -----
    A report counts retransmissions, not where losses begin: it has no loss-event rate, which is the p of the chain,
    and does not tell independent losses from losses in bursts.
    """

    source: str
    flow: str
    loss: Measured
    rtt: Measured
    rto: Measured
    timeout_ratio: Measured
    throughput_pps: Measured | None
    packets: int
    packet_payload: int
    samples: int
    duration_s: float | None
    others: tuple[str, ...]
    control: str | None

    @property
    def proposal(self) -> Proposal:
        """The chain for this congestion control, as far as it can be told without the losses, and why."""
        return propose(None, sack=False, control=self.control)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the use of the report."""
        return (
            f"{self.source} counts retransmissions, not where losses begin: there is no loss-event rate, which is the "
            "p of the model; only if losses are independent is it the loss rate. A packet capture shows which",
        )

    def path(self, **overrides: Any) -> Path:
        """Return the path with this round trip time and timer, the proposed chain, and a loss rate that is given.

        Parameters
        ----------
        **overrides
            Parameters of `tcpstream.Path`; `loss` must be among them.

        Raises
        ------
        InputError
            When no loss rate is given, or `Path` rejects a value.
        """
        if "loss" not in overrides:
            raise InputError(
                f"{self.source} shows no loss-event rate, only that {self.loss.value:.4g} of the packets were "
                "retransmissions: give a loss rate, that one if losses are independent"
            )
        values: dict[str, Any] = {"rtt": self.rtt.value}
        if "timeout_ratio" not in overrides:
            values["rto"] = self.rto.value
        return Path(**(values | self.proposal.beside(overrides)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings, lists and dicts, units in the names."""
        measured = {
            "loss": self.loss,
            "rtt_s": self.rtt,
            "rto_s": self.rto,
            "timeout_ratio": self.timeout_ratio,
        }
        if self.throughput_pps is not None:
            measured["throughput_pps"] = self.throughput_pps
        return {
            "loss_event_rate": None,
            "throughput_pps": None,
            **{key: m.value for key, m in measured.items()},
            "intervals": {key: [m.low, m.high] for key, m in measured.items()},
            "how": {key: m.how for key, m in measured.items()},
            "congestion_control": self.control,
            "proposal": asdict(self.proposal),
            "source": self.source,
            "flow": self.flow,
            "other_flows": list(self.others),
            "packets": self.packets,
            "packet_payload_bytes": self.packet_payload,
            "samples": self.samples,
            "duration_s": self.duration_s,
            "warnings": list(self.warnings),
        }


Floats = NDArray[np.float64]
#: The kernel counts in 64 bits.
_LARGEST = 2.0**63


def counter(name: str, value: object) -> float:
    """Return a counter of a report, a number from 0 to 2^63, or raise `CaptureError` naming it."""
    try:
        number = real(name, value)
    except InputError as error:
        raise CaptureError(str(error)) from None
    if not 0 <= number <= _LARGEST:
        raise CaptureError(f"{name} must be at least 0 and at most 2^63, got {number:g}")
    return number


def retransmitted(lost: float, sent: float, design: float, what: str) -> Measured:
    """Return retransmitted over sent packets, of which `design` are worth one independent one."""
    low, high = map(float, wilson(lost, sent, design))
    return Measured(lost / sent, low, high, f"{lost:.0f} {what}; Wilson score, widened as the samples scatter")


def smoothed(values: Floats, deviation: float, least: float, what: str) -> Measured:
    """Return the mean of a time [s] seen at several moments; of one alone, give or take its deviation [s]."""
    if len(values) > 1:
        value, low, high = batch_means(values)
        return Measured(value, max(low, min(least, value)), high, f"mean of {len(values)} {what}; batch means")
    value, half = float(values[0]), _DEVIATIONS * deviation
    return Measured(
        value, max(value - half, min(least, value)), value + half, f"one of {what}, +- {_DEVIATIONS} RTTVAR"
    )


def ratio_of(rto: Measured, rtt: Measured) -> Measured:
    """Return T_O = rto / rtt, at least 1."""
    value = max(rto.value / rtt.value, 1.0)
    low, high = max(rto.low / rtt.high, 1.0), rto.high / rtt.low if rtt.low > 0 else value
    return Measured(value, low, max(high, value), "rto / rtt")

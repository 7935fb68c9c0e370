"""What a capture says about a path: estimates with their intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, within
from ..path import Path
from ..system.html_table import html_table
from .busy_link import BusyLink, busy_link
from .decrease import named
from .delivered_series import DeliveredSeries
from .detection import Detection
from .intervals import Measured
from .limitation import Limitation
from .paths import MeasuredPath
from .process import LossProcess
from .proposal import Proposal, propose

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FlowSize:
    """A flow of a capture: "address:port > address:port", its data packets in the file, its payload [bytes]."""

    flow: str
    data_packets: int
    payload_bytes: int


@dataclass(frozen=True)
class PathEstimate:
    """What a capture says about the path of its largest TCP flow.

    Attributes
    ----------
    loss : Measured
        Dropped over sent data packets, 0 to 1.
    loss_event_rate : Measured
        First losses over data packets sent while nothing was missing, 0 to 1: the chain's p. On average equal
        to `loss` if packets are lost independently, lower if they are lost in bursts.
    loss_process : LossProcess
        Whether losses are independent, or take the rest of their round with them as in the chain.
    sack : bool
        Whether selective acknowledgements were seen.
    decrease : Measured or None
        Packets in flight after a fast recovery over those before it: about 0.5 in Reno, 0.7 in CUBIC. None away from
        the sender, without SACK, and where fewer than six recoveries show it.
    detection : Detection
        Whether the sender sees losses by three duplicates and its timer, or sooner, as RACK-TLP does.
    first_flight : int or None
        Packets sent before the first acknowledgement of data: the initial window, unless the application had less to
        send. None if the capture does not hold the start of the connection.
    rtt : Measured
        Mean round trip time [s].
    rtt_quantiles : dict of int to Measured
        10, 50, 90 and 99% quantiles of the round trip time [s].
    packets_per_ack : Measured or None
        Packets that an acknowledgement covers while nothing is missing: 1, or about 2 where the receiver delays every
        second one. None if no acknowledgement shows it.
    rto : Measured
        Mean first retransmission timer [s], as Linux sets it: SRTT + max(0.2 s, 4 RTTVAR).
    timeout_ratio : Measured
        `rto` / `rtt`, at least 1 [rounds].
    throughput_pps : Measured
        Distinct data packets delivered per second, full ones or not.
    throughput_bps : Measured
        Their bits per second, each packet as long as it is, with IP and TCP headers [bit/s].
    series : DeliveredSeries
        These packets second by second, and in which seconds the network limited the flow: for `tcpstream.constancy`.
    packets : int
        Data packets sent, retransmissions included.
    timeouts : int
        Retransmissions of the oldest missing packet after a silence of at least 0.9 `rto`.
    duration_s : float
        From the first data packet to the last [s].
    packet_size : int
        A full packet with its IP and TCP headers [bytes].
    vantage : {"sender", "receiver", "between"}
        Where the capture was taken.
    flow : str
        "address:port > address:port".
    limitation : Limitation or None
        What set the throughput of this flow, if it was not the losses: the chains do not describe it then.
    others : tuple of FlowSize
        The other flows of the file, the one with most payload first.
    warnings : tuple of str
        What limits the use of this capture.

    Notes
    -----
    Packets are counted as they are on the wire: one that offloading split after the capture or merged before
    it, larger than the maximum segment size (MSS), counts as ceil(payload / MSS) packets.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.estimate("examples/linux-reno.pcap")
    >>> found.packets, found.vantage
    (3245, 'sender')
    >>> path = found.path()
    >>> path.tcp
    'reno-sack'
    """

    loss: Measured
    loss_event_rate: Measured
    loss_process: LossProcess
    sack: bool
    decrease: Measured | None
    detection: Detection
    first_flight: int | None
    rtt: Measured
    rtt_quantiles: dict[int, Measured]
    packets_per_ack: Measured | None
    rto: Measured
    timeout_ratio: Measured
    throughput_pps: Measured
    throughput_bps: Measured
    series: DeliveredSeries
    packets: int
    timeouts: int
    duration_s: float
    packet_size: int
    vantage: str
    flow: str
    limitation: Limitation | None
    others: tuple[FlowSize, ...]
    warnings: tuple[str, ...]

    @property
    def proposal(self) -> Proposal:
        """The chain, the initial window and the detection of losses that fit this capture, and why."""
        return propose(
            self.loss_process.fits,
            sack=self.sack,
            control="bbr" if self.limitation and self.limitation.cause == "bbr" else named(self.decrease),
            first_flight=self.first_flight,
            detection=self.detection,
        )

    @property
    def link(self) -> BusyLink | None:
        """The link that the flow kept busy, and between which rates; None where none is seen."""
        return busy_link(self.series)

    def path(self, **overrides: Any) -> Path:
        """Return the path with this loss-event rate, round trip time and retransmission timer.

        Its chain is the proposed one, unless ``tcp`` is given; so are initial window and detection of losses. For any
        but ``tcp="reno"`` it has the loss rate instead: every lost packet counts. A ``max_window`` below the proposed
        initial window is the initial window, and ``initial_window=None`` leaves slow start out.

        Parameters
        ----------
        **overrides
            Parameters of `tcpstream.Path` that replace the measured and proposed ones or add to them.

        Raises
        ------
        InputError
            When no loss was seen and no loss rate is given, or `Path` rejects a value.
        """
        return self._measured_path().path(overrides)

    def ends(self, *, widening: float = 1.0, **overrides: Any) -> tuple[Path | None, Path]:
        """Return the best and the worst path that the 95% intervals allow.

        The best has the least loss, round trip time and timer, the worst the largest, all at once.

        Parameters
        ----------
        widening : float
            How many times as wide the interval of the loss rate is to be, on the scale of its log-odds; 1 or more. For
            a path that was not constant `Constancy.widening`.
        **overrides
            As for `path`. What is given has no interval.

        Returns
        -------
        (Path or None, Path)
            None for the best where the interval of the round trip time reaches 0.

        Raises
        ------
        InputError
            As `path`.
        """
        return self._measured_path().ends(overrides, within("widening", widening, 1, 1e6))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings, lists and dicts, units in the names."""
        measured = self._measured()
        return {
            "packets_per_ack": None,
            "decrease": None,
            **{key: m.value for key, m in measured.items()},
            "loss_process": self.loss_process.to_dict(),
            "sack": self.sack,
            "detection": self.detection.to_dict(),
            "first_flight": self.first_flight,
            "proposal": asdict(self.proposal),
            "packets": self.packets,
            "timeouts": self.timeouts,
            "intervals": {key: [m.low, m.high] for key, m in measured.items()},
            "how": {key: m.how for key, m in measured.items()},
            "vantage": self.vantage,
            "flow": self.flow,
            "limitation": self.limitation and self.limitation.to_dict(),
            "link": self.link and self.link.to_dict(),
            "other_flows": [asdict(other) for other in self.others],
            "duration_s": self.duration_s,
            "packet_size_bytes": self.packet_size,
            "warnings": list(self.warnings),
        }

    def summary(self) -> str:
        """Return the estimates as text of several lines."""
        lines = [
            f"flow {self.flow}, captured at the {self.vantage}"
            if self.vantage != "between"
            else f"flow {self.flow}, captured between sender and receiver",
            f"{self.packets} data packets of up to {self.packet_size} bytes in {self.duration_s:.1f} s, "
            f"{self.timeouts} timeouts",
            f"losses {self.loss_process.sentence()}",
            *self.proposal.sentences().values(),
        ]
        for key, m in self._measured().items():
            lines.append(f"{key:16} {m.value:9.5g}   95% interval {m.low:.5g} to {m.high:.5g}")
        return "\n".join(lines + [f"warning: {text}" for text in self.warnings])

    def to_pandas(self) -> pd.DataFrame:
        """Return a table of value, low and high end of the 95% interval, indexed by what was measured.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("a table", "pandas", "tables") from None
        rows = {name: (one.value, one.low, one.high) for name, one in self._measured().items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"]).rename_axis("measured")

    def _repr_html_(self) -> str:
        measured = [
            (name, f"{one.value:.4g} ({one.low:.4g} to {one.high:.4g})") for name, one in self._measured().items()
        ]
        path = [(name, sentence) for name, sentence in self.proposal.sentences().items()]
        return html_table("PathEstimate", {self.flow: measured, "path": path})

    def _measured_path(self) -> MeasuredPath:
        return MeasuredPath(self.loss, self.loss_event_rate, self.rtt, self.rto, self.packets, self.proposal)

    def _measured(self) -> dict[str, Measured]:
        some = {"packets_per_ack": self.packets_per_ack, "decrease": self.decrease}
        return {
            "loss": self.loss,
            "loss_event_rate": self.loss_event_rate,
            "rtt_s": self.rtt,
            **{f"rtt_q{percent}_s": quantile for percent, quantile in self.rtt_quantiles.items()},
            "rto_s": self.rto,
            "timeout_ratio": self.timeout_ratio,
            "throughput_pps": self.throughput_pps,
            "throughput_bps": self.throughput_bps,
            **{key: measured for key, measured in some.items() if measured is not None},
        }

"""What stands beside every solved answer: throughput and rate, error bound, path, and the capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..answers.answer import at_most
from ..sender import name_of
from ..variants import VARIANTS
from .blocks import Table
from .words import bits_per_second, packets_per_second

if TYPE_CHECKING:
    from ..answers.answer import Streaming
    from ..answers.buffer_grid import BufferGrid
    from ..answers.viewing import Watching
    from ..path import Path
    from ..tcp import Varying
    from ..traces import Part, PathEstimate, Proposal, SenderReport
    from .route import Route

NOTICED = 0.01
"""Of R, that two packets take at a bottleneck, from which on it is told."""

_MEASURED = {
    "loss": "loss rate",
    "loss_event_rate": "loss-event rate p",
    "rtt_s": "round trip time R [s]",
    "rto_s": "first retransmission timer [s]",
    "timeout_ratio": "timer over round trip",
    "throughput_pps": "throughput [packets/s]",
}
_ALSO = {
    "rtt_q10_s": "10% of round trips below [s]",
    "rtt_q50_s": "50% of round trips below [s]",
    "rtt_q90_s": "90% of round trips below [s]",
    "rtt_q99_s": "99% of round trips below [s]",
    "packets_per_ack": "packets per acknowledgement",
    "decrease": "window after a loss over before",
}
_LOST = {"independent": "of all packets", "bursts": "of packets; the rest of a round is lost with each"}
_COLUMNS = ("loss_event_rate", "rtt_s", "timeout_ratio", "throughput_pps")


def solved(
    result: Streaming | Watching | BufferGrid, route: Route, lattice_error: float | None = None
) -> list[str | Table]:
    """Return the tables below the answer of a solve; `lattice_error` is the largest of the answers shown.

    Without it that of stored media is told where f is 1e-4.
    """
    video = result.video
    rows = [
        ("throughput T", packets_per_second(result.throughput, video.packet_size)),
        ("playback rate mu", packets_per_second(video.packet_rate, video.packet_size)),
        ("T/mu", f"{1 / result.load:.4g}"),
    ]
    if video.duration is not None:
        rows.append(("duration", f"{video.duration:g} s"))
    if (error := getattr(result, "error_bound", None)) is not None:
        rows.append(("error of f", at_most(error)))
    if quantum_error := getattr(result, "quantum_error", 0):
        packets = getattr(result, "quantum", 1)
        error = quantum_error if lattice_error is None else lattice_error
        rows.append(("lattice error of f", f"{error:.2g} of itself: steps of {packets} packets"))
    elif lattice_error:
        reason = getattr(result, "lattice_reason", "packets per round fit no lattice")
        rows.append(("lattice error of f", f"at most {lattice_error:.2g} of itself: {reason}"))
    return [Table([*rows, *path_rows(result.path)]), *captured(route, backlogged(result, route))]


def backlogged(result: Streaming | Watching | BufferGrid, route: Route) -> float:
    """Return T of the route [packets/s], of which an application-limited stream is solved for less."""
    from ..tcp import throughput

    return result.throughput if result.path == route.path else throughput(route.path)


def _timer(path: Path) -> str:
    assumed = "R + 0.2 s, assumed as in Linux" if path.rto_assumed else f"{path.timeout_ratio:.4g} R"
    return f"{path.rto:.4g} s ({assumed})"


def _of_two(path: Path) -> str:
    """Return what a ping leaves out of R: a bottleneck sends two packets before the receiver acknowledges them."""
    more = 0.0 if path.bottleneck is None else 2 / path.bottleneck
    return f" of two packets: a ping shows {more:.2g} s less" if more > NOTICED * path.rtt else ""


def path_rows(path: Path | Varying) -> list[tuple[str, str]]:
    """Return the parameters of a path, one a row; of one that varies a row a regime."""
    from ..tcp import Varying

    one = path.regimes[0] if isinstance(path, Varying) else path
    varying = path.regime_rows() if isinstance(path, Varying) else []
    rows = varying or [("loss rate p", f"{one.loss:.4g} {_LOST[one.losses]}")]
    rows += [
        ("round trip time R", f"{path.rtt:.4g} s" + ("" if varying else _of_two(one))),
        ("retransmission timer", f"{_timer(one)}, back-off {one.backoff}"),
        ("largest window", f"{path.max_window} packets"),
    ]
    rows.append(("window growth", VARIANTS[one.tcp].growth.format(**one.to_dict())))
    if one.bottleneck is not None and not varying:
        rows.append(("bottleneck", f"{one.bottleneck:.4g} packets/s, with a buffer of {one.buffer} packets"))
    return rows + _sending(one)


def _sending(path: Path) -> list[tuple[str, str]]:
    """Return what sends, and what of it is not as in the paper."""
    name = name_of(path.sender)
    rows = [("sender", f"{name}: {VARIANTS[path.tcp].text}" if name else VARIANTS[path.tcp].text)]
    if path.initial_window is not None:
        rows.append(("slow start", f"from {path.initial_window} packets, and after timeouts"))
    if path.detection != "duplicates":
        rows.append(("losses", "seen by RACK-TLP, with a probe before the timer"))
    return rows


def captured(route: Route, modelled: float) -> list[str | Table]:
    """Return what is proposed, and what was measured beside the modelled throughput [packets/s]."""
    if route.estimate is None:
        return []
    return [*_proposed(route, route.estimate.proposal), measured(route.estimate, modelled)]


def _proposed(route: Route, proposal: Proposal) -> list[str]:
    """Return a line for the chain, the slow start and the detection of the path, unless the user has chosen them."""
    lines, window = proposal.sentences(), route.path.initial_window
    if window != proposal.initial_window:
        why = "the largest window" if proposal.initial_window else "as the sender"
        lines["initial_window"] = f"slow start from {window}: {why}"
    if route.path.tcp != proposal.tcp:
        lines["tcp"] = f"chain {route.path.tcp}: for the losses that are given"
    shown = [
        f"{text[0].upper()}{text[1:]}. --{name.replace('_', '-')} chooses another."
        for name, text in lines.items()
        if name not in route.chosen
    ]
    return ["\n".join(shown)] if shown else []


def measured(estimate: PathEstimate, modelled: float | None = None) -> Table:
    """Return the table of what a capture shows, as far as the model needs it; all of it without a modelled T."""
    values = estimate.to_dict()
    labels = _MEASURED if modelled is not None else _MEASURED | _ALSO
    rows = [(label, *_interval(values, key)) for key, label in labels.items() if key in values["intervals"]]
    if modelled is not None:
        rows.append(("modelled throughput [packets/s]", f"{modelled:.4g}", ""))
    return Table(rows, ("measured in the capture", "value", "95% interval"))


def reported(report: SenderReport) -> list[Table]:
    """Return the tables of what a sender's counters show."""
    values = report.to_dict()
    time = "" if report.duration_s is None else f" in {report.duration_s:.4g} s"
    head = [
        ("flow", f"{report.flow}, as {report.source} reports it in {report.samples} samples"),
        ("packets", f"{report.packets} of {report.packet_payload} bytes of payload{time}"),
    ]
    if report.control:
        head.append(("congestion control", report.control))
    if report.others:
        head.append(("other flows", ", ".join(report.others)))
    rows = [(label, *_interval(values, key)) for key, label in _MEASURED.items() if key in values["intervals"]]
    return [Table(head), Table(rows, (f"counted by {report.source}", "value", "95% interval"))]


def _interval(values: dict[str, Any], key: str) -> tuple[str, str]:
    low, high = values["intervals"][key]
    return f"{values[key]:.4g}", f"{low:.4g} to {high:.4g}"


def parts(found: Sequence[Part], *, by_time: bool) -> list[str | Table]:
    """Return the table of several estimates, by time or by flow, and a sentence for each part without one."""
    rows = []
    for part in found:
        label = f"{part.start_s:.4g} to {part.end_s:.4g} s" if by_time else part.flow
        if part.estimate is None:
            continue
        values = part.estimate.to_dict()
        cells = ["{} ({})".format(*_interval(values, key)) for key in _COLUMNS]
        rows.append((label, f"{part.estimate.packets}", *cells, part.estimate.loss_process.fits))
    header = ("segment" if by_time else "flow", "packets", "p", "R [s]", "T_O", "T [packets/s]", "losses")
    return [*([Table(rows, header)] if rows else []), *(part.reason for part in found if part.reason)]


def flow(estimate: PathEstimate) -> Table:
    """Return the table of the flow that was measured."""
    at = "between sender and receiver" if estimate.vantage == "between" else f"at the {estimate.vantage}"
    rate = bits_per_second(estimate.throughput_bps.value)
    size = f"{estimate.packets} of up to {estimate.packet_size} bytes"
    found = estimate.proposal
    window = "none" if found.initial_window is None else f"from {found.initial_window}"
    return Table(
        [
            ("flow", f"{estimate.flow}, captured {at}"),
            ("packets", f"{size} in {estimate.duration_s:.4g} s ({rate})"),
            ("timeouts", f"{estimate.timeouts}"),
            ("losses", estimate.loss_process.sentence()),
            ("SACK", "seen" if estimate.sack else "none seen"),
            ("chain", f"{found.tcp}: {found.reason}"),
            ("slow start", f"{window}: {found.initial_window_reason}"),
            ("detection", f"{found.detection}: {found.detection_reason}"),
            *_limitation(estimate),
            *_link(estimate),
            *_others(estimate),
        ]
    )


def _limitation(estimate: PathEstimate) -> list[tuple[str, str]]:
    found = estimate.limitation
    return [("limited by", f"{found.cause}: {found.evidence}"), ("instead", found.ask_instead)] if found else []


def _link(estimate: PathEstimate) -> list[tuple[str, str]]:
    link = estimate.link
    if link is None:
        return []
    return [
        ("link", f"{link.low:.4g} to {link.high:.4g} packets/s (5 and 95% quantiles) in {link.seconds} busy seconds")
    ]


def _others(estimate: PathEstimate) -> list[tuple[str, str]]:
    if not estimate.others:
        return []
    largest = estimate.others[0]
    text = f"{len(estimate.others)}, the largest {largest.flow} with {largest.data_packets} data packets"
    return [("other flows", text)]

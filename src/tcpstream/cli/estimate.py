"""``tcpstream estimate``: a path from a packet capture or the report of a sender."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from . import units
from .options import json_option, option
from .report import Report
from .sections import Sectioned


@click.command(cls=Sectioned)
@click.argument("file")
@click.option("--all", "every", is_flag=True, help="Measure every flow of the file, not only the largest.")
@option("--segments", units.seconds, "T", "Measure successive segments of this length one by one, as 500s or 15min.")
@json_option
def estimate(file: str, every: bool, segments: float | None, as_json: bool) -> Report:
    """Path parameters from a packet capture, or part of them from a sender's counters.

    Loss, round trip time, retransmission timer and throughput, with 95% intervals, and how constant the path was. FILE
    is a pcap or pcapng capture of both directions; its flow with most payload is measured. The first 128 bytes of each
    packet suffice. The output of ss -tin (with times in between, as date +%s.%N) or iperf3 -J at the sender shows
    less: no loss-event rate.
    """
    from .. import traces
    from .._version import __version__
    from ..answers.answer import SCHEMA
    from ..answers.constancy import constancy
    from . import constant_path, details

    if every and segments is not None:
        raise InputError("--all and --segments contradict each other: segments are of the largest flow")
    data: dict[str, Any] = {"schema": SCHEMA, "version": __version__, "parameters": {"file": file}}
    if traces.is_report(file):
        if every or segments is not None:
            raise InputError(f"the report {file} has no packets: --all and --segments need a capture")
        report = traces.estimate_report(file)
        return Report(data | report.to_dict(), details.reported(report), as_json, report.warnings)
    if not every and segments is None:
        found = traces.estimate(file)
        steady = constancy(found)
        data |= found.to_dict() | {"constancy": steady.to_dict()}
        blocks = [details.flow(found), details.measured(found), *constant_path.blocks(steady)]
        return Report(data, blocks, as_json, [*found.warnings, *constant_path.varied(steady, found.link)])
    parts = traces.estimate_flows(file) if segments is None else traces.estimate_segments(file, segments)
    key = "flows" if segments is None else "segments"
    if segments is not None:
        data["parameters"]["segments_s"] = segments
    warnings = list(dict.fromkeys(text for part in parts if part.estimate for text in part.estimate.warnings))
    data[key] = [part.to_dict() for part in parts]
    return Report(data, details.parts(parts, by_time=segments is not None), as_json, warnings)

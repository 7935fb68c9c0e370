"""Files of throughput over time: which format is it, and the trace in it."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

from ..errors import InputError, shown
from ..system.text import MIB, is_number, read_text, separator
from .throughput_trace import ThroughputTrace
from .trace_json import of_iperf3, of_sabre
from .trace_lines import of_columns, of_csv, of_opportunities

LARGEST = 64 * MIB
"""Bytes of a trace: two hours of a line for each packet at 10 Mbit/s."""

ACCEPTED = (
    "CSV with a header of time_s and throughput_bps, throughput_kbps or throughput_mbps, a column of milliseconds "
    "(Mahimahi), columns of s and Mbit/s (Pensieve), JSON of duration_ms and bandwidth_kbps (Sabre) or of iperf3 -J"
)


def read_throughput(file: str | PathLike[str]) -> ThroughputTrace:
    """Read throughput over time; the format is recognised.

    Parameters
    ----------
    file : path-like
        - CSV whose header names ``time_s`` and one of ``throughput_bps``, ``throughput_kbps`` and ``throughput_mbps``
          (1 kbps is 1000 bit/s), values separated by commas, semicolons or tabs as the header is; other columns are
          left alone. A line has the mean since the time of the line before; the first one's interval is as long as the
          second's.
        - Mahimahi: a line for each opportunity to send 1500 bytes, its time in whole milliseconds; counted in
          intervals of 100 ms.
        - Pensieve ("cooked"): two columns, time [s] and throughput [Mbit/s], times as in CSV.
        - Sabre: a JSON list of objects with ``duration_ms`` and ``bandwidth_kbps``; latencies are left alone.
        - ``iperf3 -J`` (``--json``): the sum of all streams in each interval; omitted ones are left out.

    Returns
    -------
    ThroughputTrace

    Raises
    ------
    InputError
        When the file cannot be read, or naming what is wrong in it.

    Notes
    -----
    Netravali et al., "Mahimahi", USENIX ATC 2015; Mao et al., "Neural Adaptive Video Streaming with Pensieve", SIGCOMM
    2017; Spiteri et al., "From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference Player", ACM
    MMSys 2018 (Sabre).
    """
    text, name = read_text(file, LARGEST).lstrip("\ufeff"), str(file)
    first = text.lstrip()[:1]
    if first in ("{", "["):
        return _of_json(text, name)
    rows = [(number, line.strip(" ")) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [(number, line.strip()) for number, line in rows]
    if not lines:
        raise InputError(f"{name} is empty: accepted is {ACCEPTED}")
    head = lines[0][1]
    between = separator(rows[0][1])
    if "time_s" in [part.strip().strip('"') for part in head.split(between)]:
        return of_csv(rows, name)
    if all(is_number(part) for part in head.split()):
        return of_opportunities(lines, name) if len(head.split()) == 1 else of_columns(lines, name)
    if all(is_number(part) for part in head.split(between)):
        raise InputError(f"{name} has columns without units: name them in a first line, as time_s,throughput_mbps")
    raise InputError(f"{name} is no throughput over time, its first line is {shown(head)}: accepted is {ACCEPTED}")


def _of_json(text: str, name: str) -> ThroughputTrace:
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is not JSON, though it begins as it: accepted is {ACCEPTED}") from None
    return of_iperf3(data, name) if isinstance(data, dict) else of_sabre(data, name)

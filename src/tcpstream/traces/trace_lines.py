"""Throughput over time as lines of text: CSV with units, Mahimahi's milliseconds, Pensieve's two columns."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np

from ..errors import InputError, shown
from ..system.text import separator
from .throughput_trace import ThroughputTrace

Lines = Sequence[tuple[int, str]]
"""Lines that are not empty, and their numbers."""

UNITS = {"throughput_bps": 1.0, "throughput_kbps": 1e3, "throughput_mbps": 1e6}
"""Columns of CSV, and what they are in bit/s."""

BIN = 0.1
"""Intervals [s] in which opportunities to send are counted."""

OPPORTUNITY = 8 * 1500
"""Bits of an opportunity to send."""

LATEST = 10**9
"""Of an opportunity [ms]: twelve days."""


def of_csv(lines: Lines, name: str) -> ThroughputTrace:
    """Return the trace of CSV with a header, whose values are separated as its first line is."""
    between = separator(lines[0][1])
    header = [one.strip() for one in _cells(*lines[0], between, name)]
    columns = [one for one in header if one in UNITS]
    if len(columns) != 1 or header.count("time_s") != 1:
        raise InputError(
            f"{name}: one column time_s and one of {', '.join(UNITS)} are wanted, got {shown(','.join(header))}"
        )
    places = header.index("time_s"), header.index(columns[0])
    rows = []
    for number, line in lines[1:]:
        cells = _cells(number, line, between, name)
        if len(cells) != len(header):
            raise InputError(f"{name}, line {number}: {len(header)} columns are wanted, got {shown(line)}")
        rows.append((number, [cells[place].replace(",", ".") if between == ";" else cells[place] for place in places]))
    return _trace(rows, UNITS[columns[0]], name)


def of_columns(lines: Lines, name: str) -> ThroughputTrace:
    """Return the trace of two columns, s and Mbit/s."""
    return _trace([(number, line.split()) for number, line in lines], 1e6, name)


def of_opportunities(lines: Lines, name: str) -> ThroughputTrace:
    """Return the trace of opportunities to send 1500 bytes [ms]."""
    times = np.zeros(len(lines), dtype=np.int64)
    for i, (number, line) in enumerate(lines):
        if not (line.isascii() and line.isdigit() and len(line) < 12 and int(line) <= LATEST):
            raise InputError(
                f"{name}, line {number}: a whole number of milliseconds, at most {LATEST}, is wanted, got {shown(line)}"
            )
        times[i] = int(line)
        if i and times[i] < times[i - 1]:
            raise InputError(
                f"{name}, line {number}: times must not decrease, got {times[i]} ms after {times[i - 1]} ms"
            )
    if times[-1] == 0:
        raise InputError(f"{name}: a trace of opportunities to send needs a time after 0 ms")
    end, step = int(times[-1]), round(1000 * BIN)
    edges = np.append(np.arange(0, end, step), end)
    counts = np.bincount(np.maximum(times - 1, 0) // step, minlength=len(edges) - 1)  # a time ends its millisecond
    return ThroughputTrace(edges / 1000, OPPORTUNITY * counts / (np.diff(edges) / 1000), name)


def _trace(rows: Sequence[tuple[int, list[str]]], unit: float, name: str) -> ThroughputTrace:
    """Return the trace of times [s] and throughputs, each the mean since the time before."""
    values: list[tuple[float, float]] = []
    for number, cells in rows:
        try:
            time, rate = map(float, cells)
        except ValueError:
            raise InputError(
                f"{name}, line {number}: a time [s] and a throughput are wanted, got {shown(' '.join(cells))}"
            ) from None
        if values and not time > values[-1][0]:
            raise InputError(f"{name}, line {number}: times must increase, got {time:g} s after {values[-1][0]:g} s")
        if not rate >= 0:
            raise InputError(f"{name}, line {number}: a throughput of 0 or more is wanted, got {rate:g}")
        values.append((time, rate))
    if len(values) < 2:
        raise InputError(f"{name} has {len(values)} lines of throughput: two or more are wanted")
    times = [time for time, _ in values]
    return ThroughputTrace([2 * times[0] - times[1], *times], [unit * rate for _, rate in values], name)


def _cells(number: int, line: str, between: str, name: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=between))
    except csv.Error as error:
        raise InputError(f"{name}, line {number}: {error}") from None

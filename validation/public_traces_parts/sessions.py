"""Trace sets, and the sessions that are cut from them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream.traces import ThroughputTrace, read_throughput

SECONDS = 130
"""Length of a session: a video of two minutes, its startup delay, and some more [s]."""

LONGEST_GAP = 60.0
"""A session with a longer interval is left out: nobody knows whether the log stood still [s]."""

FEW = 30
"""A set of fewer traces is divided session by session, others trace by trace."""

MEAN = 50.0
"""Packets per second that the first half carries on average, by the size of a packet."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class TraceSet:
    """Where the traces of a set are.

    Attributes
    ----------
    name : str
    files : str
        Pattern below the folder of the traces.
    """

    name: str
    files: str


SETS = (
    TraceSet("3G, Norway", "sabre/example/mmsys18/3Glogs/*.json"),
    TraceSet("4G, Belgium", "sabre/example/mmsys18/4Glogs/*.json"),
    TraceSet("5G, Ireland", "5Gdataset/5G-production-dataset/Download/*/*.csv"),
)


@dataclass(frozen=True, eq=False)
class Session:
    """Throughput of each second, and the trace that it is from.

    Attributes
    ----------
    trace : int
    packets : (n,) array
        [packets/s]
    """

    trace: int
    packets: Floats


@dataclass(frozen=True, eq=False)
class Halves:
    """The sessions of a set: traces in the order of their names go to the two halves by turns.

    Of fewer than `FEW` traces it is the sessions of each trace in the order of time that do.

    Attributes
    ----------
    first, second : list of Session
    packet : float
        Bits of a packet, with which the first half carries `MEAN` packets per second.
    traces : int
        Of the set.
    left_out : int
        Sessions with an interval longer than `LONGEST_GAP`.
    """

    first: list[Session]
    second: list[Session]
    packet: float
    traces: int
    left_out: int


def halves(one: TraceSet, directory: FilePath) -> Halves:
    """Return the sessions of a set."""
    files = sorted(directory.glob(one.files))
    if not files:
        raise SystemExit(f"no trace of {one.name} is at {directory / one.files}")
    cut: tuple[list[tuple[int, Floats]], list[tuple[int, Floats]]] = ([], [])
    left_out = 0
    for number, file in enumerate(files):
        trace = of_phone(file) if file.suffix == ".csv" else read_throughput(file)
        kept, gone = sessions(trace)
        for place, series in enumerate(kept):
            cut[(place if len(files) < FEW else number) % 2].append((number, series))
        left_out += gone
    packet = float(np.mean([series.mean() for _, series in cut[0]])) / MEAN
    made = [[Session(number, series / packet) for number, series in half] for half in cut]
    return Halves(made[0], made[1], packet, len(files), left_out)


def sessions(trace: ThroughputTrace) -> tuple[list[Floats], int]:
    """Return the throughput of each session of a trace [bit/s], and how many were left out."""
    edges = trace.edges - trace.edges[0]
    bits = np.append(0.0, np.cumsum(trace.throughput * np.diff(edges)))
    kept, gone = [], 0
    for begin in SECONDS * np.arange(int(trace.duration // SECONDS)):
        inside = (edges[1:] > begin) & (edges[:-1] < begin + SECONDS)
        if np.diff(edges)[inside].max() > LONGEST_GAP:
            gone += 1
            continue
        times = begin + np.arange(SECONDS + 1)
        kept.append(np.maximum(np.diff(np.interp(times, edges, bits)), 0.0))
    return kept, gone


def of_phone(file: FilePath) -> ThroughputTrace:
    """Return the trace of a log of G-NetTrack Pro: a row about each second, its ``DL_bitrate`` in kbit/s.

    Rows of the same second are averaged. Seconds without a row have the throughput of the row that follows.
    """
    with file.open(newline="") as text:
        rows = [(_time(row["Timestamp"]), 1000 * float(row["DL_bitrate"])) for row in csv.DictReader(text)]
    times = np.array(sorted({time for time, _ in rows}))
    place = np.searchsorted(times, [time for time, _ in rows])
    rates = np.bincount(place, [rate for _, rate in rows]) / np.bincount(place)
    return ThroughputTrace(np.append(times[0] - 1, times), rates, str(file))


def _time(text: str) -> float:
    return (datetime.strptime(text, "%Y.%m.%d_%H.%M.%S") - datetime(2000, 1, 1)).total_seconds()

"""Several estimates from one capture: each of its flows, or successive segments of the largest one."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ..errors import CaptureError, InputError, real
from .estimate import connections_of, measure
from .flow import read_flow
from .result import PathEstimate

#: A segment is at least this long [s].
SHORTEST = 1.0


@dataclass(frozen=True)
class Part:
    """A flow, or a segment of one.

    Attributes
    ----------
    flow : str
        "address:port > address:port".
    start_s, end_s : float
        Where it starts and ends [s] after the first data packet of its flow.
    estimate : PathEstimate or None
        None if nothing can be measured here.
    reason : str
        Why not; else empty.
    """

    flow: str
    start_s: float
    end_s: float
    estimate: PathEstimate | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings, lists and dicts."""
        return {
            "flow": self.flow,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "estimate": self.estimate and self.estimate.to_dict(),
            "reason": self.reason,
        }


def estimate_flows(file: str | PathLike[str]) -> list[Part]:
    """Estimate a path from every flow of a capture, the one with most payload first.

    Parameters
    ----------
    file : path-like
        As for `estimate`.

    Raises
    ------
    CaptureError
        When the file cannot be read, is no capture or holds no TCP packet with payload.
    MissingExtraError
        When dpkt is not installed.
    """
    notes: list[str] = []
    parts = []
    for connection in connections_of(file, f"the capture {file!s}", notes):
        name = f"the flow {connection.name}"
        try:
            found = measure(read_flow(connection, name, notes), name, notes)
        except CaptureError as error:
            parts.append(Part(connection.name, 0.0, 0.0, None, str(error)))
        else:
            parts.append(Part(connection.name, 0.0, found.duration_s, found))
    return parts


def estimate_segments(file: str | PathLike[str], seconds: float) -> list[Part]:
    """Estimate the path anew in every segment of time of the largest flow of a capture.

    Parameters
    ----------
    file : path-like
        As for `estimate`.
    seconds : float
        Length of a segment [s], at least 1; the last one is shorter. Segments without a data packet are left out.

    Raises
    ------
    CaptureError
        As `estimate` does for the whole flow; what one segment does not show is its `reason`.
    InputError
        When `seconds` is not a number of at least 1.
    MissingExtraError
        When dpkt is not installed.

    Notes
    -----
    Section 5.1 of the paper takes p, R and T_O from segments of 500 to 1000 s, each as a video of its own.
    """
    seconds = real("length of a segment", seconds, "s")
    if seconds < SHORTEST:
        raise InputError(f"length of a segment must be at least {SHORTEST:g} s, got {seconds:g} s")
    notes: list[str] = []
    name = f"the capture {file!s}"
    flow = read_flow(connections_of(file, name, notes)[0], f"the largest TCP flow of {name}", notes)
    data = flow.time[flow.is_data]
    begin, last = float(data[0]), float(data[-1] - data[0])
    parts = []
    for number in np.unique((data - begin) // seconds).tolist():
        start, end = number * seconds, min((number + 1) * seconds, last)
        edges = np.searchsorted(flow.time, (begin + start, begin + (number + 1) * seconds))
        piece = flow.part(int(edges[0]), int(edges[1]))
        where = f"the segment from {start:g} s"
        try:
            found = measure(piece, where, notes)
        except CaptureError as error:
            parts.append(Part(flow.name, start, end, None, str(error)))
        else:
            parts.append(Part(flow.name, start, end, found))
    return parts

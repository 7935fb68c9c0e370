"""Traffic in the files of runs: arrays in .npz, a table in CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import numpy as np

from .arrays import array
from .scenario import Scenario
from .traffic import Arrivals, Bins, Count, Note, Traffic

WAYS = ("there", "back")
BINS = ("sent", "received", "dropped")
ARRIVALS = {"time": "f", "number": "iu", "size": "iu", "tag": "iu"}


def as_arrays(traffic: list[Traffic]) -> dict[str, Any]:
    """Return arrays by their names: ``there`` and ``back`` with a row a flow, and what single flows have."""
    found: dict[str, Any] = {way: np.array([getattr(one, way) for one in traffic], dtype=np.int64) for way in WAYS}
    for k, one in enumerate(traffic):
        if one.bins is not None:
            found[f"bins_{k}"] = np.stack([getattr(one.bins, name) for name in BINS])
        if one.arrivals is not None:
            found |= {f"arrivals_{name}_{k}": getattr(one.arrivals, name) for name in ARRIVALS}
    return found


def notes(traffic: list[Traffic]) -> list[list[Note]]:
    """Return the notes of each flow, ready for JSON."""
    return [list(one.notes) for one in traffic]


def from_arrays(archive: ZipFile, scenario: Scenario, noted: list[Any]) -> list[Traffic]:
    """Return what `as_arrays` and `notes` were made of, or raise what a damaged file makes of it."""
    there, back = ([Count(*row) for row in array(archive, way, "iu", 2).tolist()] for way in WAYS)
    found = []
    for k, (flow, sent, told, written) in enumerate(zip(scenario.flows, there, back, noted, strict=True)):
        bins = None if scenario.bins is None else Bins(scenario.bins, *array(archive, f"bins_{k}", "iu", 2))
        arrivals = None
        if flow.measured and flow.tcp is None:
            columns = {name: array(archive, f"arrivals_{name}_{k}", kinds, 1) for name, kinds in ARRIVALS.items()}
            if len({len(column) for column in columns.values()}) > 1:
                raise ValueError(f"arrivals of flow {k} are not of one length")
            arrivals = Arrivals(**columns)
        seen = tuple(Note(float(time), str(end), str(name), float(value)) for time, end, name, value in written)
        found.append(Traffic(sent, told, bins, arrivals, seen))
    return found


def rows(scenario: Scenario, traffic: list[Traffic], duration: float) -> Iterator[str]:
    """Yield rows of CSV: bytes of each flow in each time bin, or in all of the run, after a header."""
    yield "flow,from_s,to_s,sent_bytes,received_bytes,dropped_bytes"
    for k, one in enumerate(traffic):
        name = scenario.name(k).replace('"', '""')
        if one.bins is None:
            yield f'"{name}",0,{duration:.9g},{",".join(map(str, one.there[3:]))}'
            continue
        columns = zip(one.bins.sent.tolist(), one.bins.received.tolist(), one.bins.dropped.tolist())
        for place, counts in enumerate(columns):
            begin, end = place * one.bins.width, min(duration, (place + 1) * one.bins.width)
            yield f'"{name}",{begin:.9g},{end:.9g},{",".join(map(str, counts))}'

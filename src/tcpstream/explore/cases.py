"""From a row of a table to a path and a video."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..path import Path
from ..video import Video
from .columns import LOAD, PATH, VIDEO, check_value
from .load import rate_for, rtt_for

if TYPE_CHECKING:
    from pandas import DataFrame

Row = Mapping[str, Any]


def known(points: DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table without what is missing in each.

    Raises
    ------
    InputError
        For a value that is neither a number, nor text, nor missing.
    """
    rows = points.to_dict("records")
    for row in rows:
        for name, value in row.items():
            check_value(str(name), value)
    missing = points.isna().to_numpy()
    return [
        {str(name): value for (name, value), absent in zip(row.items(), gone) if not absent}
        for row, gone in zip(rows, missing)
    ]


def case(row: Row) -> tuple[Path, Video]:
    """Return the path and the video of a row; T/mu stands for a playback rate, or beside one for a round trip time.

    Raises
    ------
    InputError
        For values out of range, missing or contradictory.
    """
    path = {name: row[name] for name in PATH if name in row}
    video = {name: row[name] for name in VIDEO if name in row}
    rated = "packet_rate" in video or "bitrate" in video
    if LOAD not in row:
        if not rated:
            raise InputError(f"give a playback rate: packet_rate, bitrate or {LOAD}")
        if "rtt" not in path:
            raise InputError(f"give a round trip time: rtt, or {LOAD} with timeout_ratio and a playback rate")
        return Path(**path), Video(**video)
    if not rated:
        if "rtt" not in path:
            raise InputError(f"give rtt or a playback rate with {LOAD}")
        solved = Path(**path)
        return solved, Video(packet_rate=rate_for(solved, row[LOAD]), **video)
    if "rtt" in path or "rto" in path:
        raise InputError(f"{LOAD} with a playback rate is for a round trip time: leave out rtt and rto")
    if "timeout_ratio" not in path:
        raise InputError(f"{LOAD} with a playback rate needs timeout_ratio")
    made = Video(**video)
    return Path(rtt=rtt_for(**path, packet_rate=made.packet_rate, T_over_mu=row[LOAD]), **path), made

"""Videos from the sizes of their frames or segments: ffprobe's JSON, movies of Sabre, CSV."""

from __future__ import annotations

import csv
import json
import math
from itertools import groupby
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, positive, real, whole
from ..video import Frames, Video

ACCEPTED = (
    "ffprobe -of json with -show_packets or -show_frames, a movie of Sabre (segment_duration_ms, segment_sizes_bits), "
    "or CSV with a header time_s,bytes (or time_s,bytes,key) or duration_s,bytes"
)
TIMES = ("dts_time", "pkt_dts_time", "pts_time", "best_effort_timestamp_time", "pkt_pts_time")
"""Of a frame, by ffprobe: when it is decoded, or else shown."""

LASTS = ("duration_time", "pkt_duration_time")


class Piece(NamedTuple):
    """A frame or a segment: from when on it plays [s], for how long (0: to the next one), and its size [bytes].

    And whether it is a key frame, None where that is not known; and a picture (True), sound beside pictures or so
    (False), or a segment (None).
    """

    time: float
    lasts: float
    size: float
    key: bool | None = None
    picture: bool | None = None


def read_media(path: str | PathLike[str], *, packet_size: float = 1500, rung: int | None = None) -> Video:
    """Read the playback curve of a video from the sizes of its frames or segments, and its frames.

    Each is due evenly from its own time to that of the next one. Frames are those of pictures, where there are any.

    Parameters
    ----------
    path : path-like
        JSON of ``ffprobe -of json`` with ``-show_packets`` or ``-show_frames``; a movie file of Sabre, with
        ``segment_duration_ms`` and ``segment_sizes_bits``; or CSV with a header ``time_s,bytes`` or
        ``time_s,bytes,key`` (frames; 1 for a key frame, else 0) or ``duration_s,bytes`` (segments).
    packet_size : float
        Bytes of media in a packet, 1 to 1e6.
    rung : int, optional
        Of a movie of Sabre, which of its bit rates, from 1 on; needed where there are several.

    Raises
    ------
    InputError
        When the file cannot be read, or is none of these; the message names the line, or the entry.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise InputError(f"cannot read the video {path}: {reason}") from None
    if not text.lstrip().startswith(("{", "[")):
        pieces = _from_csv(path, text)
        if rung is not None:
            raise InputError(f"{path}: only a movie of Sabre has rungs: leave out rung = {rung:g}")
    else:
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {error.lineno}: not JSON: {error.msg}; accepted: {ACCEPTED}") from None
        pieces = _from_json(path, data, rung)
    curve = _curve(path, pieces, packet_size)
    return Video(curve=curve, packet_size=packet_size, frames=_frames(pieces, curve))


def is_media(path: str | PathLike[str]) -> bool:
    """Return whether a file looks as if `read_media` were to read it: JSON, or CSV whose header speaks of sizes."""
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            line = file.readline(1000).strip()
    except (OSError, UnicodeDecodeError):
        return False
    return line.startswith(("{", "[")) or any(word in line.lower() for word in ("byte", "bits", "size", "duration"))


def _from_csv(path: str | PathLike[str], text: str) -> list[Piece]:
    rows = csv.reader(text.splitlines())
    given = ",".join(next(rows, []))
    header = given.replace(" ", "").lower()
    if header not in ("time_s,bytes", "time_s,bytes,key", "duration_s,bytes"):
        raise InputError(f"{path}, line 1: the header is {given!r}; accepted: {ACCEPTED}")
    found: list[Piece] = []
    time = 0.0
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        names = header.split(",")
        if len(row) != len(names):
            many = "two" if len(names) == 2 else "three"
            raise InputError(f"{path}, line {number}: expected {many} numbers '{header}', got {','.join(row)!r}")
        first, size, *key = (_number(f"{path}, line {number}: {name}", one) for name, one in zip(names, row))
        if key and key[0] not in (0, 1):
            raise InputError(f"{path}, line {number}: key must be 1 or 0, got {key[0]:g}")
        if header.startswith("time"):
            if found and first < found[-1].time:
                raise InputError(
                    f"{path}, line {number}: times must not decrease, got {first:g} s after {found[-1].time:g} s"
                )
            found.append(Piece(first, 0.0, size, bool(key[0]) if key else None, picture=True))
        else:
            found.append(Piece(time, positive(f"{path}, line {number}: duration", first, "s"), size))
            time += first
    return found


def _from_json(path: str | PathLike[str], data: Any, rung: int | None) -> list[Piece]:
    if isinstance(data, dict) and "segment_sizes_bits" in data:
        return _from_sabre(path, data, rung)
    if rung is not None:
        raise InputError(f"{path}: only a movie of Sabre has rungs: leave out rung = {rung:g}")
    keys = ("packets", "frames", "packets_and_frames")
    entries = next((data[key] for key in keys if key in data), None) if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: no packets, frames or segment sizes; accepted: {ACCEPTED}")
    found = []
    for number, entry in enumerate(entries, 1):
        where = f"{path}, entry {number}"
        if not isinstance(entry, dict):
            raise InputError(f"{where}: expected an object, got {entry!r}")
        size = entry.get("size", entry.get("pkt_size"))
        time = next((entry[name] for name in TIMES if entry.get(name, "N/A") != "N/A"), None)
        if size is None or time is None:
            raise InputError(f"{where}: a size and one of {', '.join(TIMES)} are needed, got {', '.join(entry)}")
        lasts = next((entry[name] for name in LASTS if entry.get(name, "N/A") != "N/A"), 0.0)
        given = {"time": time, "duration": lasts, "size": size}
        at, long, many = (_number(f"{where}: {name}", one) for name, one in given.items())
        kind = entry.get("codec_type", entry.get("media_type", "video"))
        found.append(Piece(at, long, many, _key(entry), picture=kind == "video"))
    return found


def _key(entry: dict[str, Any]) -> bool | None:
    """Return whether ffprobe says that a packet or a frame is a key frame; None where it does not say."""
    if "key_frame" in entry:
        return str(entry["key_frame"]) == "1"
    return "K" in str(entry["flags"]) if "flags" in entry else None


def _from_sabre(path: str | PathLike[str], data: dict[str, Any], rung: int | None) -> list[Piece]:
    segments = data["segment_sizes_bits"]
    if not (isinstance(segments, list) and segments and all(isinstance(one, list) and one for one in segments)):
        raise InputError(f"{path}: segment_sizes_bits must be a list of segments, each a list of sizes by bit rate")
    lasts = positive(f"{path}: segment_duration_ms", data.get("segment_duration_ms"), "ms") / 1000
    rungs = len(segments[0])
    for number, one in enumerate(segments, 1):
        if len(one) != rungs:
            raise InputError(f"{path}, segment {number}: expected {rungs} sizes, as of the first one, got {len(one)}")
    if rung is None and rungs > 1:
        raise InputError(f"{path}: the movie has {rungs} bit rates: give rung, from 1 to {rungs}")
    which = 0 if rung is None else whole(f"{path}: rung", rung, most=rungs) - 1
    return [
        Piece(i * lasts, lasts, _number(f"{path}, segment {i + 1}: size", one[which]) / 8)
        for i, one in enumerate(segments)
    ]


def _curve(path: str | PathLike[str], pieces: list[Piece], packet_size: float) -> tuple[list[float], list[float]]:
    """Return times from the first piece on and the packets due by then: those of a piece from its time to the next."""
    for piece in pieces:
        if piece.size < 0 or piece.lasts < 0:
            raise InputError(f"{path}: sizes and durations must not be negative, got {min(piece.size, piece.lasts):g}")
    at = [(time, math.fsum(one.size for one in group)) for time, group in _by_time(pieces)]
    if len(at) < 2:
        raise InputError(f"{path}: a video needs two frames or segments at least, got {len(at)}")
    begin = at[0][0]
    end = max(one.time + one.lasts for one in pieces)
    if end <= at[-1][0]:  # the last one lasts as long as others do
        end = at[-1][0] + (at[-1][0] - begin) / (len(at) - 1)
    times, packets = [0.0], [0.0]
    for then, (_, size) in zip([*(time for time, _ in at[1:]), end], at):
        times.append(then - begin)
        packets.append(packets[-1] + size / packet_size)
    return times, packets


def _frames(pieces: list[Piece], curve: tuple[list[float], list[float]]) -> Frames | None:
    """Return the frames of pictures, or of sound where there are none; None for segments.

    What has the time of a frame, as sound, must have arrived with it.
    """
    if any(one.picture is None for one in pieces):
        return None
    wanted = any(one.picture for one in pieces)
    found = [
        (time, packets, piece.key)
        for time, packets, (_, group) in zip(curve[0], curve[1][1:], _by_time(pieces))
        for piece in group
        if piece.picture == wanted
    ]
    times, packets, keys = zip(*found)
    return Frames(times, packets, None if None in keys else keys)


def _by_time(pieces: list[Piece]) -> groupby[float, Piece]:
    """Return pieces by their times; those of one time are as in the file."""
    return groupby(sorted(pieces, key=attrgetter("time")), attrgetter("time"))


def _number(name: str, value: object) -> float:
    """Return a number that a file may also give as text."""
    try:
        return real(name, float(value) if isinstance(value, str) else value)
    except ValueError:
        raise InputError(f"{name} must be a number, got {value!r}") from None

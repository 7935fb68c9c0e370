"""Drawn sessions in the formats of others: a table, the input of ITU-T P.1203, a network of Sabre."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, choice, positive
from ..system.whole_files import written

Floats = NDArray[np.float64]

VIDEO_CODECS, AUDIO_CODECS = ("h264",), ("aaclc", "heaac", "mp2", "ac3")
DEVICES = ("pc", "handheld", "mobile")
"""As P.1203 has them."""

STREAM = 1
"""Number of the stream, of which there is one."""

KILO, MILLI = 1e3, 1e-3

PERIOD = 1.0
"""Length of a period of a network, in whole round trips [s]."""

Periods = list[dict[str, float]]


def write_csv(sessions: Iterable[dict[str, Any]], file: str | PathLike[str]) -> None:
    """Write a row for each session; see `DrawnSessions.write_csv`."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for i, one in enumerate(sessions):
        if i == 0:
            rows.writerow(one)
        rows.writerow(_cell(value) for value in one.values())
    with written(file) as out:
        out.write(text.getvalue().encode())


def p1203_input(
    seen: dict[str, Any], length: float, step: float, *, codec: str, bitrate: float, resolution: str, fps: float,
    display_size: str, device: str, audio: tuple[str, float] | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the input of P.1203, mode 0, of a session in parts of so many seconds; see `DrawnSessions.p1203`."""
    choice("codec", codec, VIDEO_CODECS)
    choice("device", device, DEVICES)
    one = {
        "codec": codec,
        "bitrate": positive("bit rate", bitrate, "bit/s") / KILO,
        "resolution": _pixels("resolution", resolution),
        "fps": positive("frames a second", fps),
    }
    starts = [k * step for k in range(math.ceil(length / step - 1e-9))]
    spans = [{"start": start, "duration": min(step, length - start)} for start in starts]
    found: dict[str, Any] = {
        "IGen": {"device": device, "displaySize": _pixels("display size", display_size)},
        "I13": {"streamId": STREAM, "segments": [one | span for span in spans]},
        "I23": {
            "streamId": STREAM,
            "stalling": [[0.0, seen["join_time_s"]], *map(list, zip(seen["stall_start_s"], seen["stall_length_s"]))],
        },
    }
    if audio is not None:
        if not isinstance(audio, tuple) or len(audio) != 2:
            raise InputError(f"audio must be a codec and a bit rate, as ('aaclc', 128e3), got {audio!r}")
        choice("audio codec", audio[0], AUDIO_CODECS)
        sound = {"codec": audio[0], "bitrate": positive("audio bit rate", audio[1], "bit/s") / KILO}
        found["I11"] = {"streamId": STREAM, "segments": [sound | span for span in spans]}
    return found


def network_of_segments(took: Floats, arrived: Floats, bits: float) -> Periods:
    """Return a period for each segment of so many bits, until the next request."""
    asked = arrived - took
    return _periods(np.append(asked[1:], arrived[-1]) - asked, bits / took, 0.0)


def network_of_rounds(packets: NDArray[Any], rtt: float, bits: float) -> Periods:
    """Return periods of a second or a little more, from the packets of so many bits that are there after each round."""
    rounds = int(np.argmax(packets == packets[-1])) + 1
    ends = np.append(np.arange(0, rounds - 1, max(1, math.ceil(PERIOD / rtt - 1e-9)))[1:], rounds)
    lasts = np.diff(np.append(0, ends)) * rtt
    return _periods(lasts, np.diff(np.append(0, packets[ends - 1])) * bits / lasts, rtt)


def _periods(lasts: Floats, rates: Floats, latency: float) -> Periods:
    return [
        {"duration_ms": d / MILLI, "bandwidth_kbps": rate / KILO, "latency_ms": latency / MILLI}
        for d, rate in zip(lasts.tolist(), rates.tolist())
    ]


def _cell(value: Any) -> str:
    return ";".join(map(_cell, value)) if isinstance(value, list) else f"{value:.9g}"


def _pixels(name: str, text: object) -> str:
    if not isinstance(text, str) or not re.fullmatch(r"[1-9]\d*x[1-9]\d*", text):
        raise InputError(f"{name} must be width and height in pixels, as 1920x1080, got {text!r}")
    return text

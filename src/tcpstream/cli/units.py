"""Numbers with units, from text. What range they may have is for `Path` and `Video` to say."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import InputError

SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BITS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf))\s*([a-z]*)\s*", re.I | re.A)


class Rate(NamedTuple):
    """A playback rate under the name by which `Video` takes it: packet_rate [packets/s] or bitrate [bit/s]."""

    name: str
    value: float


def number(text: str) -> float:
    """Return a plain number."""
    value, unit = _split(text)
    if value is None or unit:
        raise InputError(f"{text!r} is not a number")
    return value


def seconds(text: str) -> float:
    """Return a time [s] from seconds, or a number with ms, s, min or h."""
    value, unit = _split(text)
    if value is None or unit not in SECONDS:
        raise InputError(f"{text!r} is not a time: give seconds, or a number with ms, s, min or h, as 110ms or 0.11")
    return value * SECONDS[unit]


def times(text: str) -> list[float]:
    """Return times [s] separated by commas, in their order."""
    parts = text.split(",")
    if not all(part.strip() for part in parts):
        raise InputError(f"empty time in {text!r}: separate times by single commas, as 1,2.5,500ms")
    return [seconds(part) for part in parts]


def rate(text: str) -> Rate:
    """Return a rate from a number with pps, bps, kbps, Mbps or Gbps."""
    value, unit = _split(text)
    if value is None or unit not in {"pps", *BITS}:
        wrong = "has no unit" if value is not None and not unit else "is not a rate"
        raise InputError(f"{text!r} {wrong}: give a number with pps (packets/s), bps, kbps, Mbps or Gbps, as 25pps")
    return Rate("packet_rate", value) if unit == "pps" else Rate("bitrate", value * BITS[unit])


def _split(text: str) -> tuple[float | None, str]:
    match = _NUMBER.fullmatch(text)
    return (float(match[1]), match[2].lower()) if match else (None, "")

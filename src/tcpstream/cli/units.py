"""Numbers with units, from text. What range they may have is for `Path` and `Video` to say."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..errors import InputError
from ..system.text import of_percent

SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
RATES = "pps (packets/s), bps, kbps, Mbps or Gbps (bits), or kB/s, MB/s or GB/s (bytes)"

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf))\s*([a-z%/]*)\s*", re.I | re.A)
_BITS = re.compile(r"([kKmMgG]?)(b/s|bps|[bB][iI][tT](?:/s)?)")
_BYTES = re.compile(r"([kKmMgG]?)(B/s|Bps)")
_EITHER = re.compile(r"([kmg]?)b(/s|ps)?", re.I)


class Rate(NamedTuple):
    """A playback rate under the name by which `Video` takes it: packet_rate [packets/s] or bitrate [bit/s]."""

    name: str
    value: float


def number(text: str) -> float:
    """Return a plain number."""
    value, unit = split(text)
    if value is None or unit:
        raise InputError(f"{text!r} is not a number")
    return value


def measured(text: str) -> list[Rate]:
    """Return a rate, or three separated by commas: a value and the ends of its interval."""
    rates = [rate(part) for part in text.split(",")]
    if len(rates) not in (1, 3) or len({one.name for one in rates}) > 1:
        raise InputError(f"{text!r} is not a rate, or a rate and the ends of its interval, as 250pps,220pps,280pps")
    if len(rates) == 3 and not rates[1].value <= rates[0].value <= rates[2].value:
        raise InputError(
            f"{text!r}: the rate does not lie between the ends of its interval, as in 250pps,220pps,280pps"
        )
    return rates


def probability(text: str) -> float:
    """Return a number, of which 100 are 1 where they carry the sign %."""
    value, unit = split(text)
    if value is None or unit not in ("", "%"):
        raise InputError(f"{text!r} is not a probability: give a number, as 0.02 or 2%")
    if unit and value > 100:
        raise InputError(f"{text!r} is more than 100%: give a probability, as 0.02 or 2%")
    return of_percent(repr(value)) if unit else value


def seconds(text: str) -> float:
    """Return a time [s] from seconds, or a number with ms, s, min or h."""
    value, unit = split(text)
    unit = unit.lower()
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
    """Return a rate from a number with its unit: packets, bits or bytes a second.

    A small b stands for bits and a capital B for bytes, as in kbps and kB/s; the case of other letters says nothing.
    """
    value, unit = split(text)
    if value is None:
        raise InputError(f"{text!r} is not a rate: give a number with {RATES}, as 25pps")
    if unit.lower() in ("pps", "packets/s"):
        return Rate("packet_rate", value)
    if bits := _BITS.fullmatch(unit):
        return Rate("bitrate", value * PREFIXES[bits[1].lower()])
    if octets := _BYTES.fullmatch(unit):
        return Rate("bitrate", 8 * value * PREFIXES[octets[1].lower()])
    if not unit and not 0 < value < math.inf:
        raise InputError(f"{text!r} is no rate above 0: give a number with {RATES}, as 25pps")
    wrong = "is ambiguous" if _EITHER.fullmatch(unit) else "is not a rate" if unit else "has no unit"
    raise InputError(f"{text!r} {wrong}: give a number with {RATES}, as 25pps")


def split(text: str) -> tuple[float | None, str]:
    """Return the number and the unit of a text; None where there is none."""
    match = _NUMBER.fullmatch(text)
    return (float(match[1]), match[2]) if match else (None, "")

"""What ``tcpstream transfer`` delivers, as people write it: 2.5MB, 100packets."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import InputError
from .units import PREFIXES, split

_OCTETS = re.compile(r"([kKmMgG]?)(B|bytes)")


class Size(NamedTuple):
    """What is to be delivered, under the name by which `transfer_time` takes it: bytes or packets."""

    name: str
    value: float


def size(text: str) -> Size:
    """Return what is to be delivered, from a number of bytes or of packets."""
    value, unit = split(text)
    if value is not None and unit.lower() in ("packets", "packet"):
        return Size("packets", value)
    octets = _OCTETS.fullmatch(unit)
    if value is None or not octets:
        raise InputError(f"{text!r} is not a size: give a number with B, kB, MB, GB or packets, as 2.5MB")
    return Size("bytes", value * PREFIXES[octets[1].lower()])

"""What ``tcpstream transfer`` delivers, as people write it: 2.5MB, 1MiB, 100packets."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import InputError
from .units import PREFIXES, split

SIZES = "B, kB, MB, GB or TB, KiB, MiB, GiB or TiB (bytes), kbit, Mbit or Gbit, or packets"

_OCTETS = re.compile(r"([kKmMgGtT]?)(i?)(B|[bB]ytes?)")
_BITS = re.compile(r"([kKmMgGtT]?)(i?)[bB]its?")
_EITHER = re.compile(r"(?:[kmgt]i?)?b", re.I)
_PACKETS = re.compile(r"packets?|pkts?", re.I)


class Size(NamedTuple):
    """What is to be delivered, under the name by which `transfer_time` takes it: bytes or packets."""

    name: str
    value: float


def size(text: str) -> Size:
    """Return what is to be delivered, from a number of bytes, bits or packets.

    As in rates, a small b alone does not say whether it stands for bits or for bytes.
    """
    value, unit = split(text)
    if value is not None and _PACKETS.fullmatch(unit):
        return Size("packets", value)
    for unit_of, octets in ((_OCTETS, 1.0), (_BITS, 1 / 8)):
        found = unit_of.fullmatch(unit)
        if value is not None and found and (found[1] or not found[2]):
            return Size("bytes", value * octets * _factor(found[1].lower(), bool(found[2])))
    wrong = "is ambiguous" if _EITHER.fullmatch(unit) else "is not a size" if unit or value is None else "has no unit"
    raise InputError(f"{text!r} {wrong}: give a number with {SIZES}, as 2.5MB")


def _factor(prefix: str, binary: bool) -> float:
    """Return what a prefix stands for: powers of 1000, or of 1024 where it ends with i."""
    return 1024.0 ** " kmgt".index(prefix) if binary else (PREFIXES | {"t": 1e12})[prefix]

"""Columns of a table of sessions: which there are, in which units, and what is wrong with single values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown
from ..explore.frames import pandas
from ..path import LARGE_LOSS, LONG_ROUND_TRIP, LOSSES, ROUND_TRIPS
from ..sender import LONGEST_TIMER
from ..video import LENGTHS, RATES

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]

TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
SHARES = {"percent": 0.01}
BITS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9}
"""Units at the end of a name; rates in bits become packets."""

PERCENT = r"^\s*([^%]*)%\s*$"
"""A value in percent."""

CARRIES = ("loss", "retransmit_share", "throughput")
"""Of which a table has one: what says how much the path carries."""


@dataclass(frozen=True)
class Kind:
    """What a column holds: units at the end of its name, and between which values [SI units] it must lie."""

    units: Mapping[str, float]
    least: float
    most: float
    unit: str = ""


KINDS = {
    "rtt": Kind(TIMES, *ROUND_TRIPS, "s"),
    "loss": Kind(SHARES, LOSSES[0], LARGE_LOSS),
    "retransmit_share": Kind(SHARES, LOSSES[0], LARGE_LOSS),
    "throughput": Kind(BITS | {"pps": 0.0}, *RATES, "packets/s"),
    "rto": Kind(TIMES, ROUND_TRIPS[0], LONGEST_TIMER, "s"),
    "rate": Kind(BITS | {"pps": 0.0}, *RATES, "packets/s"),
    "duration": Kind(TIMES, *LENGTHS, "s"),
}
"""By name. A rate has its unit in its name: 0.0 stands for packets."""


@dataclass(frozen=True)
class Found:
    """A column of sessions that was found.

    Attributes
    ----------
    name : str
        What it is, one of `KINDS`.
    column : str
        What the table calls it.
    scale : float
        To SI units; 0 for packets/s.
    """

    name: str
    column: str
    scale: float


def find(columns: list[str], mapped: Mapping[str, str]) -> dict[str, Found]:
    """Return which columns of a table are which, by what they are.

    Parameters
    ----------
    columns : list of str
    mapped : mapping
        From a name, with its unit as ``rtt_ms``, to the column that has it.

    Raises
    ------
    InputError
        For a name that is not known, a column that is not there, or two for one.
    """
    found: dict[str, Found] = {}
    for name, column in mapped.items():
        kind = _kind(name)
        if kind is None:
            raise InputError(f"no column of sessions is called {shown(name)}: {_accepted()}")
        if column not in columns:
            raise InputError(f"the table has no column {shown(column)} for {name}: it has {', '.join(columns[:20])}")
        if kind[0] in found:
            raise InputError(f"two columns are mapped to {kind[0]}: {found[kind[0]].column} and {column}")
        found[kind[0]] = Found(kind[0], column, kind[1])
    for column in columns:
        kind = _kind(column)
        if kind is None or column in mapped.values() or kind[0] in {_base(name) for name in mapped}:
            continue
        if kind[0] in found:
            raise InputError(
                f"two columns are {kind[0]}: {found[kind[0]].column} and {column}; map the one that counts"
            )
        found[kind[0]] = Found(kind[0], column, kind[1])
    return found


def _accepted() -> str:
    return f"{', '.join(KINDS)}, with a unit at the end as in rtt_ms, loss_percent, rate_mbps"


def _kind(name: str) -> tuple[str, float] | None:
    """Return what a name says a column is, and its scale; None for any other.

    Capitals make no difference, but in MBps, which are bytes.
    """
    name = name.strip()
    if name.endswith("Bps"):
        return None
    name = name.lower()
    for base, kind in KINDS.items():
        if name == base and kind.unit != "packets/s":
            return base, 1.0
        unit = name.removeprefix(f"{base}_")
        if unit != name and unit in kind.units:
            return base, kind.units[unit]
    return None


def _base(name: str) -> str:
    kind = _kind(name)
    return kind[0] if kind else name


def values(table: DataFrame, one: Found, packet_size: float) -> tuple[Floats, list[str]]:
    """Return a column in SI units and packets/s, nan where a value does not do, and why it does not.

    A share may be given in percent by a value as 2%, too; a CSV file with semicolons may have decimal commas.

    Raises
    ------
    InputError
        For round trip times that were meant in another unit.
    """
    pd = pandas("scores")
    kind, given = KINDS[one.name], table[one.column]
    text = not pd.api.types.is_numeric_dtype(given)
    written = given.astype("str").str.replace(",", ".") if text and table.attrs.get("decimal") == "," else given
    number = pd.to_numeric(written, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bits = kind.unit == "packets/s" and one.scale > 0
    si: Floats = number * (one.scale / (8 * packet_size) if bits else one.scale or 1.0)
    if kind.units is SHARES and text:
        percent = pd.to_numeric(written.astype("str").str.extract(PERCENT, expand=False), errors="coerce").to_numpy()
        number, si = np.where(np.isnan(percent), (number, si), (percent, percent * SHARES["percent"]))
    known = si[np.isfinite(si)]
    if one.name == "rtt" and len(known) and np.median(known) > LONG_ROUND_TRIP:
        raise InputError(
            f"half of the round trip times in {one.column} are longer than {LONG_ROUND_TRIP:g} s: for milliseconds "
            f"call the column rtt_ms, or map rtt_ms to {one.column}"
        )
    good = (si >= kind.least) & (si <= kind.most)
    reasons = [""] * len(si)
    unit = f" {kind.unit}" if kind.unit else ""
    for i in np.flatnonzero(~good).tolist():
        value = given.iloc[i]
        if pd.isna(value) is True or (isinstance(value, str) and not value.strip()):
            reasons[i] = f"{one.column} is missing"
        elif np.isnan(number[i]):
            reasons[i] = f"{one.column} is no number: {shown(value)}"
        elif kind.units is SHARES and si[i] == 0:
            reasons[i] = f"{one.name} is 0: a session without losses does not tell the loss rate of its path"
        else:
            had = shown(value) if isinstance(value, str) else f"{value:g}"
            told = "" if si[i] == number[i] else f", from {one.column} {had}"
            reasons[i] = f"{one.name} must be {kind.least:g} to {kind.most:g}{unit}, got {si[i]:g}{unit}{told}"
    si[~good] = np.nan
    return si, reasons


def column_called(name: str, columns: Iterable[str]) -> str:
    """Return the column of that name, in capitals or not, or raise `InputError`."""
    there = list(columns)
    alike = [name] if name in there else [one for one in there if one.strip().lower() == name.strip().lower()]
    if len(alike) != 1:
        raise InputError(f"the table has no column {shown(name)} to group by: it has {', '.join(there[:20])}")
    return alike[0]


def check(found: dict[str, Any], replaced: Mapping[str, object]) -> str:
    """Return which column says what the path carries, or raise `InputError` for what is missing or too much."""
    if "rtt" not in found:
        raise InputError("a table of sessions needs a column rtt_ms or rtt_s (seconds as rtt), or map one to it")
    carries = [name for name in CARRIES if name in found]
    if len(carries) != 1:
        raise InputError(
            f"a table of sessions needs exactly one of {', '.join(CARRIES)} (a throughput with its unit, as "
            f"throughput_mbps), got {' and '.join(carries) or 'none'}; map the one that counts"
        )
    for name, example in (("rate", "rate_mbps"), ("duration", "duration_s")):
        if name not in found and replaced.get(name) is None:
            raise InputError(f"give {name} for all sessions, or a column {example}")
    return carries[0]

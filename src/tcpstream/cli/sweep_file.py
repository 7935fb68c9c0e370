"""A sweep from a TOML file: what is asked, and the points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, choice, real, shown, whole
from ..explore import grid
from ..explore.columns import KINDS, POINTS, UNITS, WORDS, few_enough
from ..explore.frames import pandas
from ..system.text import read_toml
from . import units

if TYPE_CHECKING:
    from pandas import DataFrame

KEYS = ("kind", "alpha", "grid", "points")
RANGE = ("from", "to", "number", "scale")
SCALES = ("linear", "log")

EXACT = 2**53
"""Whole numbers from here on are not all floating-point numbers, and become such ones."""


def read_sweep(file: str) -> tuple[DataFrame, str, bool]:
    """Return the points, the kind and whether alpha is wanted.

    Raises
    ------
    InputError
        When the file cannot be read, or naming what is wrong in it.
    """
    given = read_toml(file)
    try:
        return _points(given), _kind(given), _alpha(given)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    except RecursionError:
        raise InputError(f"{file}: tables are nested too deeply") from None


def _kind(given: dict[str, Any]) -> str:
    unknown = [name for name in given if name not in KEYS]
    if unknown:
        raise InputError(f"{shown(unknown[0])} is not known: {', '.join(KEYS)} are accepted")
    choice("kind", given.get("kind"), KINDS)
    return str(given["kind"])


def _alpha(given: dict[str, Any]) -> bool:
    alpha = given.get("alpha", False)
    choice("alpha", alpha, (True, False))
    return bool(alpha)


def _points(given: dict[str, Any]) -> DataFrame:
    """Return the points of ``[grid]``, or of every ``[[points]]``."""
    if ("grid" in given) == ("points" in given):
        raise InputError("give either [grid] or [[points]]")
    if "grid" in given:
        _known(given["grid"], "grid")
        return grid(**{name: _axis(name, value) for name, value in given["grid"].items()})
    rows = given["points"]
    if not isinstance(rows, list) or not rows:
        raise InputError("points must be a list of tables, [[points]]")
    for i, row in enumerate(rows, 1):
        _known(row, f"points {i}")
    table: DataFrame = pandas("a sweep").DataFrame(
        [{name: _value(name, value) for name, value in row.items()} for row in rows]
    )
    return table


def _known(table: Any, where: str) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table")
    unknown = [name for name in table if name not in POINTS]
    if unknown:
        raise InputError(f"{where} has no {shown(unknown[0])}: {', '.join(POINTS)} are accepted")


def _axis(name: str, given: Any) -> Any:
    """Return the values of an axis: one, a list, or a range."""
    if isinstance(given, list):
        return [_value(name, one) for one in given]
    if not isinstance(given, dict):
        return _value(name, given)
    unknown = [key for key in given if key not in RANGE]
    if unknown or not {"from", "to", "number"} <= given.keys():
        raise InputError(f"{name}: a range is from, to, number and, if wanted, scale")
    low, high = (real(f"{name}.{end}", _value(name, given[end])) for end in ("from", "to"))
    number = whole(f"{name}.number", given["number"], least=2)
    few_enough(f"{name}.number", number)
    scale = given.get("scale", "linear")
    choice(f"{name}.scale", scale, SCALES)
    if scale == "log" and min(low, high) <= 0:
        raise InputError(f"{name}: a range with scale log must be above 0, got {min(low, high):g}")
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == "linear":
            values = np.linspace(low, high, number)
        else:
            values = np.logspace(math.log10(low), math.log10(high), number)
    values[[0, -1]] = low, high
    if not np.isfinite(values).all():
        raise InputError(f"{name}: a range from {low:g} to {high:g} is too wide")
    return values.tolist()


def _value(name: str, given: Any) -> Any:
    """Return a value in the unit of its name; text may carry a unit."""
    if name in WORDS:
        if not isinstance(given, str):
            raise InputError(f"{name} must be text, got {shown(given)}")
        return given
    if not isinstance(given, str):
        number = real(name, given, UNITS[name].replace("1", ""))
        return given if abs(number) < EXACT else number
    if UNITS[name] == "s":
        return units.seconds(given)
    if name in ("packet_rate", "bitrate"):
        rate = units.rate(given)
        if rate.name != name:
            raise InputError(f"{name} is in {UNITS[name]}, got {shown(given)}")
        return rate.value
    return units.number(given)

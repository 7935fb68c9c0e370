"""Text files, and tables in TOML, that somebody wrote: whatever they are, one clear line says what is wrong."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from os import PathLike
from typing import Any

from ..errors import InputError, cause

MIB = 2**20

LARGEST, LARGEST_TOML = 16 * MIB, 4 * MIB
"""Bytes of a text file, and of one in TOML; more is no description of anything, and would be read for minutes."""

SEPARATORS = ",", ";", "\t"
"""Of CSV."""


def read_text(file: str | PathLike[str], largest: int = LARGEST) -> str:
    """Return a text, without a byte order mark.

    Parameters
    ----------
    file : path-like
    largest : int
        Bytes that it may have.

    Raises
    ------
    InputError
        For what cannot be read, is larger, or is not UTF-8.
    """
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            data = opened.read(largest + 1)
    except OSError as error:
        raise InputError(f"cannot read {file}: {cause(error)}") from None
    except ValueError:
        raise InputError(f"cannot read {file}: no file has such a name") from None
    if len(data) > largest:
        raise InputError(f"{file} has more than {largest // MIB} MiB: no more is read of a text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not a text file: it is not UTF-8") from None


def read_toml(file: str | PathLike[str]) -> dict[str, Any]:
    """Return the tables of a file in TOML.

    Raises
    ------
    InputError
        For what cannot be read, or is not TOML.
    """
    text = read_text(file, LARGEST_TOML)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{file} is not TOML: its tables or lists are nested too deeply") from None
    except ValueError as error:  # of tomllib, or a number with more digits than Python reads
        raise InputError(f"{file} is not TOML: {error}") from None


def of_percent(number: str) -> float:
    """Return a hundredth of a number as it is written: of 99.9 it is .999, which 99.9 / 100 is not."""
    return float(Decimal(number) / 100)


def separator(header: str) -> str:
    """Return what separates the values of CSV: what its first line has most of."""
    return max(SEPARATORS, key=header.count)


def is_number(text: str) -> bool:
    """Tell whether a text is a number, as `float` takes it."""
    try:
        float(text)
    except ValueError:
        return False
    return True

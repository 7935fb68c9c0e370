"""Tables of sessions as files: CSV and Parquet."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from ..errors import InputError, cause, shown
from ..explore.frames import pandas, parquet
from ..system.text import separator
from ..system.whole_files import written

if TYPE_CHECKING:
    from pandas import DataFrame

FILES = (".csv", ".parquet")


def check_name(file: str | PathLike[str]) -> str:
    """Return how the name of a file ends, or raise `InputError`."""
    suffix = FilePath(file).suffix.lower()
    if suffix not in FILES:
        raise InputError(f"a table of sessions is a file {' or '.join(FILES)}, got {file}")
    if suffix == ".parquet":
        parquet("a Parquet file")
    return suffix


def read(file: str | PathLike[str]) -> DataFrame:
    """Read a table; values of CSV stay text, so that they are written as they were.

    Raises
    ------
    InputError
        For a file that cannot be read, or has no rows.
    """
    pd = pandas("scores")
    suffix = check_name(file)
    try:
        table: DataFrame = _csv(file) if suffix == ".csv" else pd.read_parquet(file)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {file}: {cause(error)}") from None
    except Exception as error:  # a damaged file makes its reader raise anything
        reason = str(error).splitlines() or [type(error).__name__]
        raise InputError(f"cannot read {file}: {reason[0]}") from None
    if not len(table):
        raise InputError(f"{shown(str(file))} has no sessions")
    return table


def _csv(file: str | PathLike[str]) -> DataFrame:
    pd = pandas("scores")
    with FilePath(file).open(encoding="utf-8-sig", errors="replace") as lines:
        sep = separator(lines.readline())
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            table: DataFrame = pd.read_csv(file, dtype=str, keep_default_na=False, index_col=False, sep=sep)
        except pd.errors.ParserWarning:
            raise InputError(f"cannot read {file}: its rows have more values than its header names") from None
    names = pd.read_csv(file, dtype=str, header=None, nrows=1, sep=sep).iloc[0].dropna()
    if names.duplicated().any():
        twice = names[names.duplicated()].iloc[0]
        raise InputError(f"two columns of {file} are called {twice}: rename one")
    if sep == ";":  # as is written where numbers have commas
        table.attrs["decimal"] = ","
    return table


def write(table: DataFrame, file: str | PathLike[str]) -> None:
    """Write a table; the file is whole, or as it was before.

    Raises
    ------
    InputError, WriteError
        Where it cannot be written.
    """
    suffix = check_name(file)
    with written(file) as out:
        if suffix == ".csv":
            table.to_csv(out, index=False)
        else:
            table.to_parquet(out)

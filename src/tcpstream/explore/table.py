"""The table of a sweep: points and answers side by side, with units and provenance."""

from __future__ import annotations

import platform
from os import PathLike
from typing import TYPE_CHECKING, Any

from .columns import FILLED, UNITS
from .frames import pandas
from .store import stored

if TYPE_CHECKING:
    from pandas import DataFrame


def assemble(points: DataFrame, parts: list[DataFrame], about: dict[str, Any]) -> DataFrame:
    """Return the points that have answers, with them, in the order of the points."""
    pd = pandas("a sweep")
    answers: DataFrame = pd.concat(parts).sort_index() if parts else pd.DataFrame(columns=[*FILLED, "error"])
    table: DataFrame = points.loc[answers.index].copy()
    for name in FILLED:
        if name not in table:
            table[name] = answers[name]
        elif table[name].isna().any():
            table[name] = table[name].where(table[name].notna(), answers[name])
    for name in [one for one in answers.columns if one not in FILLED]:
        table[name] = answers[name]
    table.attrs = {
        "axes": list(about["axes"]),
        "units": {name: UNITS[name] for name in table.columns if name in UNITS},
        "provenance": _provenance(about),
    }
    return table


def read(folder: str | PathLike[str]) -> DataFrame:
    """Read what a store holds, of a sweep that is complete or not.

    Parameters
    ----------
    folder : path-like
        The `store` of a sweep.

    Returns
    -------
    pandas.DataFrame
        As `sweep` returns it, with the points that have answers, numbered by their place in the sweep.

    Raises
    ------
    InputError
        For a folder without a sweep.
    """
    return assemble(*stored(folder))


def _provenance(about: dict[str, Any]) -> dict[str, str]:
    import numba
    import numpy

    return {
        "tcpstream": about["version"],
        "model": about["kind"],
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
    }

"""Tables of sessions, in memory whatever they came as: pandas, a file, or a Dask frame."""

from __future__ import annotations

import sys
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import InputError, shown
from ..explore.frames import pandas
from .table_files import read

if TYPE_CHECKING:
    from pandas import DataFrame

Table: TypeAlias = "DataFrame | Any | str | PathLike[str]"
"""A pandas or Dask frame, or a file."""


def in_memory(table: Table, client: Any = None) -> DataFrame:
    """Return a table of sessions in pandas.

    Parameters
    ----------
    table : pandas.DataFrame, dask.dataframe.DataFrame or path-like
    client : distributed.Client, optional
        Computes a Dask frame; by default Dask's own choice.

    Raises
    ------
    InputError
        For anything else, and for a file that cannot be read.
    """
    if isinstance(table, pandas("scores").DataFrame):
        in_pandas: DataFrame = table
        return in_pandas
    if isinstance(table, (str, PathLike)):
        return read(table)
    dask = sys.modules.get("dask.dataframe")  # who has a frame has loaded it
    if dask is None or not isinstance(table, dask.DataFrame):
        raise InputError(f"sessions are a pandas or Dask table, or a file of one, got {shown(table)}")
    computed: DataFrame = table.compute(scheduler=client)
    return computed

"""The table of a grid as labelled arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .columns import POINTS
from .frames import xarray

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset


def to_xarray(table: DataFrame, axes: Sequence[str] | None = None) -> Dataset:
    """Return the table of a sweep over a grid as arrays over its axes.

    Parameters
    ----------
    table : pandas.DataFrame
        From `sweep` or `read`.
    axes : sequence of str, optional
        Columns that tell the points apart; by default those of the grid with several values.

    Returns
    -------
    xarray.Dataset
        Inputs with one value are scalar coordinates. Points that a table does not have are missing values. Each
        variable has its ``units``; ``attrs`` say how it was made.

    Raises
    ------
    InputError
        When no axes are known, or they do not tell the points apart.
    MissingExtraError
        Without xarray.
    """
    xarray("labelled arrays")
    names = list(table.attrs.get("axes", []) if axes is None else axes)
    unknown = [name for name in names if name not in table]
    if unknown:
        raise InputError(f"the table has no column {unknown[0]!r} to be an axis")
    if not names:
        raise InputError("this table is not of a grid: give axes, the columns that tell its points apart")
    if table.duplicated(names).any():
        raise InputError(f"several points have the same {', '.join(names)}: they are no grid over these axes")
    units, provenance = table.attrs.get("units", {}), table.attrs.get("provenance", {})
    constant = [
        name
        for name in table.columns
        if name in POINTS and name not in names and table[name].nunique(dropna=False) == 1
    ]
    data: Dataset = table.drop(columns=constant).set_index(names).to_xarray()
    data = data.assign_coords({name: table[name].iloc[0] for name in constant})
    for name in data.variables:
        if name in units:
            data[name].attrs["units"] = units[str(name)]
    data.attrs = dict(provenance)
    return data

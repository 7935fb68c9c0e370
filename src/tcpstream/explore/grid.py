"""The points of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .columns import POINTS, check_value, few_enough
from .frames import pandas

if TYPE_CHECKING:
    from pandas import DataFrame


def grid(**axes: Any) -> DataFrame:
    """Return all combinations of some values, the last varying fastest.

    Parameters
    ----------
    **axes : value or sequence of values
        By name, those of `tcpstream.Path` and `tcpstream.Video` (not `curve`); ``T_over_mu`` in place of the playback
        rate, or beside it in place of `rtt`; and one question: ``delay``, startup delays tau [s]; ``target``, late
        fractions whose startup delay is wanted; ``no_late``, probabilities of no late packet; or, for what a viewer
        sees, ``start`` or ``start_buffer`` [s], the latter with ``resume_buffer``, ``segment`` and ``client_buffer``.

    Returns
    -------
    pandas.DataFrame
        A row a point, a column a name. ``attrs["axes"]`` are the names with several values.

    Raises
    ------
    InputError
        For a name that points do not have, an axis without values, or more than 1,000,000 points.
    MissingExtraError
        Without pandas.

    Examples
    --------
    >>> from tcpstream.explore import grid
    >>> grid(loss=[0.01, 0.02], rtt=0.1, timeout_ratio=2, packet_rate=25, delay=[1, 2])[["loss", "delay"]]
       loss  delay
    0  0.01      1
    1  0.01      2
    2  0.02      1
    3  0.02      2
    """
    values: dict[str, list[Any]] = {}
    for name, given in axes.items():
        if name not in POINTS:
            raise InputError(f"a grid has no axis {name!r}: {', '.join(POINTS)} are accepted")
        values[name] = _several(name, given)
        if not values[name]:
            raise InputError(f"the axis {name} of a grid has no values")
    if not values:
        raise InputError("a grid needs axes")
    lengths = [len(several) for several in values.values()]
    few_enough(f"a grid of {' x '.join(f'{length:,}' for length in lengths)}", math.prod(lengths))
    pd = pandas("a grid")
    points: DataFrame = pd.MultiIndex.from_product(values.values(), names=values).to_frame(index=False)
    points.attrs["axes"] = [name for name, several in values.items() if len(several) > 1]
    return points


def _several(name: str, given: Any) -> list[Any]:
    """Return the values of an axis, of which one may be given alone."""
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    if isinstance(given, Sized):
        few_enough(f"the axis {name}", len(given))
    values = list(given)
    for value in values:
        check_value(name, value)
    return values

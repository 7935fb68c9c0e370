"""pandas and its kin, which an extra brings."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError


def pandas(feature: str) -> Any:
    """Return the module, or raise `MissingExtraError` naming what needs it."""
    return _module(feature, "pandas", "explore")


def parquet(feature: str) -> Any:
    """Return ``pyarrow.parquet``, or raise `MissingExtraError` naming what needs it."""
    return _module(feature, "pyarrow.parquet", "explore")


def xarray(feature: str) -> Any:
    """Return the module, or raise `MissingExtraError` naming what needs it."""
    return _module(feature, "xarray", "explore")


def distributed(feature: str) -> Any:
    """Return the module, or raise `MissingExtraError` naming what needs it."""
    return _module(feature, "distributed", "dask")


def one_thread(feature: str) -> Any:
    """Return a context in which linear algebra uses one thread, or raise `MissingExtraError` naming what needs it.

    How many threads multiply decides the last digits of a product; and the cores have other work.
    """
    return _module(feature, "threadpoolctl", "explore").threadpool_limits(limits=1)


def _module(feature: str, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(feature, name.partition(".")[0], extra) from None

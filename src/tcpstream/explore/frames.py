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


def _module(feature: str, name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(feature, name.partition(".")[0], extra) from None

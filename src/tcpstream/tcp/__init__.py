"""TCP sources, one per file: a Path becomes a chain in structured form."""

from __future__ import annotations

from collections.abc import Callable

from ..path import Path
from .reno import RenoSource, reno

#: Every TCP variant by name; a new one is a file here and a line in this dict.
SOURCES: dict[str, Callable[[Path], RenoSource]] = {"reno": reno}

__all__ = ["SOURCES", "RenoSource", "reno"]

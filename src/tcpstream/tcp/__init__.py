"""TCP sources, one per file: a Path becomes a chain in structured form. Closed formulas stand beside them."""

from __future__ import annotations

from collections.abc import Callable

from ..path import Path
from .reno import RenoSource, reno

#: Every TCP variant by name; a new one is a file here and a line in this dict.
SOURCES: dict[str, Callable[[Path], RenoSource]] = {"reno": reno}

__all__ = ["SOURCES", "RenoSource", "reno", "throughput"]


def throughput(path: Path) -> float:
    """Return T, the achievable throughput of a backlogged TCP on a path [packets/s], from the chain.

    Parameters
    ----------
    path : Path

    Notes
    -----
    Stationary analysis of Table VI (corrected). `tcpstream.tcp.formulas` has the closed formulas to compare with.
    """
    return reno(path).packets_per_round / path.rtt

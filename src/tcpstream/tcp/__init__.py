"""TCP sources, one per file: a Path becomes a chain in structured form. Closed formulas stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..path import Path
from .reno import ExplicitArrays, RenoSource, reno
from .reno_sack import RenoSackSource, reno_sack

#: Every TCP variant by name; a new one is a file here and a line in this dict.
SOURCES: dict[str, Callable[[Path], RenoSource]] = {"reno": reno, "reno-sack": reno_sack}

__all__ = [
    "SOURCES",
    "ExplicitArrays",
    "RenoSackSource",
    "RenoSource",
    "reno",
    "reno_sack",
    "source_key",
    "source_of",
    "throughput",
]


def source_of(path: Path) -> RenoSource:
    """Return the source that a path names, `Path.tcp`."""
    return SOURCES[path.tcp](path)


def source_key(path: Path) -> Hashable:
    """Return what is equal for paths with the same source: all but the round trip time, in which the source counts."""
    return tuple(value for name, value in path.to_dict().items() if name not in ("rtt_s", "rto_s"))


def throughput(path: Path) -> float:
    """Return T, the achievable throughput of a backlogged TCP on a path [packets/s], from the chain.

    Parameters
    ----------
    path : Path

    Notes
    -----
    Stationary analysis of the chain that `Path.tcp` names: Table VI (corrected), or that of independent losses.
    `tcpstream.tcp.formulas` has the closed formulas to compare with.
    """
    return source_of(path).packets_per_round / path.rtt

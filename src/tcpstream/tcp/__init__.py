"""TCP chains, one per file: a Path becomes a chain in structured form. Closed formulas stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ..path import Path
from ..variants import IN_SECONDS
from .burst import BurstChain
from .chain import Chain, Features, Transitions
from .cubic import cubic
from .growth import Growth
from .independent import IndependentChain
from .reno import reno
from .reno_sack import reno_sack

#: Every TCP variant by name; a new one is a file here and a line in this dict.
SOURCES: dict[str, Callable[[Path], Chain]] = {"reno": reno, "reno-sack": reno_sack, "cubic": cubic}

__all__ = [
    "SOURCES",
    "BurstChain",
    "Chain",
    "Features",
    "Growth",
    "IndependentChain",
    "Transitions",
    "chain_key",
    "chain_of",
    "counts_rounds",
    "cubic",
    "reno",
    "reno_sack",
    "throughput",
]


def chain_of(path: Path) -> Chain:
    """Return the chain that a path names, `Path.tcp`, with slow start where it has an initial window."""
    return SOURCES[path.tcp](path)


def chain_key(path: Path) -> Hashable:
    """Return what is equal for paths with the same chain."""
    rtt = ("rtt_s",) if counts_rounds(path.tcp, path.bottleneck) else ()
    return tuple(value for name, value in path.to_dict().items() if name not in ("rto_s", "rto_assumed", *rtt))


def counts_rounds(tcp: str, bottleneck: float | None) -> bool:
    """Return whether a chain counts in rounds alone: no window grows with time in seconds, no bottleneck has a rate."""
    return tcp not in IN_SECONDS and bottleneck is None


def throughput(path: Path) -> float:
    """Return T, the achievable throughput of a backlogged TCP on a path [packets/s], from the chain.

    Parameters
    ----------
    path : Path

    Notes
    -----
    Stationary analysis of the chain that `Path.tcp` names: Table VI (corrected), or those of independent losses.
    `tcpstream.tcp.formulas` has the closed formulas to compare with.
    """
    return chain_of(path).packets_per_round / path.rtt

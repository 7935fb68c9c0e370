"""TCP chains, one per file: a Path becomes a chain in structured form. Closed formulas stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from importlib import import_module

from ..path import Path
from ..variants import VARIANTS
from .cubic import cubic
from .growth import Growth
from .reno import BurstChain, ExplicitArrays, reno
from .reno_sack import reno_sack
from .sack import IndependentChain

__all__ = [
    "BurstChain",
    "ExplicitArrays",
    "Growth",
    "IndependentChain",
    "chain_key",
    "chain_of",
    "cubic",
    "reno",
    "reno_sack",
    "throughput",
]


def chain_of(path: Path) -> BurstChain:
    """Return the chain that a path names, `Path.tcp`, with slow start where it has an initial window."""
    module, name = VARIANTS[path.tcp].chain.split(":")
    builder: Callable[[Path], BurstChain] = getattr(import_module(module), name)
    return builder(path)


def chain_key(path: Path) -> Hashable:
    """Return what is equal for paths with the same chain.

    All but the round trip time, in which chains count; and that as well where windows grow with time in seconds, or a
    bottleneck has a rate.
    """
    seconds = VARIANTS[path.tcp].clock == "seconds" or path.bottleneck is not None
    other = ("rto_s", "rto_assumed") if seconds else ("rtt_s", "rto_s", "rto_assumed")
    return tuple(value for name, value in path.to_dict().items() if name not in other)


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

"""TCP chains, one per file: a Path becomes a chain. Closed formulas stand beside them."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from ..errors import instance
from ..path import Path
from ..variants import VARIANTS
from .burst import BurstChain
from .chain import Chain, Features, Transitions
from .cubic import cubic
from .growth import Growth
from .independent import IndependentChain
from .reno import reno
from .reno_sack import reno_sack
from .varying import Varying, constant

__all__ = [
    "BurstChain",
    "Chain",
    "Features",
    "Growth",
    "IndependentChain",
    "Transitions",
    "Varying",
    "chain_key",
    "chain_of",
    "constant",
    "cubic",
    "reno",
    "reno_sack",
    "throughput",
]

KEPT = 8
"""Chains that are kept for the next question."""


class _Keyed:
    """A path that equals others with the same chain."""

    def __init__(self, path: Path | Varying) -> None:
        self.path, self.key = path, (VARIANTS[path.tcp].chain, chain_key(path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def chain_of(path: Path | Varying) -> Chain:
    """Return the chain that a path names, `Path.tcp`; paths with the same one share it."""
    return _built(_Keyed(path))


@lru_cache(KEPT)
def _built(keyed: _Keyed) -> Chain:
    if isinstance(keyed.path, Varying):
        from .regimes import varying_chain

        return varying_chain(keyed.path)
    chain: Chain = VARIANTS[keyed.path.tcp].build(keyed.path)
    return chain


def chain_key(path: Path | Varying) -> Hashable:
    """Return what is equal for paths with the same chain."""
    if isinstance(path, Varying):
        return path
    other = {"rto_s", "rto_assumed", "sender"}
    if VARIANTS[path.tcp].counts_rounds(path.bottleneck):
        other.add("rtt_s")
    return tuple(value for name, value in path.to_dict().items() if name not in other)


def throughput(path: Path | Varying) -> float:
    """Return T, the achievable throughput of a backlogged TCP on a path [packets/s], from the chain.

    BBR has no chain, but a formula of its own: `tcpstream.tcp.bbr_throughput.throughput`.

    Parameters
    ----------
    path : Path or Varying

    Notes
    -----
    Stationary analysis of the chain that `Path.tcp` names: Table VI (corrected), or those of independent losses.
    `tcpstream.tcp.formulas` has the closed formulas to compare with.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> round(tcpstream.throughput(path), 1)  # packets/s
    57.2
    """
    closed = None
    if not isinstance(path, Varying):
        instance("path", path, Path)
        closed = VARIANTS[path.tcp].closed_throughput(path)
    return chain_of(path).packets_per_round / path.rtt if closed is None else closed

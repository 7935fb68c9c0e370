"""Which operator makes the loss epochs of a chain: the only place where its features are asked for."""

from __future__ import annotations

from typing import Any

from ..numerics.lattices import Lattice
from ..tcp.burst import BurstChain
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from .burst import Backlog
from .independent import IndependentBacklog
from .operator import EpochOperator


def epochs_of(chain: Chain, lattice: Lattice) -> EpochOperator[Any]:
    """Return the operator of one loss epoch of a chain on a lattice of backlogs."""
    if isinstance(chain, IndependentChain):
        return IndependentBacklog(chain, lattice)
    if isinstance(chain, BurstChain):
        return Backlog(chain, lattice)
    from .written_out import WrittenOutEpochs  # loads SciPy

    return WrittenOutEpochs(chain, lattice)

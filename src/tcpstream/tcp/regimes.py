"""The chain of a path that varies, from those of its regimes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..path import Path
from .cubic import cubic
from .independent import IndependentChain
from .places import Ints, carried
from .reno_sack import reno_sack
from .silences import LEVELS
from .switching import Switching
from .varying import Varying
from .varying_chain import VaryingChain

CHAINS: dict[str, Callable[[Path, float], IndependentChain]] = {
    "reno-sack": lambda path, _least_loss: reno_sack(path),
    "cubic": cubic,
}
"""Chain of a regime, by TCP, whose windows may come from one with the least loss rate of all."""


def varying_chain(path: Varying) -> VaryingChain:
    """Build the chain of a path that varies.

    Raises
    ------
    AccuracyError
        As for the chains of its regimes.
    """
    least = min(one.loss for one in path.regimes)
    made: dict[Path, IndependentChain] = {}
    for one in path.regimes:
        if one not in made:
            made[one] = CHAINS[one.tcp](one, least)
    parts = tuple(made[one] for one in path.regimes)
    switching = Switching.of(np.array(path.mean_stay) / path.rtt, np.array(path.to))
    begins = switching.shares if path.start is None else np.eye(len(parts))[path.start]
    maps = tuple(tuple(_taking_over(old, new) for new in parts) for old in parts)
    return VaryingChain(parts, switching, maps, begins)


def _taking_over(old: IndependentChain, new: IndependentChain) -> Ints:
    """Return the state of a new chain that takes over from each state of an old one: timeouts keep their levels."""
    assert old.graph.places is not None
    assert new.graph.places is not None
    timeouts = new.graph.size + np.arange(2 * LEVELS)
    return np.append(carried(old.graph.places, new.graph.places), timeouts)

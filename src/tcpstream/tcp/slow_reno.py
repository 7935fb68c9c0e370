"""The paper's TCP chain, with slow start where a path has an initial window."""

from __future__ import annotations

import numpy as np

from ..path import Path
from .reno import BurstChain, halves, reno
from .slow_start import SlowStartLinks, with_slow_start


def slow_reno(path: Path) -> BurstChain:
    """Build the Reno chain of a path: `reno`, and slow start before it and after timeouts.

    Parameters
    ----------
    path : Path

    Raises
    ------
    AccuracyError
        For more than a million states.
    """
    chain = reno(path)
    if path.initial_window is None:
        return chain
    thresholds = np.maximum(halves(path), 2)
    begin = (np.arange(path.max_window + 1)[:, np.newaxis] - 1) * path.rounds_per_increase
    around = SlowStartLinks(thresholds[chain.windows], thresholds, begin, np.ones(begin.shape))
    return with_slow_start(chain, path, around)

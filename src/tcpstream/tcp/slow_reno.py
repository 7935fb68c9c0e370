"""The paper's TCP source, with slow start where a path has an initial window."""

from __future__ import annotations

import numpy as np

from ..path import Path
from .reno import RenoSource, halves, reno
from .slow_start import Around, with_slow_start


def slow_reno(path: Path) -> RenoSource:
    """Build the Reno source of a path: `reno`, and slow start before it and after timeouts.

    Parameters
    ----------
    path : Path

    Raises
    ------
    AccuracyError
        For more than a million states.
    """
    source = reno(path)
    if path.initial_window is None:
        return source
    thresholds = np.maximum(halves(path), 2)
    begin = (np.arange(path.max_window + 1)[:, np.newaxis] - 1) * path.rounds_per_increase
    around = Around(thresholds[source.windows], thresholds, begin, np.ones(begin.shape))
    return with_slow_start(source, path, around)

"""The first segments, with which playback starts: when they are there, and which window they leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .segment_downloads import Downloads

Floats = NDArray[np.float64]

RARE = 1e-13
"""Probability of a time and a point that is left out of the join time."""


def points_at_start(found: Downloads, starts: int) -> tuple[list[Floats], Floats]:
    """Return at which points 1, 2, ... segments have arrived, and the mean rounds of all."""
    lasts = np.einsum("tab,t->a", found.chance, 1 + np.arange(len(found.chance)))
    to, at = found.chance.sum(axis=0), np.eye(1, len(lasts), found.first)[0]
    begins, rounds = [], []
    for _ in range(starts):
        rounds.append(float(at @ lasts))
        at = at @ to
        begins.append(at)
    return begins, np.cumsum(rounds)


def join_rounds(found: Downloads, segments: int) -> Floats:
    """Return the chance that so many segments have arrived after 0, 1, 2, ... rounds."""
    P, longest = found.chance.shape[1], len(found.chance)
    at = np.eye(1, P, found.first)
    for _ in range(segments):
        after = np.zeros((len(at) + longest, P))
        for t, row in enumerate(at):
            if row.max() > RARE:
                after[t + 1 : t + 1 + longest] += row @ found.chance
        at = after
    return np.asarray(at.sum(axis=1) / at.sum())

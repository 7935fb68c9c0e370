"""Players that next to nobody sees stall: bounds on what they see, and when playback begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..coarse.resolution import Scale
from ..errors import unremarked
from ..path import Path
from ..playout.deliveries import deliveries
from ..playout.rare_stalls import RareStalls
from ..tcp import Chain, Varying, chain_of
from .joining import Delivered, JoinTimes, joined
from .player_fineness import LEAST_DUE, fineness
from .seen_by_viewers import Seen

NEGLIGIBLE, SMALL = 1e-8, 1e-3
"""P(any stall) that is not told from none; and where it is not known otherwise."""


class RarelyStalled:
    """A path, and a video of so many packets, some due in each round.

    Parameters
    ----------
    chain : Chain
    path : Path or Varying
    due, packets : float
        m, and those of the video.
    counts : int
        Numbers of stalls that are told apart.
    followed : bool
        Whether stalls are known otherwise, by following the player.
    """

    def __init__(
        self, chain: Chain, path: Path | Varying, due: float, packets: float, counts: int, followed: bool
    ) -> None:  # fmt: skip
        self._path, self._due, self._packets, self._counts = path, due, packets, counts
        self._bounds = RareStalls(chain, due, packets, NEGLIGIBLE if followed else SMALL)
        self._rounds = Scale.of(chain).recovered

    def seen(self, begin: float, resume: float) -> Seen | None:
        """Return what viewers see with two buffers [packets]: half of what it is at most; None where some stall."""
        most = self._bounds.at_most(begin, resume)
        if most is None:
            return None
        rtt = self._path.rtt
        half = np.array([*[most.stalled] * self._counts, most.stalls, most.rounds * rtt, most.stalled]) / 2
        length, none = self._packets / self._due * rtt, np.empty((0, 2))
        unstalled = np.array([1.0, 1 - most.stalled / 2])
        return Seen(half, half, np.array([0.0, length]), unstalled, most.stalled / 2, none, none)

    def suits(self, starts: Sequence[float]) -> bool:
        """Return whether next to nobody sees a stall, with any of some start buffers [packets]."""
        return all(map(self._bounds.are_negligible, starts))

    def joined(self, starts: Sequence[float]) -> list[JoinTimes]:
        """Return when playback begins, with some packets held, each of `starts`."""
        path = self._path
        if isinstance(path, Path) and path.bottleneck is None:
            most = math.ceil(max(starts)) + (path.initial_window or 1)  # no window is larger while less has come
            with unremarked():
                path = replace(path, max_window=min(most, path.max_window))
        chain, lines_apart = chain_of(path), path.tcp == "cubic"
        fine = fineness(
            chain, max(self._due, LEAST_DUE), self._packets / self._due, self._rounds, math.inf, 1, None, lines_apart
        )
        one, other = (Delivered(deliveries(chain, on.step, on.ratio, on.further), on) for on in (fine, fine.coarser()))
        return joined(one, other, self._packets, starts, lines_apart)

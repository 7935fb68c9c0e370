"""Players whose client buffer, once it is full, next to nobody sees run empty: as if it had no end, within a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..path import Path
from ..playout.rare_stalls import AtMost, RareStalls
from ..tcp import Chain, Varying
from ..video import Video
from .held_at_most import HeldAtMost
from .joining import JoinTimes
from .player import Player
from .seen_by_viewers import Seen
from .timeline import Timeline
from .two_finenesses import COUNTS, TwoFinenesses
from .waiting_from_buffer import WaitingFromBuffer

Floats = NDArray[np.float64]

NEGLIGIBLE, SMALL, PART = 1e-6, 1e-3, 0.05
"""P(any stall once the buffer is full) up to which it is not told from none; and up to which it is part of the errors,
where it is at most such a part of what is seen in all."""


class OnceFull:
    """A player that holds no more than so much, told by one that holds all, and a bound on what this changes.

    Parameters
    ----------
    free : TwoFinenesses
        The player that holds all.
    most : AtMost
        Of what is seen once the buffer is full; of stalled time [rounds].
    path : Path
    rounds : float
        Of the video.
    followed : TwoFinenesses
        What tells it where the bound matters.
    counted : bool
        Whether stalls are counted.
    """

    def __init__(
        self, free: TwoFinenesses, most: AtMost, path: Path | Varying, rounds: float, followed: TwoFinenesses,
        counted: bool,
    ) -> None:  # fmt: skip
        self._free, self._followed = free, followed
        ratio = min(most.stalled, most.rounds / rounds)
        self._most = np.array([*[most.stalled] * COUNTS, most.stalls, most.rounds * path.rtt, ratio])
        self._told = [0, COUNTS, COUNTS + 1] if counted else [0, COUNTS + 1]
        played = np.arange(int(rounds) + 1)[:, np.newaxis] / rounds
        self._grown = played * np.array([most.stalls, most.rounds]) / 2

    def solve(
        self, starts: Sequence[float], resume: float, lengths: int = 1, at_once: Callable[..., Iterable[Any]] = map
    ) -> list[Seen]:  # fmt: skip
        """Return what viewers see, as `TwoFinenesses.solve`."""
        found = [
            self._seen(one) if self._matters_little(one.answers) else None
            for one in self._free.solve(starts, resume, lengths, at_once)
        ]
        left = [start for start, one in zip(starts, found) if one is None]
        others = iter(self._followed.solve(left, resume, lengths, at_once) if left else [])
        return [one or next(others) for one in found]

    def _matters_little(self, answers: Floats) -> bool:
        """Return whether what comes once the buffer is full does, beside all that is seen."""
        return self._most[0] <= NEGLIGIBLE or bool((self._most <= PART * answers)[self._told].all())

    def _seen(self, free: Seen) -> Seen:
        return replace(
            free, errors=free.errors + self._most, unstalled_error=free.unstalled_error + self._most[0],
            grown=self._grown, grown_apart=self._grown,
        )  # fmt: skip

    def missed(self, starts: Sequence[float], resume: float, column: int) -> tuple[Floats, Floats]:
        """Return an answer for some media held at the start [s], and how far it is off."""
        if self._most[0] > NEGLIGIBLE:
            both = np.array([(one.answers[column], one.errors[column]) for one in self.solve(starts, resume)])
            return both[:, 0], both[:, 1]
        answers, errors = self._free.missed(starts, resume, column)
        return answers, errors + self._most[column]

    def joined(self, starts: Sequence[float]) -> list[JoinTimes]:
        """Return when playback begins, with some media held [s], each of `starts`."""
        return self._free.joined(starts)


def solver_of(
    chain: Chain, path: Path | Varying, video: Video, player: Player, held: HeldAtMost | None
) -> TwoFinenesses | OnceFull:  # fmt: skip
    """Return what solves for a player with buffer thresholds, and a client buffer where that is held at most.

    Raises
    ------
    InputError
        For a video with a playback curve.
    """
    free = (TwoFinenesses if player.resume_buffer > 0 else WaitingFromBuffer)(chain, path, video)
    if held is None:
        return free
    followed = TwoFinenesses(chain, path, video, held)
    if held.restarting is not None or followed.is_quick:
        return followed
    timeline = Timeline.of(path, video)
    due = timeline.packets_due
    lead = held.pauses.resume - 2 * due  # of the silent round after a full buffer, or the last one of a pause
    resume = max(1.0, player.resume_buffer * video.packet_rate)
    most: AtMost | None = None
    if held.pauses.stop >= video.packets:
        most = AtMost(0.0, 0.0, 0.0)  # it is never full
    elif lead > 0:
        most = RareStalls(chain, due, video.packets, SMALL).once_full(lead, resume)
    if most is None:
        return followed
    return OnceFull(free, most, path, timeline.length, followed, player.resume_buffer > 0)

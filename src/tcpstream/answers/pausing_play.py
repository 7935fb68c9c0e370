"""What a viewer sees of a stored video whose player holds no more than so much."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AccuracyError, InputError
from ..path import Path
from ..video import Video
from .buffered_play import BufferedPlay
from .held_at_most import held_at_most
from .pausing_player import PausingPlayer

HOUR = 3600.0
"""[s]"""

SETTLED = 0.01
"""Relative change of the stalls of a round, from one quarter of a video to the next, at which sessions have settled."""


class PausingPlay(BufferedPlay):
    """A stored video as a player shows it that stops reading while it holds enough; made by `play`.

    The join time is from the first round of data on, or from the connection where round trips before it are given.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.PausingPlayer(start_buffer=0.5, resume_buffer=1, client_buffer=3))
    >>> seen
    <PausingPlay: at most 3 s held, read again at 3 s, T/mu = 1.761>
    >>> round(seen.stall_probability, 3)
    0.009
    """

    player: PausingPlayer

    def __init__(self, path: Path, video: Video, player: PausingPlayer) -> None:
        if video.curve is not None:
            raise InputError("a client buffer is followed at a constant rate, got a playback curve")
        super().__init__(path, video, player, held_at_most(path, video, player))

    @property
    def stalls_per_hour(self) -> float:
        """Stalls in an hour of playback, in the long run.

        Raises
        ------
        AccuracyError
            Without a resume buffer; where the video ends before it is known.
        """
        rate, off = self._long_run
        if not np.isfinite(off):
            raise AccuracyError(
                f"stalls per hour are not known from a video of {self.length:g} s: sessions have not settled, or "
                "resume without a buffer; give a longer duration, and a resume buffer"
            )
        return rate

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; `stall_counts` by the most for any number."""
        off = self._long_run[1]
        return super().errors | ({"stalls_per_hour": off} if np.isfinite(off) else {})

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        rate, off = self._long_run
        return super().to_dict() | {"stalls_per_hour": rate if np.isfinite(off) else None}

    def summary(self) -> str:
        """Return a few lines for people."""
        player = self.player
        return f"{super().summary()}\nat most {player.client_buffer:g} s held, read again at {player.refill:g} s"

    def __repr__(self) -> str:
        held = f"at most {self.player.client_buffer:g} s held, read again at {self.player.refill:g} s"
        return f"<PausingPlay: {held}, T/mu = {1 / self.load:.4g}>"

    @property
    def _long_run(self) -> tuple[float, float]:
        """Return stalls per hour and their error, which is infinite where they are not known."""
        stalls, apart = self._found.grown[:, 0], self._found.grown_apart[:, 0]
        quarter = len(stalls) // 4
        if quarter == 0 or not self.counted:
            return 0.0, np.inf
        now, before = ((stalls[end] - stalls[end - quarter]) / quarter for end in (-1, -1 - quarter))
        change = abs(now - before)
        if not (now > 0 and change <= SETTLED * now):
            return float(now), np.inf
        an_hour = HOUR / self.path.rtt
        return float(now) * an_hour, float(change + abs(apart[-1] - apart[-1 - quarter]) / quarter) * an_hour

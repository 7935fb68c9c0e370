"""What a viewer sees of a live stream of variable bit rate whose player waits for each missing packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..path import Path
from ..video import Video
from .drawing import Drawing
from .drifting import Drifting
from .encoded import Encoded, encoded
from .late_frames import LateFrames, late_frames
from .player import Player
from .timeline import Timeline

if TYPE_CHECKING:
    from .drawn_sessions import DrawnSessions


class EncodedPlay(Drifting[Encoded], Drawing):
    """A live stream along a curve as a player shows it that waits for each missing packet; made by `play`.

    Attributes
    ----------
    start : float
        Startup delay tau [s]: the latency at first.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(curve=([0, 1, 4], [0, 10, 40]))
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1), live=True)
    >>> round(seen.stall_probability, 3)
    0.004
    """

    def __init__(self, path: Path, video: Video, player: Player) -> None:
        super().__init__(path, video, player, *encoded(path, Timeline.of(path, video)))

    def late_frames(self) -> LateFrames:
        """Return the fractions of late and of undecodable frames, if the player played on; see `LateFrames`."""
        return late_frames(self.path, self.video, self.start, live=True)

    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        from .draw import draw_live

        return draw_live(self.path, self.video, self.player, size, rng)

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return {"live": True, "on_stall": self.player.on_stall}

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"live stream of {self.length:g} s and variable bit rate, {self.start:g} s behind at first, T/mu = "
                f"{1 / self.load:.4g}",
                f"P(any stall) {self.stall_probability:.4g}",
                f"latency drifts by {self.mean_total_rebuffer:.4g} s on average",
                f"rebuffering ratio {self.rebuffering_ratio:.4g}",
            ]
        )

    def __repr__(self) -> str:
        return f"<EncodedPlay: start {self.start:g} s, T/mu = {1 / self.load:.4g}>"

"""What a viewer sees of a stored video that a server paces."""

from __future__ import annotations

from typing import Any

from ..path import Path
from ..video import Video
from .drifting import Drifting
from .paced import Paced, paced
from .pacing import Pacing
from .player import Player
from .timeline import Timeline


class PacedPlay(Drifting[Paced]):
    """A stored video as a player shows it that waits for each missing packet, from a server that paces; made by `play`.

    Attributes
    ----------
    start : float
        Startup delay tau [s].
    pacing : Pacing

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1), pacing=tcpstream.Pacing(1.25, burst=1))
    >>> round(seen.stall_probability, 3)
    0.226
    """

    def __init__(self, path: Path, video: Video, player: Player, pacing: Pacing) -> None:
        self.pacing = pacing
        fine, coarse = paced(path, Timeline.of(path, video), pacing)
        super().__init__(path, video, player, fine, coarse)

    def _settings(self) -> dict[str, Any]:
        """Return what is asked beside path, video and player."""
        return self.pacing.to_dict()

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"stored video of {self.length:g} s, sent at {self.pacing.pace:g} times its rate after "
                f"{self.pacing.burst:g} s of it, playback starts after {self.join_time:g} s, T/mu = "
                f"{1 / self.load:.4g}",
                f"P(any stall) {self.stall_probability:.4g}",
                f"stalled in total: mean {self.mean_total_rebuffer:.4g} s, 99% of viewers at most "
                f"{self.total_rebuffer_quantile(0.99):.3g} s",
                f"rebuffering ratio {self.rebuffering_ratio:.4g}",
            ]
        )

    def __repr__(self) -> str:
        return f"<PacedPlay: pace {self.pacing.pace:g}, start {self.join_time:g} s, T/mu = {1 / self.load:.4g}>"

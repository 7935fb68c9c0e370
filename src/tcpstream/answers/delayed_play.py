"""What a viewer sees of a stored video: whether, and for how long, it stalls.

A player that waits for the missing packet shifts all later deadlines by each stall. So the total stalled time S of a
video is what the startup delay tau lacks of the delay without which no packet is late:

    P(S > x | tau) = 1 - alpha(tau + x).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, TimeLimitError
from ..numerics.curves import smallest_delay
from ..numerics.tails import Tail
from .answer import probabilities
from .drawing import Drawing
from .player import Player
from .stalled_time import Waiting
from .stored_streaming import StoredStreaming
from .viewing import target

if TYPE_CHECKING:
    from .drawn_sessions import DrawnSessions
    from .late_frames import LateFrames

Floats = NDArray[np.float64]

TOLERANCE = 0.01
"""Of a mean that is bracketed."""

STEP = 0.1
"""First step of a startup delay [s], where a round trip is shorter."""

SEARCHED = 0.02
"""Of a round trip, to which a startup delay is searched."""


class Play(Waiting, Drawing):
    """A stored video as a player shows it that waits for each missing packet; made by `play`.

    Attributes
    ----------
    start : float
        Startup delay tau [s].
    solved : StoredStreaming
        The video as `stored` answers it, for any startup delay.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1))
    >>> seen
    <Play: start 1 s, T/mu = 1.431>
    >>> round(seen.longer_than(1.0), 3)  # stalled for more than a second
    0.051
    """

    def __init__(self, player: Player, solved: StoredStreaming) -> None:
        super().__init__(solved.path, solved.video, player, solved.throughput)
        assert player.start is not None
        self.solved, self.start = solved, player.start
        self._late = Tail(solved.stalled, max(solved.path.rtt, STEP))

    def late_frames(self) -> LateFrames:
        """Return the fractions of late and of undecodable frames, if the player played on; see `LateFrames`."""
        return self.solved.late_frames(self.start)

    def _longer_than(self, seconds: Floats) -> tuple[Floats, Floats]:
        return self._late.at(self.start + seconds)

    def _mean_of(self, weight: Callable[[Floats], Floats]) -> tuple[float, float]:
        return self._late.mean(self.start, weight, TOLERANCE)

    def total_rebuffer_quantile(self, u: float) -> float:
        """Return the least x with P(S <= x) >= u, a quantile of the total stalled time.

        Parameters
        ----------
        u : float
            0 < u < 1.

        Returns
        -------
        float
            x [s], up to a fiftieth of a round trip too long.

        Raises
        ------
        InputError
            For a probability out of range.
        AccuracyError
            As `longer_than`.
        """
        wanted = 1 - float(probabilities("quantile", [u])[0])
        if self.stall_probability <= wanted:
            return 0.0
        start, R = self.start, self.path.rtt
        first = start + max(R, start)
        return smallest_delay(self._stalls, wanted, first, low=start, tolerance=R * SEARCHED) - start

    def required_start(self, *, stall_probability: float | None = None, ratio: float | None = None) -> float:
        """Return the least startup delay [s] that meets a target, with the stated error on top of the answer.

        Parameters
        ----------
        stall_probability : float, optional
            Probability of any stall allowed, between 0 and 1.
        ratio : float, optional
            Rebuffering ratio allowed, between 0 and 1, instead; the delay is a round trip at least where alpha is not
            known below it.

        Raises
        ------
        InputError
            For a target out of range, or not exactly one.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        name, wanted = target(stall_probability, ratio)
        if name == "stall_probability":
            return self.solved.required_delay(no_late=1 - wanted)
        R = self.path.rtt

        def at(start: float) -> float:
            return sum(self._late.mean(start, self._share, TOLERANCE))

        low = 0.0 if self._knows((1 - SEARCHED) * R) else (1 + SEARCHED) * R
        return smallest_delay(at, wanted, max(self.start, 2 * R), low=low, tolerance=R * SEARCHED)

    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        from .draw import draw_rounds

        return draw_rounds(self.path, self.video, self.player, self.setup, size, rng)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(self._told())

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"stored video of {self.video.duration:g} s, playback starts after {self.join_time:g} s, "
                f"T/mu = {1 / self.load:.4g}",
                f"P(any stall) {self.stall_probability:.4g}",
                f"stalled in total: mean {self.mean_total_rebuffer:.4g} s, 99% of viewers at most "
                f"{self.total_rebuffer_quantile(0.99):.3g} s",
                f"rebuffering ratio {self.rebuffering_ratio:.4g}",
            ]
        )

    def __repr__(self) -> str:
        return f"<Play: start {self.join_time:g} s, T/mu = {1 / self.load:.4g}>"

    def _stalls(self, delay: float) -> float:
        """Return P(any stall) at a startup delay."""
        return float(self._late.at(np.array([delay]))[0][0])

    def _knows(self, delay: float) -> bool:
        """Return whether alpha is known at a delay."""
        try:
            self._stalls(delay)
        except TimeLimitError:
            raise
        except AccuracyError:
            return False
        return True

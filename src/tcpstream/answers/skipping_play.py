"""What a viewer sees of a live stream whose player skips what comes too late, in the long run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, InputError
from ..path import Path
from ..system.html_table import Rows
from ..video import Video
from .answer import table
from .live import live
from .long_run_stalls import LongRunStalls
from .player import Player
from .shown import off_by
from .viewing import QUANTILES, Watching

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOUR = 3600.0
"""[s]"""


class SkippingPlay(Watching):
    """A live stream without end as a player shows it that stays at its startup delay; made by `play`.

    It stops at a packet that is due and not there. As soon as what is due then is there, and the resume buffer behind
    it, it shows that, and what came too late is skipped: so much of the time is stalled, too.

    Attributes
    ----------
    start : float
        Startup delay tau [s]: the latency whenever something plays.
    solved : LiveStreaming
        The stream as `live` answers it, for any startup delay.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> player = tcpstream.Player(start=1, on_stall="skip")
    >>> seen = tcpstream.play(path, tcpstream.Video(packet_rate=10), player, live=True)
    >>> round(seen.skipped_fraction, 5)
    0.00117
    """

    player: Player

    def __init__(self, path: Path, video: Video, player: Player, accuracy: str | None = None) -> None:
        self.solved = live(path, video, accuracy=accuracy)
        super().__init__(path, video, player, self.solved.throughput)
        assert player.start is not None
        self.start, resume = player.start, player.resume_buffer
        self._stalls: LongRunStalls | None = None
        if resume > 0:
            if resume < path.rtt * (1 - 1e-9):
                raise InputError(
                    f"the resume buffer of a player that skips must be 0, or at least a round trip time of "
                    f"{path.rtt:g} s, got {resume:g} s"
                )
            if path.tcp == "cubic":
                raise AccuracyError("stalls of a player that skips are not counted over CUBIC: take tcp=reno-sack")
            m, rate = self.solved.timeline.packets_due, video.packet_rate
            self._stalls = LongRunStalls.of(path, m, rate * self.start, rate * (self.start - resume) + m)

    @property
    def skipped_fraction(self) -> float:
        """Fraction of the media that is skipped: that of the time in which playback stands.

        Without a resume buffer it is the late fraction.
        """
        return float(self.solved.late_fraction(self.start)) if self._stalls is None else self._stalls.standing

    @property
    def stalls_per_hour(self) -> float | None:
        """Stalls in an hour that is played, in the long run; None without a resume buffer."""
        if self._stalls is None:
            return None
        return self._stalls.stalls * HOUR / self.path.rtt / (1 - self._stalls.standing)

    @property
    def mean_stall_length(self) -> float | None:
        """Mean length of a stall [s]; None without a resume buffer."""
        return None if self._stalls is None else self._stalls.standing / self._stalls.stalls * self.path.rtt

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties."""
        if self._stalls is None:
            return {"skipped_fraction": min(1.0, self.solved.late_at_worst(self.start) - self.skipped_fraction)}
        one, per_hour, length = self._stalls, self.stalls_per_hour, self.mean_stall_length
        assert per_hour is not None
        assert length is not None
        played = one.standing_off * one.standing / (1 - one.standing)
        return {
            "skipped_fraction": one.standing * one.standing_off,
            "stalls_per_hour": per_hour * (one.stalls_off + played),
            "mean_stall_length": length * (one.stalls_off + one.standing_off),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(
            {
                "join_time_s": dict.fromkeys(("mean", *QUANTILES), self.start),
                "skipped_fraction": self.skipped_fraction,
                "stalls_per_hour": self.stalls_per_hour,
                "stall_length_s": None if self.mean_stall_length is None else {"mean": self.mean_stall_length},
                "rebuffering_ratio": self.skipped_fraction,
                "error_bound": self.errors,
            },
            live=True,
            on_stall=self.player.on_stall,
        )

    def plot(self, *, label: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw what is skipped over the latency; see `tcpstream.plots.skipped`."""
        from .. import plots

        return plots.skipped(self, label=label, ax=ax)

    def to_pandas(self) -> pd.DataFrame:
        """Return the answers as a table of one row, indexed by the startup delay [s].

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        names = "skipped_fraction", "stalls_per_hour", "mean_stall_length"
        return table({"start_s": [self.start]} | {name: [getattr(self, name)] for name in names})

    def _in_words(self) -> Rows:
        units = {"skipped_fraction": "", "stalls_per_hour": "", "mean_stall_length": "s"}
        return [(name, off_by(getattr(self, name), self.errors.get(name), unit)) for name, unit in units.items()]

    def summary(self) -> str:
        """Return a few lines for people."""
        lines = [
            f"live stream, {self.start:g} s behind, T/mu = {1 / self.load:.4g}",
            f"skipped, and stalled: {self.skipped_fraction:.4g}",
        ]
        if self._stalls is not None:
            lines.append(f"stalls: {self.stalls_per_hour:.4g} per hour, of {self.mean_stall_length:.3g} s on average")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SkippingPlay: start {self.start:g} s, T/mu = {1 / self.load:.4g}>"

"""What a viewer sees of a live stream whose player skips what comes too late, in the long run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..path import Path
from ..video import Video
from .answer import table
from .live import live
from .player import Player
from .viewing import QUANTILES, Watching

if TYPE_CHECKING:
    import pandas as pd


class SkippingPlay(Watching):
    """A live stream without end as a player shows it that stays at its startup delay; made by `play`.

    It stops at a packet that is due and not there. As soon as what is due then is there it shows that, and what came
    too late is skipped: so much of the time is stalled, too.

    Attributes
    ----------
    start : float
        Startup delay tau [s]: the latency whenever something plays.
    solved : LiveStreaming
        The stream as `live` answers it, for any startup delay.
    """

    def __init__(self, path: Path, video: Video, player: Player, accuracy: str | None = None) -> None:
        self.solved = live(path, video, accuracy=accuracy)
        super().__init__(path, video, player, self.solved.throughput)
        assert player.start is not None
        self.start = player.start

    @property
    def skipped_fraction(self) -> float:
        """Fraction of the media that is skipped: that of the time in which playback stands, and of late packets."""
        return float(self.solved.late_fraction(self.start))

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties."""
        return {"skipped_fraction": self._error(self.start)}

    def required_start(self, *, skipped_fraction: float) -> float:
        """Return the least startup delay [s] with at most this fraction skipped, between 0 and 1.

        Raises
        ------
        InputError
            For a target out of range.
        AccuracyError
            For a target finer than the accuracy of the solve.
        """
        return self.solved.required_delay(skipped_fraction)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return self._with_header(
            {
                "join_time_s": dict.fromkeys(("mean", *QUANTILES), self.start),
                "skipped_fraction": self.skipped_fraction,
                "stalls_per_hour": None,
                "rebuffering_ratio": self.skipped_fraction,
                "error_bound": self.errors,
            },
            live=True,
            on_stall=self.player.on_stall,
        )

    def to_pandas(self, starts: ArrayLike) -> pd.DataFrame:
        """Return the skipped fraction for some startup delays [s] as a table indexed by them.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        tau = np.ravel(np.asarray(starts, dtype=float))
        return table({"start_s": tau, "skipped_fraction": self.solved.late_fraction(tau)})

    def summary(self) -> str:
        """Return a few lines for people."""
        return "\n".join(
            [
                f"live stream, {self.start:g} s behind, T/mu = {1 / self.load:.4g}",
                f"skipped, and stalled: {self.skipped_fraction:.4g}",
            ]
        )

    def __repr__(self) -> str:
        return f"<SkippingPlay: start {self.start:g} s, T/mu = {1 / self.load:.4g}>"

    def _error(self, start: float) -> float:
        f = float(self.solved.late_fraction(start))
        return min(1.0, float(self.solved.error_bound) + f * float(self.solved.lattice_error(start)))

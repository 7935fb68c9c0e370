"""A video over a scenario, repeated: what the command line and scenario files describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, positive, real, whole
from ..video import Video
from .audience import seen
from .delivery import Delivery
from .player import Player
from .replications import nonnegative, replicate
from .scenario import Scenario
from .simulation import Run
from .sources import Backlogged, Source, Steady, Stored

SECONDS, RUNS, SEED = 1000.0, 10, 1
"""Defaults: length of a live stream [s], repetitions, seed."""

MOST_RUNS, MOST_PLAYED = 100_000, 1e9
"""Repetitions, and packets of the video."""

PATIENCE = 20
"""Lengths of a video after which its viewer gives up, unless another time is given."""

MEASURED = {
    "loss": "loss_rate",
    "loss_event_rate": "loss_event_rate",
    "rtt_s": "rtt",
    "rto_s": "rto",
    "timeout_ratio": "timeout_ratio",
    "throughput_pps": "throughput",
}
"""What is measured of a flow, by its name in JSON: attributes of `Delivery`."""


@dataclass(frozen=True)
class Experiment:
    """A video that the one measured flow of a scenario carries, several times.

    Parameters
    ----------
    make : callable
        From a generator to a scenario.
    start : float
        When the measured flow starts [s].
    video : Video
        Of constant rate; without a duration a live stream.
    delays : tuple of float
        Startup delays tau [s].
    seconds : float, optional
        How long the flow is watched [s]. By default 1000 s for a live stream, and for a stored video until its end
        after the longest delay; with a player 20 times its length, or until all of it was delivered.
    runs, seed : int
    player : Player, optional
        Of a stored video; `make` gives the measured flow a `Stored` source with it.
    """

    make: Callable[[np.random.Generator], Scenario]
    start: float
    video: Video
    delays: tuple[float, ...]
    seconds: float | None = None
    runs: int = RUNS
    seed: int = SEED
    player: Player | None = None

    def __post_init__(self) -> None:
        for tau in self.delays:
            if real("startup delay", tau, "s") < 0:
                raise InputError(f"startup delay must be at least 0 s, got {tau:g} s")
        if self.player is not None and self.live:
            raise InputError("a player is that of a stored video: give its duration, or leave out the player")
        needed = max(self.delays, default=0.0) + (self.video.duration or 0.0)
        if self.seconds is None:
            patience = 0.0 if self.player is None else PATIENCE * (self.video.duration or 0.0)
            object.__setattr__(self, "seconds", SECONDS if self.live else max(needed, patience))
        if positive("simulated time", self.seconds, "s") < needed or (self.live and self.seconds == needed):
            what = "the longest startup delay" if self.live else "the stored video and the longest startup delay"
            raise InputError(f"simulated time must be longer than {what}, {needed:g} s, got {self.seconds:g} s")
        if (packets := self.video.packet_rate * (self.seconds or 0.0)) > MOST_PLAYED:
            raise InputError(
                f"{self.seconds:g} s of this video are {packets:.3g} packets, more than {MOST_PLAYED:.3g}: "
                "simulate a shorter time, or a lower rate"
            )
        if whole("number of runs", self.runs) > MOST_RUNS:
            raise InputError(f"number of runs must be at most {MOST_RUNS:,}, got {self.runs:,}")
        object.__setattr__(self, "runs", whole("number of runs", self.runs))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0))

    @property
    def live(self) -> bool:
        """Whether packets are made while they are played."""
        return self.video.duration is None

    def run(self, done: Callable[[], object] = lambda: None) -> list[Run]:
        """Simulate, and call `done` after each run."""
        return replicate(self.make, self.runs, self.seed, self.start + (self.seconds or 0.0), done)

    def outcome(self, runs: list[Run]) -> dict[str, Any]:
        """Return means over the runs, units in the names, and their 95% intervals under ``intervals``.

        ``late_fraction``, ``no_late_share`` (runs without a late packet), ``stalls`` and ``stalled_s`` (per run) are
        lists with an item a delay. With a player what `audience.seen` says of it.

        Raises
        ------
        InputError
            For a player, if some of the video was not delivered in a run.
        """
        flows = [run.flows[0] for run in runs]
        data: dict[str, Any] = {}
        intervals: dict[str, Any] = {}
        for key, name in MEASURED.items():
            data[key], *intervals[key] = nonnegative([getattr(flow, name) for flow in flows])
        judged = [[self._judged(flow, tau) for flow in flows] for tau in self.delays]
        data["startup_delay_s"] = list(self.delays)
        for position, key in enumerate(("late_fraction", "stalls", "stalled_s")):
            found = [nonnegative([one[position] for one in of_delay]) for of_delay in judged]
            data[key] = [mean for mean, _, _ in found]
            intervals[key] = [[low, high] for _, low, high in found]
        data["no_late_share"] = [float(np.mean([late == 0 for late, _, _ in of_delay])) for of_delay in judged]
        if self.player is not None:
            told = self._seen(flows, self.player)
            intervals |= told.pop("intervals")
            data |= told
        return data | {"intervals": intervals}

    def _seen(self, flows: list[Delivery], player: Player) -> dict[str, Any]:
        """Return what viewers see with a player."""
        mu, duration = self.video.packet_rate, self.video.duration
        assert duration is not None
        sessions = [flow.session(player, mu, duration) for flow in flows]
        return seen(sessions, duration, counted=player.resume_buffer > 0)

    def _judged(self, flow: Delivery, tau: float) -> tuple[float, int, float]:
        """Return late fraction, stalls and stalled seconds of a run."""
        mu, duration = self.video.packet_rate, self.video.duration
        return flow.late_fraction(tau, mu, duration), *flow.stalls(tau, mu, duration)


def source_of(video: Video, player: Player | None = None) -> Source:
    """Return what sends a video: live ones as they are made, stored ones as fast as TCP, and a player, let it."""
    if video.duration is None:
        return Steady(video.packet_rate)
    return Backlogged() if player is None else Stored(video.packet_rate, video.duration, player)

"""What every answer about a viewer has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._version import __version__
from ..errors import InputError
from ..path import Path
from ..system.html_table import Rows, said
from ..tcp import Varying
from ..video import Video
from .answer import SCHEMA, probabilities
from .player import Player
from .segment_player import SegmentPlayer
from .shown import Shown, answered, inputs, off_by

Floats = NDArray[np.float64]

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
"""Of times, in tables and JSON."""


def target(stall_probability: float | None, ratio: float | None) -> tuple[str, float]:
    """Return which of two targets is given, and its value, or raise `InputError`."""
    if stall_probability is not None and ratio is None:
        return "stall_probability", float(probabilities("stall probability", [stall_probability])[0])
    if ratio is not None and stall_probability is None:
        return "ratio", float(probabilities("rebuffering ratio", [ratio])[0])
    raise InputError("give a stall probability or a rebuffering ratio as the target")


class Watching(Shown):
    """What a viewer sees.

    Attributes
    ----------
    path : Path or Varying
    video : Video
    player : Player or SegmentPlayer
    throughput : float
        T [packets/s].
    load : float
        mu / T.
    """

    def __init__(self, path: Path | Varying, video: Video, player: Player | SegmentPlayer, throughput: float) -> None:
        self.path, self.video, self.player, self.throughput = path, video, player, throughput
        self.load = video.packet_rate / throughput

    @property
    def setup(self) -> float:
        """Time before the first round of data, of a player of segments before the first request, that counts [s]."""
        return self.player.rounds_before * self.path.rtt

    @abstractmethod
    def _in_words(self) -> Rows:
        """Return the answers as names and values."""

    def _sections(self) -> Mapping[str, Rows]:
        settings = [(name, said(value)) for name, value in self.player.to_dict().items()]
        rows = [
            ("throughput T", f"{self.throughput:.4g} packets/s"),
            ("T/mu", f"{1 / self.load:.4g}"),
            *self._in_words(),
        ]
        return {"what a viewer sees": rows, "player": settings, **inputs(self.path, self.video)}

    def _with_header(self, answers: dict[str, Any], **parameters: Any) -> dict[str, Any]:
        """Return answers after what they were computed from, ready for JSON."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "play",
            "parameters": self.path.to_dict() | self.video.to_dict() | self.player.to_dict() | parameters,
            "throughput_pps": self.throughput,
            "load": self.load,
        } | answers


class Viewing(Watching, ABC):
    """What a viewer sees of a video, or of a stream, of some length; attributes as for `Watching`."""

    @property
    @abstractmethod
    def stall_probability(self) -> float:
        """Probability that playback stalls at all."""

    @property
    @abstractmethod
    def mean_total_rebuffer(self) -> float:
        """E[S], the mean stalled time of the whole video [s]."""

    @property
    @abstractmethod
    def rebuffering_ratio(self) -> float:
        """E[S / (S + length)], stalled over watched time; the start-up is not counted."""

    @property
    @abstractmethod
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties."""

    @property
    def length(self) -> float:
        """Of the video [s]."""
        assert self.video.duration is not None
        return self.video.duration

    def _in_words(self) -> Rows:
        def told(name: str, unit: str) -> tuple[str, str]:
            return name, answered(lambda: off_by(getattr(self, name), self.errors[name], unit))

        return [told("stall_probability", ""), told("mean_total_rebuffer", "s"), told("rebuffering_ratio", "")]

    def _times(self, seconds: ArrayLike) -> Floats:
        """Return times of playback [s], or raise `InputError` for those out of range."""
        t = np.asarray(seconds, dtype=np.float64)
        wrong = ~((t >= 0) & (t <= self.length * (1 + 1e-12)))
        if wrong.any():
            raise InputError(
                f"times must lie between 0 and the duration of {self.length:g} s, got {t[wrong].ravel()[0]:g} s"
            )
        return t

"""Sessions of viewers, drawn from what TCP delivers to a player, or from the law of its downloads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown, whole
from ..path import Path
from ..playout.drawn_rounds import drawn_rounds, drawn_stream
from ..playout.drawn_segments import Fetching, drawn_segments
from ..playout.segment_downloads import Downloads
from ..playout.watched import Thresholds, watched
from ..tcp import Varying, chain_of, constant
from ..video import Video
from .drawn_sessions import DrawnSessions, media
from .pausing_player import PausingPlayer
from .player import Player
from .segment_player import SegmentPlayer
from .timeline import Timeline

Floats = NDArray[np.float64]


def draw_rounds(
    path: Path | Varying, video: Video, player: Player, clock: float, size: int, rng: np.random.Generator
) -> DrawnSessions:
    """Return sessions of a player to which TCP sends as fast as it can; `clock` is when the first round begins [s].

    Raises
    ------
    InputError
        For a size below 1, or sessions of too many rounds; for a player that pauses.
    """
    if isinstance(player, PausingPlayer):
        raise InputError("sessions are not drawn of a player that holds no more than so much, but of one with segments")
    _generator(rng)
    found = drawn_rounds(chain_of(path), Timeline.of(path, video).packets, whole("size", size), rng)
    return _watched(path, video, player, clock, found)


def draw_live(path: Path | Varying, video: Video, player: Player, size: int, rng: np.random.Generator) -> DrawnSessions:
    """Return sessions of a live stream whose player waits; parameters as `draw_rounds`."""
    _generator(rng)
    path = constant(path, "draw")
    on = Timeline.of(path, video)
    exists = np.append(np.floor(on.due(0.0, int(on.length))), on.packets).astype(np.int64)
    return _watched(path, video, player, 0.0, drawn_stream(chain_of(path), exists, whole("size", size), rng))


def _watched(
    path: Path | Varying, video: Video, player: Player, clock: float, found: NDArray[np.int32]
) -> DrawnSessions:  # fmt: skip
    """Return what players see to whom so many packets are delivered by the ends of rounds."""
    least = 1 / video.packet_rate  # a packet
    begin, resume = (max(least, one or 0.0) for one in (player.start_buffer, player.resume_buffer))
    assert video.duration is not None
    columns = (media(video, row) for row in found)
    joins, stalls = watched(columns, video.duration, path.rtt, Thresholds(player.start, begin, resume))
    return DrawnSessions(path, video, player, joins + clock, *stalls, clock, found)


def draw_segments(
    path: Path | Varying, video: Video, player: SegmentPlayer, found: Downloads, clock: float, size: int,
    rng: np.random.Generator, segments: int,
) -> DrawnSessions:  # fmt: skip
    """Return sessions of a player that fetches segments; parameters as `draw_rounds`."""
    _generator(rng)
    path = constant(path, "draw")
    room = player.client_buffer - player.segment
    how = Fetching(
        segments, player.segment, room, min(player.starts_with, segments), player.resumes_with, path.rtt, path.rto
    )
    drawn = drawn_segments(found, how, whole("size", size), rng)
    took, arrived = drawn.took, drawn.arrived + clock
    return DrawnSessions(path, video, player, drawn.joins + clock, *drawn.stalls, clock, None, took, arrived)


def _generator(rng: object) -> None:
    """Raise `InputError` for what draws no random numbers."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, as numpy.random.default_rng(1), got {shown(rng)}")

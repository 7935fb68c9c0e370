"""A player from the options of ``tcpstream play``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .options import flag

if TYPE_CHECKING:
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer
    from ..video import Video


def read_player(
    video: Video,
    *,
    name: str | None,
    live: bool,
    start: float | None,
    start_buffer: float | None,
    resume_buffer: float | None,
    on_stall: str | None,
    segment: float | None,
    client_buffer: float | None,
    idle: str | None,
    setup_round_trips: int | None,
) -> Player | SegmentPlayer:
    """Return the player that some options describe, or raise `InputError`."""
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer

    if name is not None:
        return _known(
            name, video, live, start, on_stall, segment,
            start_buffer=start_buffer, resume_buffer=resume_buffer, client_buffer=client_buffer, idle=idle,
            setup_round_trips=setup_round_trips,
        )  # fmt: skip
    if live and resume_buffer is not None and on_stall != "skip":
        raise InputError("a live stream whose player waits goes on as soon as it can: leave out --resume-buffer")
    if segment is None:
        _only_with_segments(client_buffer=client_buffer, idle=idle)
        return Player(start, start_buffer, resume_buffer or 0.0, on_stall or "wait", setup_round_trips)
    if start is not None:
        raise InputError("a player that fetches segments starts when it holds some: give --start-buffer, not --start")
    if on_stall is not None:
        raise InputError("--on-stall is for live streams, segments are those of a stored video: leave out one")
    if client_buffer is None and segment >= SegmentPlayer.client_buffer:
        raise InputError(f"segments of {segment:g} s need a larger buffer than the default: give --client-buffer")
    settings = _given(client_buffer=client_buffer, idle=idle, setup_round_trips=setup_round_trips)
    return SegmentPlayer(segment, start_buffer=start_buffer, resume_buffer=resume_buffer, **settings)


def _known(
    name: str, video: Video, live: bool, start: float | None, on_stall: str | None, segment: float | None,
    **settings: Any,
) -> Player | SegmentPlayer:  # fmt: skip
    """Return a player by its name, with settings in place of its own."""
    from ..answers.known_players import known_player

    if live or on_stall is not None:
        raise InputError("--player is for stored videos: leave it out, or --live and --on-stall")
    if start is not None:
        raise InputError(f"--player {name} starts when it holds some media: give --start-buffer, not --start")
    if segment is None:
        _only_with_segments(**{one: settings[one] for one in ("client_buffer", "idle")})
    return known_player(name, video, segment=segment, **_given(**settings))


def _only_with_segments(**settings: Any) -> None:
    for name in _given(**settings):
        raise InputError(f"{flag(name)} is for a player that fetches segments: give --segment as well, as 4s")


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}

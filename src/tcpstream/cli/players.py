"""A player from the options of ``tcpstream play``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .options import flag

if TYPE_CHECKING:
    from ..answers.pacing import Pacing
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer
    from ..video import Video


def read_pacing(pace: float | None, burst: float | None) -> Pacing | None:
    """Return how the server paces that some options describe, if it does, or raise `InputError`."""
    from ..answers.pacing import LARGEST, Pacing

    if pace is None:
        if burst is not None:
            raise InputError("--burst is for a server that paces: give --pace as well, as 1.25")
        return None
    if not 1 <= pace <= LARGEST:
        raise InputError(f"--pace must lie between 1 and {LARGEST:g} times the rate, got {pace:g}")
    return Pacing(pace, burst or 0.0)


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
    refill_at: float | None,
    idle: str | None,
    setup_round_trips: int | None,
    pace: float | None = None,
) -> Player | SegmentPlayer:
    """Return the player that some options describe, or raise `InputError`."""
    from ..answers.pausing_player import PausingPlayer
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer

    others = {"--live": live, "--segment": segment, "--start-buffer": start_buffer, "--player": name}
    if pace is not None and (beside := [option for option, given in others.items() if given]):
        raise InputError(
            "--pace is for a stored video whose player starts after a delay: leave out "
            f"{' and '.join(beside)}, or --pace"
        )
    if segment is not None and refill_at is not None:
        raise InputError("--refill-at is for a player without segments, which are fetched when there is room for one")
    if segment is None and client_buffer is None:
        for option in _given(refill_at=refill_at, idle=idle):
            raise InputError(f"{flag(option)} is for a player that holds so much at most: give --client-buffer as well")
    held = _given(client_buffer=client_buffer, refill_at=refill_at, idle=idle)
    thresholds = _given(start_buffer=start_buffer, resume_buffer=resume_buffer, setup_round_trips=setup_round_trips)
    if name is not None:
        return _known(name, video, live, start, on_stall, segment, **thresholds, **held)
    if live and resume_buffer is not None and on_stall != "skip":
        raise InputError("a live stream whose player waits goes on as soon as it can: leave out --resume-buffer")
    if segment is None:
        settings = _given(start=start, on_stall=on_stall) | thresholds
        return PausingPlayer(**settings, **held) if held else Player(**settings)
    if start is not None:
        raise InputError("a player that fetches segments starts when it holds some: give --start-buffer, not --start")
    if on_stall is not None:
        raise InputError("--on-stall is for live streams, segments are those of a stored video: leave out one")
    if client_buffer is None and segment >= SegmentPlayer.client_buffer:
        raise InputError(f"segments of {segment:g} s need a larger buffer than the default: give --client-buffer")
    return SegmentPlayer(segment, **thresholds, **held)


def _known(
    name: str, video: Video, live: bool, start: float | None, on_stall: str | None, segment: float | None,
    **settings: Any,
) -> Player | SegmentPlayer:  # fmt: skip
    """Return a player by its name, with settings in place of its own."""
    from ..answers.known_players import known_player, known_player_fetches

    if live or on_stall is not None:
        raise InputError("--player is for stored videos: leave it out, or --live and --on-stall")
    if start is not None:
        raise InputError(f"--player {name} starts when it holds some media: give --start-buffer, not --start")
    if segment is None and known_player_fetches(name):
        raise InputError(f"--player {name} fetches segments: give the media in one, --segment, as 4s")
    return known_player(name, video, segment=segment, **settings)


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}

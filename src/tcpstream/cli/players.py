"""A player from the options of ``tcpstream play``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from ..answers.pacing import Pacing
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer


def read_pacing(pace: float | None, burst: float | None) -> Pacing | None:
    """Return how the server paces that some options describe, if it does, or raise `InputError`."""
    from ..answers.pacing import Pacing

    if pace is None:
        if burst is not None:
            raise InputError("--burst is for a server that paces: give --pace as well, as 1.25")
        return None
    return Pacing(pace, burst or 0.0)


def read_player(
    *,
    start: float | None,
    start_buffer: float | None,
    resume_buffer: float | None,
    on_stall: str | None,
    segment: float | None,
    client_buffer: float | None,
    refill_at: float | None,
    idle: str | None,
) -> Player | SegmentPlayer:
    """Return the player that some options describe, or raise `InputError`."""
    from ..answers.pausing_player import PausingPlayer
    from ..answers.player import Player
    from ..answers.segment_player import SegmentPlayer

    if segment is None:
        known: dict[str, Any] = {"on_stall": on_stall, "idle": idle, "refill_at": refill_at}
        if client_buffer is not None:
            known |= {"start": start, "start_buffer": start_buffer, "resume_buffer": resume_buffer}
            return PausingPlayer(
                client_buffer=client_buffer, **{name: value for name, value in known.items() if value is not None}
            )
        for name, given in (("--refill-at", refill_at), ("--idle", idle)):
            if given is not None:
                raise InputError(f"{name} is for a player that holds so much at most: give --client-buffer as well")
        return Player(start, start_buffer, resume_buffer or 0.0, on_stall or "wait")
    if refill_at is not None:
        raise InputError("--refill-at is for a player without segments, which are fetched when there is room for one")
    if start is not None:
        raise InputError("a player that fetches segments starts when it holds some: give --start-buffer, not --start")
    if on_stall is not None:
        raise InputError("--on-stall is for live streams, segments are those of a stored video: leave out one")
    if client_buffer is None and segment >= SegmentPlayer.client_buffer:
        raise InputError(f"segments of {segment:g} s need a larger buffer than the default: give --client-buffer")
    settings: dict[str, Any] = {"client_buffer": client_buffer, "idle": idle}
    settings = {name: value for name, value in settings.items() if value is not None}
    return SegmentPlayer(segment, start_buffer=start_buffer, resume_buffer=resume_buffer, **settings)

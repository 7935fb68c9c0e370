"""What a viewer sees, whatever the player."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError, note, shown
from ..path import Path
from ..tcp import Varying
from ..video import Video
from .answer import check_pair, delay_before
from .delayed_play import Play
from .pacing import Pacing
from .pausing_player import PausingPlayer
from .plan import is_coarse
from .player import Player
from .segment_player import SegmentPlayer
from .stored import stored

if TYPE_CHECKING:
    from .buffered_play import BufferedPlay
    from .encoded_play import EncodedPlay
    from .live_play import LivePlay
    from .paced_play import PacedPlay
    from .pausing_play import PausingPlay
    from .segment_play import SegmentPlay
    from .skipping_play import SkippingPlay

PASSES = 100
"""Startup delays at which alpha is asked for, about."""


def play(
    path: Path | Varying,
    video: Video,
    player: Player | SegmentPlayer | None = None,
    *,
    live: bool = False,
    pacing: Pacing | None = None,
    accuracy: str | None = None,
) -> Play | BufferedPlay | SegmentPlay | PacedPlay | LivePlay | EncodedPlay | SkippingPlay:
    """Solve what a viewer sees: P(any stall), the stalled time, the rebuffering ratio.

    A player that starts after a delay waits for each packet that is missing. One that starts with a buffer resumes with
    a buffer as well; then the number of stalls and the join time have laws, as where segments are fetched one after
    the other. The latency of a live stream whose player waits grows by each stall; one that skips loses what
    comes too late, in the long run.

    Parameters
    ----------
    path : Path or Varying
        One that varies for a stored video whose player starts after a delay or with a start buffer.
    video : Video
        With a duration.
    player : Player or SegmentPlayer, optional
        When it starts, and resumes, and whether it fetches segments; after 2 s by default.
    live : bool
        Whether the video is a live stream, which TCP cannot send before it exists; a stored video otherwise.
    pacing : Pacing, optional
        Of the server of a stored video; by default TCP has all of it from the start.
    accuracy : {"exact", "fine", "fast"}, optional
        As for `stored`. By default exact where a hundred startup delays are forecast to take a second at most. A player
        with buffers or segments, a server that paces, and a live stream that waits have no choice; one that skips has
        that of `live`.

    Returns
    -------
    Play, BufferedPlay, SegmentPlay, PacedPlay, LivePlay, EncodedPlay or SkippingPlay
        For a stored video: a player that starts after a delay, with a buffer (a `PausingPlay`, which is one, where it
        holds no more than so much), with segments, and one of a server that paces. For a live stream: one that waits,
        at a constant rate and along a curve, and one that skips.

    Raises
    ------
    InputError
        Without a duration; for a playback curve with a start buffer, segments, pacing or a player that skips; for an
        accuracy where there is no choice; for a path that segments are not followed on; for pacing beside a start
        buffer, segments or a live stream; for a start buffer or segments of a live stream, and a player that skips in
        a stored video, or in a stream with a duration; for round trips before a live stream.
    NoFiniteDelayError
        For a live stream that TCP does not sustain, whose player skips.
    AccuracyError
        When the solve would need too much time or memory.

    Notes
    -----
    Every stall shifts all later deadlines by its length, so the total stalled time is the largest lateness of any
    packet, and P(S > x | tau) = 1 - alpha(tau + x) with alpha of Wang, Kurose, Shenoy and Towsley, Section 3.3.2.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> seen = tcpstream.play(path, video, tcpstream.Player(start=1))
    >>> round(seen.stall_probability, 3)
    0.224
    >>> round(seen.mean_total_rebuffer, 3)  # seconds
    0.151
    """
    check_pair(path, video)
    _check_player(player)
    player = player or Player()
    if isinstance(path, Varying):
        return _play_varying(path, video, player, live, pacing, accuracy)
    if pacing is not None and (live or isinstance(player, SegmentPlayer) or player.start_buffer is not None):
        raise InputError(
            "a pace is that of a server of a stored video whose player starts after a delay: leave out live, segments "
            "and start_buffer"
        )
    if live:
        if isinstance(player, SegmentPlayer):
            raise InputError("segments are those of a stored video: leave out live, or take a Player")
        return _play_live(path, video, player, accuracy)
    if video.duration is None:
        raise InputError("play needs the duration of a stored video [s]")
    if isinstance(player, SegmentPlayer):
        if accuracy is not None:
            raise InputError(f"a player that fetches segments has one accuracy, got accuracy={accuracy}")
        from .segment_play import SegmentPlay

        return SegmentPlay(path, video, player)
    if player.on_stall == "skip":
        raise InputError("a stored video waits after a stall: a player that skips is one of a live stream")
    if isinstance(player, PausingPlayer):
        return _play_pausing(path, video, player, accuracy)
    if player.start is not None:
        delay_before(player.start, video.duration)
    elif player.start_buffer is not None and player.start_buffer > video.duration:
        note(
            f"a start buffer of {player.start_buffer:g} s is longer than the video of {video.duration:g} s: playback "
            "begins when all of it is there"
        )
    if player.start_buffer is not None:
        return _play_buffered(path, video, player, accuracy)
    if pacing is not None:
        return _play_paced(path, video, player, pacing, accuracy)
    return _play_delayed(path, video, player, accuracy)


def _play_delayed(path: Path | Varying, video: Video, player: Player, accuracy: str | None) -> Play:
    if accuracy is None and is_coarse([(path, video)], None, None, PASSES):
        accuracy = "fine"
    return Play(player, stored(path, video, accuracy=accuracy))


def _play_buffered(path: Path | Varying, video: Video, player: Player, accuracy: str | None) -> BufferedPlay:
    from .buffered_play import BufferedPlay

    if accuracy is not None:
        raise InputError(f"a player with a start buffer has one accuracy, got accuracy={accuracy}")
    return BufferedPlay(path, video, player)


def _check_player(player: object) -> None:
    if player is not None and not isinstance(player, (Player, SegmentPlayer)):
        hint = f": Player(start={player:g}) is one" if isinstance(player, (int, float)) else ""
        raise InputError(f"player must be a Player or a SegmentPlayer, got {shown(player)}{hint}")


def _play_varying(
    path: Varying, video: Video, player: Player | SegmentPlayer, live: bool, pacing: Pacing | None, accuracy: str | None
) -> Play | BufferedPlay:
    """Solve for a path that varies, where that has an answer."""
    others = {
        "a live stream": live,
        "a server that paces": pacing is not None,
        "a player that fetches segments": isinstance(player, SegmentPlayer),
        "a player that skips": isinstance(player, Player) and player.on_stall == "skip",
        "a player that holds no more than so much": isinstance(player, PausingPlayer),
    }
    for asked, given in others.items():
        if given:
            raise InputError(
                f"{asked} takes a Path that stays as it is: on a path that varies play has answers for a stored video "
                "whose player starts after a delay or with a start buffer"
            )
    assert isinstance(player, Player)
    if video.duration is None:
        raise InputError("play needs the duration of a stored video [s]")
    if player.start_buffer is not None:
        return _play_buffered(path, video, player, accuracy)
    return _play_delayed(path, video, player, accuracy)


def _play_paced(path: Path, video: Video, player: Player, pacing: Pacing, accuracy: str | None) -> PacedPlay:
    from .paced_play import PacedPlay

    if video.curve is not None:
        raise InputError("a server that paces takes a constant playback rate, not a playback curve")
    if accuracy is not None:
        raise InputError(f"a video that a server paces has one accuracy, got accuracy={accuracy}")
    return PacedPlay(path, video, player, pacing)


def _play_pausing(path: Path, video: Video, player: PausingPlayer, accuracy: str | None) -> PausingPlay:
    from .pausing_play import PausingPlay

    if accuracy is not None:
        raise InputError(f"a player with a client buffer has one accuracy, got accuracy={accuracy}")
    return PausingPlay(path, video, player)


def _play_live(path: Path, video: Video, player: Player, accuracy: str | None) -> LivePlay | EncodedPlay | SkippingPlay:
    from .encoded_play import EncodedPlay
    from .live_play import LivePlay
    from .skipping_play import SkippingPlay

    if player.setup_round_trips is not None:
        raise InputError("round trips before the request are those of a stored video: leave them out, or live")
    if video.curve is not None and player.on_stall == "skip":
        raise InputError("a live stream whose player skips takes a constant playback rate, not a playback curve")
    if player.start_buffer is not None:
        raise InputError("the player of a live stream starts after a delay: give start, not a start buffer")
    if player.on_stall == "skip":
        if video.duration is not None:
            raise InputError(
                f"what a player skips is told of the long run: leave out the duration, got {video.duration:g} s"
            )
        return SkippingPlay(path, video, player, accuracy)
    if accuracy is not None:
        raise InputError(f"a live stream whose player waits has one accuracy, got accuracy={accuracy}")
    if video.duration is None:
        raise InputError("a live stream whose player waits needs a duration [s]: its latency grows as long as it lasts")
    return LivePlay(path, video, player) if video.curve is None else EncodedPlay(path, video, player)

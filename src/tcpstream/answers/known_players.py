"""Players by their names, with the settings that they come with.

Those that fetch segments ask while they hold less than a goal, and so hold a segment more at most; dash.js asks while
what it holds and the next one are below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, choice
from ..video import Video
from .pausing_player import PausingPlayer
from .player import Player
from .segment_player import SegmentPlayer


@dataclass(frozen=True)
class KnownPlayer:
    """What a player comes with.

    Attributes
    ----------
    source : str
        Where it is said.
    goal : float, optional
        Media up to which it asks for segments [s]; None for one that reads a stream.
    starts, resumes : float
        Media with which it starts, and resumes [s]; 0 for a segment, or a packet.
    long_goal, long : float, optional
        The goal of videos of this length or longer [s].
    bytes, most : float, optional
        Bytes up to which it asks as well, and up to how much media [s].
    inclusive : bool
        Whether the segment that it asks for is within the goal.
    """

    source: str
    goal: float | None
    starts: float = 0.0
    resumes: float = 0.0
    long_goal: float | None = None
    long: float | None = None
    bytes: float | None = None
    most: float | None = None
    inclusive: bool = False

    def client_buffer(self, video: Video, segment: float) -> float:
        """Return the media that it holds at most [s], segments of so many seconds."""
        assert self.goal is not None
        goal = self.goal
        if self.long is not None and self.long_goal is not None and (video.duration or 0.0) >= self.long:
            goal = self.long_goal
        if self.bytes is not None and self.most is not None:
            goal = min(max(goal, 8 * self.bytes / video.bitrate), self.most)
        return goal if self.inclusive and goal > segment else goal + segment


KNOWN = {
    "hls.js": KnownPlayer(
        "hls.js 1.7.1, docs/API.md: maxBufferLength, maxBufferSize, maxMaxBufferLength", 30, bytes=60e6, most=600
    ),
    "shaka": KnownPlayer("Shaka Player 5.2.7 (and 4.13 on), streaming.bufferingGoal, .rebufferingGoal", 10),
    "exoplayer": KnownPlayer("Media3 1.0 to 1.5, and the last of ExoPlayer 2: DefaultLoadControl.java", 50, 2.5, 5),
    "media3": KnownPlayer("Media3 1.6 to 1.11: DefaultLoadControl.java", 50, 1, 2),
    "dash.js": KnownPlayer(
        "dash.js 5.1.1, Settings.js: bufferTimeAtTopQuality, bufferTimeAtTopQualityLongForm", 30, long_goal=60,
        long=600, inclusive=True,
    ),
    "mpv": KnownPlayer("mpv 0.41, options.rst: cache-pause-wait, cache-pause-initial", None, resumes=1),
}  # fmt: skip
"""Players, by what `known_player` calls them."""


def known_player(name: str, video: Video, *, segment: float | None = None, **settings: Any) -> Player | SegmentPlayer:
    """Return a player with the settings that it comes with, for a video at one bit rate.

    Parameters
    ----------
    name : {"hls.js", "shaka", "exoplayer", "media3", "dash.js", "mpv"}
        In any case, and as hlsjs or Shaka Player. exoplayer is the last ExoPlayer 2, and Media3 before 1.6; media3 is
        Media3 from 1.6 on.
    video : Video
        What hls.js and dash.js hold depends on it.
    segment : float, optional
        Media in a segment [s]; for all but mpv, which reads a stream.
    **settings
        Of `SegmentPlayer`, and for mpv of `Player`, or with a client buffer of `PausingPlayer`, in place of those that
        it comes with.

    Returns
    -------
    SegmentPlayer, or for mpv Player or PausingPlayer

    Raises
    ------
    InputError
        For another name; without a segment, or with one for mpv; for a value out of range.

    Examples
    --------
    >>> import tcpstream
    >>> video = tcpstream.Video(bitrate=1e6, duration=60)
    >>> tcpstream.known_player("shaka", video, segment=4).client_buffer  # seconds
    14.0
    """
    name = _spelt(name)
    choice("player", name, tuple(KNOWN))
    known = KNOWN[name]
    if known.goal is None:
        if segment is not None:
            raise InputError(f"{name} reads a stream: leave out the segment of {segment:g} s")
        packet = 1 / video.packet_rate
        made = PausingPlayer if "client_buffer" in settings else Player
        return made(**{"start_buffer": known.starts or packet, "resume_buffer": known.resumes} | settings)
    if segment is None:
        raise InputError(f"{name} fetches segments: give the media in one, segment, as 4 s")
    own = {
        "client_buffer": known.client_buffer(video, segment),
        "start_buffer": known.starts or None,
        "resume_buffer": known.resumes or None,
    }
    return SegmentPlayer(segment, **own | settings)


def known_player_fetches(name: str) -> bool:
    """Return whether a player, by its name, fetches segments; False for a name that is not known."""
    known = KNOWN.get(_spelt(name))
    return known is not None and known.goal is not None


def _spelt(name: str) -> str:
    """Return the name of a player as it is spelt here, as far as it is known."""
    plain = re.sub(r"[\s._-]", "", name).lower() if isinstance(name, str) else name
    spelt = {one.replace(".", ""): one for one in KNOWN} | {"shakaplayer": "shaka"}
    return spelt.get(plain, name)

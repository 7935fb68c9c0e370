"""A layered video under TFRC: made at its rate, sent at TFRC's, filtered in between."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..tfrc import Feed, Segment, Tfrc
from ..traffic import Traffic
from .segment_queue import Held, SegmentQueue
from .valid_layers import layer_figures
from .video_layers import VideoLayers


@dataclass(frozen=True)
class Layered(Tfrc):
    """A sender that drops the highest layers of a video where TFRC sends less than it makes.

    The tag of a packet is the number of its segment.

    Parameters
    ----------
    video : VideoLayers
        The `size` of segments is taken from it.
    room : int
        Of the queue before the sender [segments].
    """

    video: VideoLayers = field(default_factory=VideoLayers)
    room: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.video.size)
        super().__post_init__()
        SegmentQueue(self.room)

    def feed(self) -> Feed:
        """Return the video and its queue, anew."""
        return LayeredFeed(self.video, self.room)

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return those of TFRC, and of a measured flow ``valid_layers`` and ``layer_changes``, as `layer_figures`."""
        return super().figures(traffic, duration) | layer_figures(self.video, traffic)


class LayeredFeed(Feed):
    """A video that begins when it is first pulled, and a queue, which takes all that was made until a segment leaves.

    Parameters
    ----------
    video : VideoLayers
    room : int
        Of the queue [segments].
    """

    def __init__(self, video: VideoLayers, room: int) -> None:
        self._video, self._queue = video, SegmentQueue(room)
        self._number, self._began = 0, math.nan

    def pull(self, now: float) -> Segment | None:
        """Return the oldest segment that is left."""
        if math.isnan(self._began):
            self._began = now
        while self.due(now) <= now:
            self._queue.put(Held(self._number, self._video.layer(self._number)))
            self._number += 1
        held = self._queue.take()
        return None if held is None else Segment(self._video.size, held.number)

    def due(self, now: float) -> float:
        """Return when the next segment is made [s]; never after the last one."""
        del now
        return self._began + self._video.made(self._number) if self._number < self._video.segments else math.inf

"""The server of LC-RTP: streams, and sends again what lists name."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..application import Server
from ..hosts import ServerHost
from ..layers import VideoLayers
from ..layers.layered import LayeredFeed
from ..tfrc import Segment
from ..tfrc.tfrc_sender import TfrcSender
from .copy_of_video import content
from .messages import ALL, Bye, Content, Request


class CollectingFeed(LayeredFeed):
    """A video, and after it segments that are sent again.

    Parameters
    ----------
    video : VideoLayers
    room : int
        Of the queue before the sender [segments].

    Attributes
    ----------
    sent : set of int
        Segments that the stream brought onto the network.
    """

    def __init__(self, video: VideoLayers, room: int) -> None:
        super().__init__(video, room)
        self.sent: set[int] = set()
        self._again: deque[tuple[int, int]] = deque()

    @property
    def over(self) -> bool:
        """Whether the stream has ended."""
        return self._number == self._video.segments and not len(self._queue)

    def pull(self, now: float) -> Segment | None:
        """Return the oldest segment that is left of the stream, or the next one that is sent again."""
        segment = super().pull(now)
        if segment is not None:
            self.sent.add(segment.tag)
            return segment._replace(payload=Content(content(self._video, segment.tag)))
        if not self._again:
            return None
        number, last = self._again.popleft()
        return Segment(self._video.size, number, Content(content(self._video, number), last))

    def ask(self, segments: list[int], *, more: bool, ends: int) -> None:
        """Send segments again: besides those that wait, or in their place; the last one may end a list."""
        if not more:
            self._again.clear()
        self._again.extend((number, ends if number == segments[-1] else 0) for number in segments)


class CollectingServer(Server):
    """Paces a stream and what is sent again by TFRC.

    Parameters
    ----------
    feed : CollectingFeed
    sender : TfrcSender
        Which pulls from it.
    """

    def __init__(self, feed: CollectingFeed, sender: TfrcSender) -> None:
        self._feed, self._sender = feed, sender
        self._ended, self._left = False, False
        self._list, self._parts, self._found = 0, 0, False

    def start(self, host: ServerHost) -> None:
        """Begin the stream."""
        self._sender.start(host)

    def timer(self, host: ServerHost, name: str) -> None:
        """Let the sender act, and say so when the stream is over."""
        if self._left:
            return
        self._sender.timer(host, name)
        if self._feed.over and not self._ended:
            self._ended = True
            host.note("sent", len(self._feed.sent))
            host.tell(Bye())

    def message(self, host: ServerHost, message: Any) -> None:
        """Take feedback, a packet of a list, or BYE; lists that come before the stream is over are ignored."""
        if self._left or isinstance(message, Bye):
            self._left = True
        elif not isinstance(message, Request):
            self._sender.message(host, message)
        elif self._ended and message.number >= self._list:
            self._listed(host, message)

    def _listed(self, host: ServerHost, request: Request) -> None:
        more = request.number == self._list
        if not more:
            self._list, self._parts, self._found = request.number, 0, False
        self._parts += 1
        segments = [one for one in request.segments if request.mode == ALL or one in self._feed.sent]
        self._found = self._found or bool(segments)
        self._feed.ask(segments, more=more, ends=request.number if request.part == request.parts - 1 else 0)
        if self._found:
            self._sender.ready(host)
        elif self._parts == request.parts:
            host.tell(Bye(request.number))

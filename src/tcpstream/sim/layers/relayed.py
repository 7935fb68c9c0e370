"""What a cache sends on of a layered video: all of it at once, or what TFRC lets pass."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InputError, shown
from ..application import Application, Client, Server
from ..hosts import ServerHost
from ..tfrc import Feed, Segment
from ..traffic import Datagram, Traffic
from .layered import Layered
from .segment_queue import Held, SegmentQueue
from .valid_layers import layer_figures
from .video_layers import VideoLayers


@dataclass(frozen=True)
class Forwarded(Application):
    """Sends on what arrives of another flow, when it arrives, as datagrams without congestion control.

    Parameters
    ----------
    of : str
        Name of the flow.
    video : VideoLayers, optional
        What it brings, if that is to be measured.
    """

    of: str
    video: VideoLayers | None = None

    def __post_init__(self) -> None:
        named(self.of)

    def relayed(self) -> str:
        """Return the name of the flow."""
        return self.of

    def server(self) -> Server:
        """Return what sends."""
        return _Forwarder()

    def client(self) -> Client:
        """Return what takes it, and says nothing."""
        return Client()

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return ``valid_layers`` and ``layer_changes`` of a measured flow with a video, as `layer_figures`."""
        del duration
        return layer_figures(self.video, traffic) if self.video else {}


class _Forwarder(Server):
    def came(self, host: ServerHost, datagram: Datagram) -> None:
        host.send(datagram.size, datagram.tag)


@dataclass(frozen=True)
class Relayed(Layered):
    """Sends on what arrives of a layered video under TFRC, from a queue that drops the highest layers.

    Parameters
    ----------
    of : str
        Name of the flow that brings the video.
    """

    of: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        named(self.of)

    def relayed(self) -> str:
        """Return the name of the flow."""
        return self.of

    def feed(self) -> Feed:
        """Return the queue, empty."""
        return RelayFeed(self.video, self.room)


class RelayFeed(Feed):
    """What came of a video and has not been sent on.

    Parameters
    ----------
    video : VideoLayers
    room : int
        [segments].
    """

    def __init__(self, video: VideoLayers, room: int) -> None:
        self._video, self._queue = video, SegmentQueue(room)

    def came(self, datagram: Datagram) -> None:
        """Take a segment."""
        self._queue.put(Held(datagram.tag, self._video.layer(datagram.tag)))

    def pull(self, now: float) -> Segment | None:
        """Return the oldest segment that is left."""
        del now
        held = self._queue.take()
        return None if held is None else Segment(self._video.size, held.number)


def named(of: str) -> None:
    """Raise `InputError` for what is no name of a flow."""
    if not isinstance(of, str) or not of:
        raise InputError(f"of must be the name of the flow that is relayed, got {shown(of)}")

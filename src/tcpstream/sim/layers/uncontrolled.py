"""A layered video as datagrams without congestion control."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..application import Application, Client, Server
from ..hosts import ServerHost
from ..traffic import Traffic
from .valid_layers import layer_figures
from .video_layers import VideoLayers


@dataclass(frozen=True)
class Uncontrolled(Application):
    """Sends each segment of a video when it is made.

    The tag of a packet is the number of its segment.

    Parameters
    ----------
    video : VideoLayers
    """

    video: VideoLayers = field(default_factory=VideoLayers)

    def server(self) -> Server:
        """Return what sends."""
        return _Sender(self.video)

    def client(self) -> Client:
        """Return what takes it, and says nothing."""
        return Client()

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return ``valid_layers`` and ``layer_changes`` of a measured flow, as `layer_figures`."""
        del duration
        return layer_figures(self.video, traffic)


class _Sender(Server):
    def __init__(self, video: VideoLayers) -> None:
        self._video, self._number = video, 0

    def start(self, host: ServerHost) -> None:
        """Begin."""
        self.timer(host, "segment")

    def timer(self, host: ServerHost, name: str) -> None:
        """Send a segment."""
        video = self._video
        host.send(video.size, self._number)
        self._number += 1
        if self._number < video.segments:
            host.wake(name, video.made(self._number) - video.made(self._number - 1))

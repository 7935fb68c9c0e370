"""Live streams as the options say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..answers.live import LiveStreaming
    from ..path import Path
    from ..tcp import Varying
    from ..video import Video


def live_stream(path: Path | Varying, video: Video, accuracy: str | None, *, limited: bool) -> LiveStreaming:
    """Solve a live stream; of an application-limited sender exactly without end, else by its largest window."""
    from ..answers.live import live
    from ..tcp import constant

    if not limited:
        return live(path, video, accuracy=accuracy)
    one = constant(path, "--application-limited")
    if video.duration is not None:
        return live(one.application_limited(video.packet_rate), video, accuracy=accuracy)
    return live(one, video, accuracy=accuracy, growth="limited")

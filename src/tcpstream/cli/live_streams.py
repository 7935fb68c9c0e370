"""Live streams as the options say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..answers.live import LiveStreaming
    from ..path import Path
    from ..video import Video


def live_stream(path: Path, video: Video, accuracy: str | None, *, limited: bool) -> LiveStreaming:
    """Solve a live stream; of an application-limited sender exactly without end, else by its largest window."""
    from ..answers.live import live

    if limited and video.duration is not None:
        return live(path.application_limited(video.packet_rate), video, accuracy=accuracy)
    return live(path, video, accuracy=accuracy, growth="limited" if limited else "unlimited")

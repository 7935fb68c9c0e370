"""Layered video: segments of layers, and a queue that drops the highest ones first."""

from .layered import Layered
from .relayed import Forwarded, Relayed
from .segment_queue import SegmentQueue
from .uncontrolled import Uncontrolled
from .valid_layers import valid_layers, windowed_mean
from .video_layers import VideoLayers

__all__ = [
    "Forwarded",
    "Layered",
    "Relayed",
    "SegmentQueue",
    "Uncontrolled",
    "VideoLayers",
    "valid_layers",
    "windowed_mean",
]

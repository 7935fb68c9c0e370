"""The bytes of a video, and a copy of them with holes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..hosts import HEADERS
from ..layers import VideoLayers


@lru_cache(maxsize=2)
def original(video: VideoLayers) -> bytes:
    """Return what the server has of a video: bytes that have no pattern, always the same ones."""
    return np.random.default_rng(1).bytes(video.segments * _payload(video))


def content(video: VideoLayers, number: int) -> bytes:
    """Return the bytes of a segment."""
    return original(video)[number * _payload(video) : (number + 1) * _payload(video)]


class Copy:
    """What a cache has of a video.

    Parameters
    ----------
    video : VideoLayers
    """

    def __init__(self, video: VideoLayers) -> None:
        self._video, self._payload = video, _payload(video)
        self._bytes = bytearray(video.segments * self._payload)
        self._there = bytearray(video.segments)

    def write(self, number: int, data: bytes) -> None:
        """Store a segment."""
        self._bytes[number * self._payload : (number + 1) * self._payload] = data
        self._there[number] = 1

    @property
    def missing(self) -> list[int]:
        """Numbers of segments that have not come."""
        return [number for number, there in enumerate(self._there) if not there]

    @property
    def same(self) -> bool:
        """Whether all segments that have come are those of the original, bit for bit."""
        return all(
            self._bytes[number * self._payload : (number + 1) * self._payload] == content(self._video, number)
            for number, there in enumerate(self._there)
            if there
        )


def _payload(video: VideoLayers) -> int:
    return video.size - HEADERS

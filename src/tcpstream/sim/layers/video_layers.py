"""A video of layers of equal rates: which segment is when, of which layer, of which frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import InputError, positive, whole
from ..hosts import HEADERS, LARGEST


@dataclass(frozen=True)
class VideoLayers:
    """Segments one after the other at the rate of the video, of layers 1, 2, ..., `count`, 1, 2, ...

    A frame is a segment of each layer.

    Parameters
    ----------
    count : int
        Layers.
    rate : float
        Of a layer [bit/s].
    size : int
        Of a segment [bytes], headers included.
    duration : float
        Of the video [s].

    Notes
    -----
    M. Zink, C. Griwodz, J. Schmitt and R. Steinmetz, "Scalable TCP-friendly video distribution for heterogeneous
    clients", SPIE Multimedia Computing and Networking 2003: the layer dummy format, Section 4.1.2.
    """

    count: int = 4
    rate: float = 256e3
    size: int = 1000
    duration: float = 300.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole("number of layers", self.count))
        positive("rate of a layer", self.rate, "bit/s")
        object.__setattr__(self, "size", whole("size of segments", self.size, HEADERS, most=LARGEST, unit="bytes"))
        positive("duration of the video", self.duration, "s")
        if self.frames < 1:
            raise InputError(
                f"duration of the video must be at least a frame, {self.period:g} s, got {self.duration:g} s"
            )

    @property
    def period(self) -> float:
        """Time between frames [s]."""
        return 8 * self.size / self.rate

    @property
    def frames(self) -> int:
        """Whole frames of the video."""
        return math.floor(self.duration / self.period + 1e-9)

    @property
    def segments(self) -> int:
        """Of all frames."""
        return self.count * self.frames

    def made(self, number: int) -> float:
        """Return when a segment is made, since the video began [s]."""
        return number * self.period / self.count

    def layer(self, number: int) -> int:
        """Return the layer of a segment, 1 to `count`."""
        return number % self.count + 1

"""What a viewer sees of layers that arrive."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError, whole
from ..traffic import Traffic
from .video_layers import VideoLayers


def valid_layers(video: VideoLayers, arrived: ArrayLike, *, hierarchical: bool = True) -> NDArray[np.int64]:
    """Return the layers of each frame that can be shown.

    Parameters
    ----------
    video : VideoLayers
    arrived : (n,) array of int
        Numbers of the segments that arrived, in any order.
    hierarchical : bool
        Whether a layer counts only with all below it.

    Returns
    -------
    (frames,) array
        0 to the number of layers.
    """
    numbers = np.asarray(arrived, dtype=np.int64)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < video.segments:
        raise InputError(f"numbers of segments must be 0 to {video.segments - 1}")
    there = np.zeros(video.segments, dtype=np.int64)
    there[numbers] = 1
    frames = there.reshape(-1, video.count)
    return np.asarray((frames.cumprod(axis=1) if hierarchical else frames).sum(axis=1))


def layer_figures(video: VideoLayers, traffic: Traffic) -> dict[str, float]:
    """Return ``valid_layers``, a mean over frames, and ``layer_changes`` from frame to frame, of a measured flow."""
    if traffic.arrivals is None:
        return {}
    layers = valid_layers(video, traffic.arrivals.tag)
    return {"valid_layers": float(layers.mean()), "layer_changes": float(np.count_nonzero(np.diff(layers)))}


def windowed_mean(layers: ArrayLike, window: int = 101) -> NDArray[np.float64]:
    """Return the mean of each frame and those before it, up to so many in all.

    Parameters
    ----------
    layers : (frames,) array
    window : int
        Frames; by default the frame and the previous 100.
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(layers, dtype=np.float64))])
    ends = np.arange(1, len(sums))
    begins = np.maximum(0, ends - whole("window", window, unit="frames"))
    return np.asarray((sums[ends] - sums[begins]) / (ends - begins))

"""A metric of its own: when a stored video is late for the first time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tcpstream.answers.timeline import Timeline
from tcpstream.path import Path
from tcpstream.tcp import chain_of
from tcpstream.transient.boundary import Boundary
from tcpstream.transient.select import backlogged
from tcpstream.video import Video


def first_late(path: Path, video: Video, delay: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when the first packet of a stored video is late, and how likely that is.

    Parameters
    ----------
    path : Path
    video : Video
        With a duration.
    delay : float
        Startup delay [s].

    Returns
    -------
    times : (rounds,) ndarray
        Ends of the rounds [s since the request].
    probabilities : (rounds,) ndarray
        P(no packet was late before the round, and one is in it); they sum to 1 - alpha.
    """
    timeline = Timeline.of(path, video)
    due = timeline.due(delay, timeline.judged_rounds(delay))
    transient = backlogged(chain_of(path), timeline.packets)
    survivors = [1.0]
    for packets in due:
        transient.step(Boundary(floor=math.ceil(packets)))
        survivors.append(transient.survivors())
    return timeline.ends(len(due)), -np.diff(survivors)

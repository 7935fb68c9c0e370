"""What a viewer sees of a stored video: when playback starts, and each stall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .player import Player, packets

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""A packet is late if it comes more than this after it is played [s]."""


class Session(NamedTuple):
    """What a viewer sees, on the client's clock: packets are there half a round trip after they are sent.

    Attributes
    ----------
    join_time : float
        When playback starts [s from the flow's start].
    stall_start, stall_length : (k,) arrays
        After how much of the video each stall begins, and for how long it lasts [s].
    """

    join_time: float
    stall_start: Floats
    stall_length: Floats

    @property
    def total_rebuffer(self) -> float:
        """S, the stalled time [s]."""
        return float(self.stall_length.sum())


def watched(times: Floats, player: Player, packet_rate: float, duration: float) -> Session:
    """Let a player show a stored video.

    It stops exactly when a packet is due and not there. It starts, and resumes, when it holds so many packets, or all
    that are left.

    Parameters
    ----------
    times : (n,) array
        When each packet is there, in order [s from the flow's start].
    player : Player
    packet_rate : float
        mu [packets/s].
    duration : float
        Of the video [s].

    Returns
    -------
    Session

    Raises
    ------
    InputError
        If some of the video is not there.
    """
    count = packets(duration, packet_rate)
    if len(times) < count:
        raise InputError(
            f"only {len(times)} of {count} packets of the video are there: simulate a longer time, or a lower rate"
        )
    lateness = times[:count] - np.arange(count) / packet_rate
    again = packets(player.resume_buffer, packet_rate)
    if player.start is None:
        joined = float(times[min(packets(player.start_buffer, packet_rate), count) - 1])
    else:
        joined = player.start
    shift, starts, lengths = joined, [], []  # packet k is played at shift + k / mu
    late = np.flatnonzero(lateness > shift + ROUNDING)
    while len(late):
        k = int(late[0])
        resumed = float(times[min(k + again, count) - 1])
        starts.append(k / packet_rate)
        lengths.append(resumed - shift - k / packet_rate)
        shift = resumed - k / packet_rate
        late = late[lateness[late] > shift + ROUNDING]
    return Session(joined, np.array(starts, dtype=np.float64), np.array(lengths, dtype=np.float64))

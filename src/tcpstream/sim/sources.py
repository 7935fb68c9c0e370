"""What gives a sender something to send."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, positive, real, shown
from .application import Application
from .player import Player, packets


@dataclass(frozen=True)
class Backlogged:
    """Always something to send: a file transfer, or stored video."""


@dataclass(frozen=True)
class Steady:
    """A packet every ``1 / packet_rate`` seconds: a live stream over TCP, or, without TCP, constant bit rate traffic.

    Parameters
    ----------
    packet_rate : float
        mu [packets/s].
    duration : float
        How long [s]; without end by default.
    """

    packet_rate: float
    duration: float = math.inf

    def __post_init__(self) -> None:
        positive("packet rate of a source", self.packet_rate, "packets/s")
        if self.duration != math.inf:
            positive("duration of a source", self.duration, "s")


@dataclass(frozen=True)
class Requests:
    """Answers to requests, one connection after the other: a pause, an answer, a pause, ...

    Parameters
    ----------
    think : (n,) array
        Pause before each request [s], >= 0.
    packets : (n,) array
        Length of each answer [packets], >= 1.
    """

    think: NDArray[np.float64]
    packets: NDArray[np.int64]

    def __post_init__(self) -> None:
        think, packets = np.asarray(self.think, dtype=float), np.asarray(self.packets)
        if think.ndim != 1 or think.shape != packets.shape or not len(think):
            raise InputError("requests need as many pauses as lengths of answers, one at least")
        if not np.isfinite(think).all() or (think < 0).any():
            raise InputError("pauses between requests must be at least 0 s")
        if (packets < 1).any() or (packets != packets.astype(np.int64)).any():
            raise InputError("answers must be whole numbers of at least 1 packet")
        object.__setattr__(self, "think", think)
        object.__setattr__(self, "packets", packets.astype(np.int64))


@dataclass(frozen=True)
class Stored:
    """A stored video, all of it there from the start; a player with a client buffer says when the server pauses.

    Parameters
    ----------
    packet_rate : float
        mu [packets/s].
    duration : float
        Of the video [s].
    player : Player, optional
        The client's; by default, and without a client buffer, the server never pauses.
    """

    packet_rate: float
    duration: float
    player: Player | None = None

    def __post_init__(self) -> None:
        positive("packet rate of a source", self.packet_rate, "packets/s")
        positive("duration of a source", self.duration, "s")
        if not isinstance(self.player, Player | None):
            raise InputError(f"the player of a stored video must be a Player, or None, got {shown(self.player)}")

    @property
    def packets(self) -> int:
        """Of the video."""
        return packets(self.duration, self.packet_rate)


Source = Backlogged | Steady | Requests | Stored | Application

MEAN_FILE, FILE_EXPONENT, LARGEST_FILE = 12_000.0, 1.2, 10_000_000.0
"""Sizes of web files [bytes]: Pareto, with this mean if it had no end, and this exponent; none is larger."""

PAUSE_EXPONENT = 1.5
"""Exponent of the Pareto law of pauses."""


def web_requests(rng: np.random.Generator, number: int, think: float, packet_size: int = 1500) -> Requests:
    """Draw web requests: heavy-tailed files and pauses.

    Files are Pareto with exponent 1.2 and a mean of 12 kB (Feldmann et al. 1999), cut at 10 MB; pauses are Pareto with
    exponent 1.5 (Barford and Crovella 1998) and a mean of `think`.

    Parameters
    ----------
    rng : numpy.random.Generator
    number : int
        How many.
    think : float
        Mean pause [s].
    packet_size : int
        [bytes].

    Notes
    -----
    A. Feldmann, A. C. Gilbert, P. Huang and W. Willinger, "Dynamics of IP traffic: a study of the role of variability
    and the impact of control", ACM SIGCOMM 1999. P. Barford and M. Crovella, "Generating representative web workloads
    for network and server performance evaluation", ACM SIGMETRICS 1998.
    """
    positive("mean pause", think, "s")

    def pareto(mean: float, exponent: float) -> NDArray[np.float64]:
        least = mean * (exponent - 1) / exponent
        return np.asarray(least / (1 - rng.random(number)) ** (1 / exponent))

    size = np.minimum(pareto(MEAN_FILE, FILE_EXPONENT), LARGEST_FILE)
    return Requests(pareto(think, PAUSE_EXPONENT), np.ceil(size / packet_size).astype(np.int64))


def real_time(value: float) -> float:
    """Return a start time [s]."""
    number = real("start of a flow", value, "s")
    if number < 0:
        raise InputError(f"start of a flow must be at least 0 s, got {number:g} s")
    return number

"""What a measured flow delivered, and what that is for a video."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, positive
from .player import Player
from .session import ROUNDING, Session, watched

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Delivery:
    """What a measured TCP flow delivered, and what its path was like.

    Attributes
    ----------
    times : (n,) array
        When each packet was delivered in order [s from the flow's start]; nondecreasing.
    duration : float
        How long the flow was watched [s]; a `Stored` video until all of it was there.
    interval : float
        Time between packets of a live source [s], 0 for a backlogged one.
    loss_rate : float
        p as Section 4 measures it: dropped over sent packets.
    loss_event_rate : float
        First losses over packets sent while nothing was missing.
    rtt : float
        R, the mean from sending a packet to its acknowledgement, of packets sent once [s].
    rto : float
        Mean retransmission timer, before back-off [s].
    sent, timeouts, fast_retransmits : int
    """

    times: Floats
    duration: float
    interval: float
    loss_rate: float
    loss_event_rate: float
    rtt: float
    rto: float
    sent: int
    timeouts: int
    fast_retransmits: int

    @property
    def timeout_ratio(self) -> float:
        """T_O = R_TO / R; NaN for a path without delay."""
        return self.rto / self.rtt if self.rtt else math.nan

    @property
    def throughput(self) -> float:
        """T, packets delivered in order per second."""
        return len(self.times) / self.duration

    def late_fraction(
        self, startup_delay: ArrayLike, packet_rate: float | None = None, duration: float | None = None
    ) -> Any:
        """Return the fraction of packets that come after they are played.

        Parameters
        ----------
        startup_delay : array_like
            tau [s].
        packet_rate : float, optional
            mu of a stored video [packets/s]; a live one has its source's.
        duration : float, optional
            Length of a stored video [s]. By default packets are judged that are played while the flow is watched.

        Returns
        -------
        float or ndarray
        """
        lateness = self._lateness(packet_rate) - ROUNDING
        delays = np.asarray(startup_delay, dtype=float)
        found = [float((self._judged(lateness, tau, packet_rate, duration) > tau).mean()) for tau in delays.ravel()]
        return np.reshape(found, delays.shape) if delays.ndim else found[0]

    def late(
        self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None
    ) -> NDArray[np.bool_]:
        """Return whether each packet comes after it is played; parameters as `late_fraction`."""
        return self._judged(self._lateness(packet_rate), startup_delay, packet_rate, duration) > startup_delay

    def no_late(self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None) -> bool:
        """Return whether no packet comes after it is played; parameters as `late_fraction`."""
        return bool(self.late_fraction(startup_delay, packet_rate, duration) == 0.0)

    def stalls(
        self, startup_delay: float, packet_rate: float | None = None, duration: float | None = None
    ) -> tuple[int, float]:
        """Return how often a player stalls that waits for what is missing, and for how long in all [s].

        A stall that lasts when the flow is no longer watched is counted until then; parameters as `late_fraction`.
        """
        interval = self._interval(packet_rate)
        count = None if duration is None else math.ceil(duration / interval - 1e-9)
        late = np.maximum.accumulate(np.maximum(self._lateness(packet_rate)[:count], startup_delay))
        steps = np.diff(late, prepend=startup_delay)
        steps = steps[steps > ROUNDING]
        number, seconds = len(steps), float(steps.sum())
        due = startup_delay + seconds + interval * len(late)
        if (count is None or len(late) < count) and due < self.duration - ROUNDING:
            return number + 1, seconds + self.duration - due
        return number, seconds

    def session(self, player: Player, packet_rate: float, duration: float) -> Session:
        """Return what a viewer sees of a stored video.

        Times are those of the client: half a round trip after packets are sent.

        Parameters
        ----------
        player : Player
            Its client buffer must be that of the flow's source, where it has one.
        packet_rate : float
            mu [packets/s].
        duration : float
            Of the video [s].

        Raises
        ------
        InputError
            If some of the video was not delivered.
        """
        rate = positive("packet rate", packet_rate, "packets/s")
        return watched(self.times, player, rate, positive("duration", duration, "s"))

    def _interval(self, packet_rate: float | None) -> float:
        if packet_rate is not None:
            return 1 / positive("packet rate", packet_rate, "packets/s")
        if self.interval == 0:
            raise InputError("stored media need a packet rate [packets/s]")
        return self.interval

    def _lateness(self, packet_rate: float | None) -> Floats:
        """Startup delay that each packet would need to be in time [s]."""
        return self.times - self._interval(packet_rate) * np.arange(len(self.times))

    def _judged(self, lateness: Floats, tau: float, packet_rate: float | None, duration: float | None) -> Floats:
        """Lateness of the packets that are played while the flow is watched, or of the whole video."""
        end = self.duration - tau if duration is None else duration
        count = max(0, math.ceil(end / self._interval(packet_rate) - 1e-9))
        if count == 0:
            raise InputError(f"no packet is played within {self.duration:g} s after a startup delay of {tau:g} s")
        missing = max(0, count - len(lateness))
        return np.concatenate([lateness[:count], np.full(missing, math.inf)])

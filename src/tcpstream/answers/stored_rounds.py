"""Stored media round by round: what is due, delivered and late, from one transient pass (Section 3.3.2)."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError
from ..path import Path
from ..tcp import Varying
from ..video import Video
from .answer import Streaming, check_length, probabilities
from .answer import startup_delay as checked_delay
from .arrivals import Arrivals, delivered_quantiles
from .several import Several

Floats = NDArray[np.float64]

QUANTUM_ERROR = 0.02
"""Relative error of f and of 1 - alpha on a lattice of several packets, up to those of a mean round; twice what
validation/quantum.py and validation/differential.py find. It grows with larger quanta."""

ROUNDING = 1e-6
"""A load above a whole number by less than this is that number."""

MARGIN, LEAST = 5, 5e-13
"""The error bound is this many times what the pass would lose until all is delivered, and this much more."""


class StoredRounds(Streaming):
    """Late packets of stored media by rounds: ``min(B_i - B_(i-1), (B_i - A_i)+)`` in round i.

    B_i packets are due and A_i delivered by the end of the round.
    """

    kind = "stored"

    def __init__(self, path: Path | Varying, video: Video, horizon: str, arrivals: Arrivals) -> None:
        super().__init__(path, video, horizon)
        self.horizon = horizon
        self._arrivals = arrivals

    @property
    def quantum(self) -> int:
        """Packets per step of the lattice, exact for 1."""
        return self._arrivals.quantum

    @property
    def quantum_error(self) -> float:
        """Relative error of f above 1e-6, and of 1 - alpha, from a lattice of several packets; 0 where it is exact."""
        if self.quantum == 1:
            return 0.0
        return QUANTUM_ERROR * max(1.0, self.quantum / self._arrivals.chain.packets_per_round)

    @overload
    def relative_error(self, startup_delay: float) -> float: ...

    @overload
    def relative_error(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def relative_error(self, startup_delay: ArrayLike) -> Any: ...

    def relative_error(self, startup_delay: ArrayLike) -> Any:
        """Return the relative error of the late fraction at startup delays [s]: 0 for an exact solve."""
        return self._over_delays(startup_delay, self._late_error)

    def late_probability_per_round(self, startup_delay: float) -> Floats:
        """Return P_i, the probability that round i has a late packet, i = 1, 2, ... (Eq. 5).

        Parameters
        ----------
        startup_delay : float
            tau [s], >= 0.

        Returns
        -------
        (rounds,) ndarray
            Until playback ends, or `duration / rtt` rounds with the paper's horizon.
        """
        return self._arrivals.late(np.ceil(self._due(checked_delay(startup_delay))))

    def buffer_quantiles(
        self, startup_delay: float, quantiles: ArrayLike = (0.05, 0.25, 0.5, 0.75, 0.95)
    ) -> tuple[Floats, Floats]:
        """Return quantiles of N_i = A_i - B_i, the packets ahead of playback, over the video (Section 3.3).

        Parameters
        ----------
        startup_delay : float
            tau [s], >= 0.
        quantiles : (n,) array_like
            Probabilities u, 0 < u < 1: the least N with P(N_i <= N) >= u is returned.

        Returns
        -------
        times : (rounds,) ndarray
            Ends of the rounds [s since the request]; as many as `late_probability_per_round` has.
        packets : (n, rounds) ndarray
            [packets], negative where playback is ahead of what has arrived. On a lattice of several packets fine to
            `quantum`, and exact until 64 of these have arrived.

        Raises
        ------
        InputError
            For a delay or a quantile out of range.
        AccuracyError
            For a quantile too near to 0 or 1 for the accuracy of the solve.
        """
        wanted = probabilities("quantile", quantiles)
        due = self.due_by_round(checked_delay(startup_delay))
        delivered = delivered_quantiles(self._arrivals.chain, self.timeline.packets, self.quantum, len(due), wanted)
        return self.timeline.ends(len(due)), np.minimum(delivered, self.video.packets) - due

    @property
    def error_bound(self) -> float:
        """Bound on the error of f, P_i and alpha at any startup delay, from the probability that is unaccounted for.

        Judged from what is lost until playback ends without a delay, and from how much longer than that TCP needs. An
        answer whose own pass has lost more is refused with an `AccuracyError`.
        """
        longer = max(1, math.ceil(self.timeline.packets_due / self._arrivals.chain.packets_per_round - ROUNDING))
        return MARGIN * longer * self._arrivals.unaccounted(self._rounds(0.0)) + LEAST

    def _rounds(self, tau: float) -> int:
        rounds = self.timeline.judged_rounds(tau)
        check_length(rounds, self.video)
        return rounds

    def due_by_round(self, startup_delay: float, *, rounds: int | None = None) -> Floats:
        """Return B_i, the packets due for playback by the end of rounds i = 1, 2, ... [packets].

        Parameters
        ----------
        startup_delay : float
            tau [s], >= 0.
        rounds : int, optional
            How many; by default those that are judged.
        """
        count = self._rounds(startup_delay) if rounds is None else rounds
        return self.timeline.due(startup_delay, count)

    def _due(self, tau: float) -> Floats:
        """Packets due by the end of each round, when the rows for them are accurate."""
        due = self.due_by_round(tau)
        self._accept(self._arrivals.unaccounted(len(due)), tau)
        return due

    def _accept(self, unaccounted: float, tau: float) -> None:
        """Raise `AccuracyError` when a pass has lost more probability than the error bound."""
        if unaccounted > self.error_bound:
            raise AccuracyError(
                f"startup delay {tau:g} s: {unaccounted:.1e} of the probability was lost, more than the error bound of "
                f"{self.error_bound:.1e}"
            )

    def _late_at(self, tau: float) -> float:
        due = self._due(tau)
        late = self._arrivals.missing(np.concatenate([[0.0], due[:-1]]), due)
        return max(float(late.sum() / self.timeline.judged), 0.0)

    def _late_error(self, tau: float) -> float:  # noqa: ARG002
        """Return the relative error of f at one valid startup delay [s]."""
        return self.quantum_error

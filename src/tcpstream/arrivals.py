"""The law of the packets delivered by each round, from one transient pass: all that stored media needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .errors import AccuracyError
from .tcp.decay import safe_lead
from .tcp.reno import RenoSource
from .transient import Transient

Floats = NDArray[np.float64]

ROW_NEGLIGIBLE = 1e-18
"""Probability left out at the low end of each row."""

RISK = 1e-17
"""Probability that what is followed no longer is late after all."""

MEMORY_LIMIT = 4 * 2**30
"""Bytes that the rows may take."""


@dataclass
class Arrivals:
    """For each round i the function y -> E[(y - A_i)+], kept as its values at whole y.

    Late packets of a round are a difference of it, and P(A_i < b) its slope: every startup delay, playback rate and
    round trip time is served by the same rows. Rows are made when first asked for.

    Parameters
    ----------
    source : RenoSource
        What sends.
    packets : int
        Packets of the video: what is delivered beyond is never late.
    packets_due : float, optional
        m, the most packets ever due per round, for a long video: what leads by so much that it is never late again
        but with a probability of 1e-17 is followed no longer. Must be less than the throughput.
    """

    source: RenoSource
    packets: int
    packets_due: float | None = None
    transient: Transient = field(init=False)
    _rows: list[Floats] = field(default_factory=list, init=False)
    _origins: list[int] = field(default_factory=list, init=False)
    _flat: tuple[Floats, NDArray[np.int64], NDArray[np.int64]] | None = field(default=None, init=False)
    _bytes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.transient = Transient(self.source, self.packets)
        self._lead = math.inf
        if self.packets_due is not None:
            self._lead = safe_lead(self.source, self.packets_due, RISK)

    def safe(self, round_number: int) -> float:
        """Return the position above which nothing is late any more after a round."""
        return math.inf if self.packets_due is None else self.packets_due * round_number + self._lead

    @property
    def error_bound(self) -> float:
        """Probability that is unaccounted for: dropped at the ends of windows and rows, and rounding."""
        risk = 0.0 if self.packets_due is None else RISK
        return self.transient.neglected + self.transient.residual + ROW_NEGLIGIBLE * len(self._rows) + risk

    def extend(self, due: Floats) -> None:
        """Make the rows of rounds 1 .. len(due), up to position ``due[i - 1]`` in round i (largest ever asked for)."""
        while len(self._rows) < len(due) and not self.transient.exhausted:
            self.transient.step(self.packets, safe=self.safe(len(self._rows) + 1))
            law = self.transient.law()
            below = np.cumsum(law.mass)
            first = int(np.searchsorted(below > ROW_NEGLIGIBLE, True))
            top = int(np.ceil(due[len(self._rows)])) - law.origin
            row = np.concatenate([[0.0], np.cumsum(below[first : max(first + 1, top)])])
            self._origins.append(law.origin + first)
            self._rows.append(row)
            self._bytes += row.nbytes
            self._flat = None
            if self._bytes > MEMORY_LIMIT:
                raise AccuracyError(
                    f"the law of the arrivals takes more than {MEMORY_LIMIT / 2**30:.0f} GiB "
                    f"after {len(self._rows)} of {len(due)} rounds: shorten the video or lower the largest window"
                )

    def shortfall(self, due: Floats) -> Floats:
        """Return E[(y - A_i)+] for y = ``due[..., i - 1]`` in rounds i = 1, 2, ... (last axis)."""
        if self._flat is None:
            lengths = np.array([len(row) for row in self._rows])
            self._flat = np.concatenate(self._rows), np.array(self._origins), np.cumsum(lengths) - lengths
        flat, origins, starts = self._flat
        n = min(due.shape[-1], len(origins))
        result = np.zeros(due.shape)
        last = np.diff(np.append(starts, len(flat)))[:n] - 1
        y = np.maximum(due[..., :n] - origins[:n], 0.0)
        k = np.minimum(y.astype(np.int64), last - 1)
        low = flat[starts[:n] + k]
        result[..., :n] = low + (flat[starts[:n] + k + 1] - low) * (y - k)
        return result

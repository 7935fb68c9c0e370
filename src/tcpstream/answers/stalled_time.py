"""What a viewer sees of a player that starts after a delay and waits for what is missing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, real
from .answer import table
from .player import Player
from .several import Several
from .viewing import QUANTILES, Viewing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class Waiting(Viewing):
    """What a viewer sees of a player that waits for each missing packet.

    Attributes
    ----------
    start : float
        Startup delay tau [s].
    """

    player: Player
    start: float

    @abstractmethod
    def _longer_than(self, seconds: Floats) -> tuple[Floats, Floats]:
        """Return P(S > x) for some x >= 0 [s], and by how much each may be off."""

    @abstractmethod
    def _mean_of(self, weight: Callable[[Floats], Floats]) -> tuple[float, float]:
        """Return the mean of an increasing function of S [s] that is 0 at 0, and by how much it may be off."""

    @property
    def join_time(self) -> float:
        """When playback starts [s]: the startup delay, after the time before the first round of data."""
        return self.start + self.setup

    @cached_property
    def stall_probability(self) -> float:
        """Probability that playback stalls at all."""
        return float(self.longer_than(0.0))

    @overload
    def longer_than(self, seconds: float) -> float: ...

    @overload
    def longer_than(self, seconds: Several) -> NDArray[np.float64]: ...

    @overload
    def longer_than(self, seconds: ArrayLike) -> Any: ...

    def longer_than(self, seconds: ArrayLike) -> Any:
        """Return P(S > x), the probability that playback stalls for longer in total.

        Of a live stream it is the probability that its latency drifts by more than x.

        Parameters
        ----------
        seconds : array_like
            x [s], >= 0.

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`.

        Raises
        ------
        InputError
            For a negative time.
        AccuracyError
            Of a stored video, where alpha is not known, see `StoredStreaming.no_late_probability`.
        """
        x = np.array([real("time", one, "s") for one in np.ravel(np.asarray(seconds, dtype=object))])
        if (x < 0).any():
            raise InputError(f"time must not be negative, got {x.min():g} s")
        found = self._longer_than(x)[0]
        return float(found[0]) if np.ndim(seconds) == 0 else found.reshape(np.shape(seconds))

    def longer_than_error(self, seconds: float) -> float:
        """Return by how much P(S > x) may be off, for one x >= 0 [s]."""
        return float(self._longer_than(np.array([float(seconds)]))[1][0])

    @abstractmethod
    def total_rebuffer_quantile(self, u: float) -> float:
        """Return the least x with P(S <= x) >= u, a quantile of the total stalled time [s]."""

    @property
    def mean_total_rebuffer(self) -> float:
        """E[S], the mean stalled time of the whole video [s]; of a live stream the mean drift of its latency."""
        return self._mean[0]

    @property
    def rebuffering_ratio(self) -> float:
        """E[S / (S + length)], stalled over watched time; the start-up is not counted."""
        return self._ratio[0]

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; times [s]."""
        return {
            "stall_probability": self.longer_than_error(0.0),
            "mean_total_rebuffer": self._mean[1],
            "rebuffering_ratio": self._ratio[1],
        }

    def plot(self, *, label: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the law of the total stalled time; see `tcpstream.plots.total_rebuffer`."""
        from .. import plots

        return plots.total_rebuffer(self, label=label, ax=ax)

    def to_pandas(self, seconds: ArrayLike | None = None) -> pd.DataFrame:
        """Return P(S > x) for some times x [s] as a table indexed by them.

        Without any: for six from 0 to that which 99% of viewers do not exceed.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        if seconds is None:
            seconds = np.unique(np.linspace(0.0, self.total_rebuffer_quantile(0.99), 6))
        x = np.ravel(np.asarray(seconds, dtype=float))
        return table({"total_rebuffer_s": x, "probability_longer": self.longer_than(x)})

    def _told(self) -> dict[str, Any]:
        """Return the answers of all such players, ready for JSON."""
        quantiles = {name: self.total_rebuffer_quantile(u) for name, u in QUANTILES.items()}
        return {
            "join_time_s": dict.fromkeys(("mean", *QUANTILES), self.join_time),
            "stall_probability": self.stall_probability,
            "total_rebuffer_s": {"mean": self.mean_total_rebuffer} | quantiles,
            "rebuffer_count": None,
            "rebuffering_ratio": self.rebuffering_ratio,
            "error_bound": self.errors,
        }

    @cached_property
    def _mean(self) -> tuple[float, float]:
        return self._mean_of(lambda x: x)

    @cached_property
    def _ratio(self) -> tuple[float, float]:
        return self._mean_of(self._share)

    def _share(self, x: Floats) -> Floats:
        return np.asarray(x / (x + self.length))

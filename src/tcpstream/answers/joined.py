"""What a viewer sees of a player that starts when it holds some media: join time and number of stalls."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..playout.segment_sessions import STALLS
from .answer import probabilities, table
from .several import Several
from .viewing import QUANTILES, Viewing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class Joined(Viewing):
    """What a viewer sees of a player that starts, and resumes, when it holds some media."""

    _answers: Floats
    """P(N > 0), P(N = k) for k = 1 .. 3, E[N], E[S] [s], the rebuffering ratio, and what else a player has."""

    _errors: Floats
    """By how much each may be off."""

    @property
    @abstractmethod
    def counted(self) -> bool:
        """Whether the law of the number of stalls is known."""

    @property
    @abstractmethod
    def mean_stalls(self) -> float | None:
        """E[N], the mean number of stalls; None where they are not counted."""

    @property
    @abstractmethod
    def _joined(self) -> Floats:
        """Chance that playback begins after 0, 1, 2, ... rounds."""

    @overload
    @abstractmethod
    def no_stall_until(self, seconds: float) -> float: ...

    @overload
    @abstractmethod
    def no_stall_until(self, seconds: Several) -> NDArray[np.float64]: ...

    @overload
    @abstractmethod
    def no_stall_until(self, seconds: ArrayLike) -> Any: ...

    @abstractmethod
    def no_stall_until(self, seconds: ArrayLike) -> Any:
        """Return P(no stall in so many seconds of playback)."""

    @property
    def mean_join_time(self) -> float:
        """Mean time until playback starts [s]."""
        return mean_rounds(self._joined) * self.path.rtt + self.setup

    def join_time_quantile(self, u: float) -> float:
        """Return the least t with P(join time <= t) >= u [s]: whole round trips.

        Raises
        ------
        InputError
            For a probability out of range.
        """
        return rounds_within(self._joined, u) * self.path.rtt + self.setup

    @overload
    def join_time_cdf(self, seconds: float) -> float: ...

    @overload
    def join_time_cdf(self, seconds: Several) -> NDArray[np.float64]: ...

    @overload
    def join_time_cdf(self, seconds: ArrayLike) -> Any: ...

    def join_time_cdf(self, seconds: ArrayLike) -> Any:
        """Return P(join time <= t).

        Parameters
        ----------
        seconds : array_like
            t [s].

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`.
        """
        t = np.asarray(seconds, dtype=float)
        cdf = np.append(0.0, np.minimum(_cumulated(self._joined), 1.0))
        rounds = np.floor((t - self.setup) / self.path.rtt * (1 + 1e-12) + 1e-12)
        found = cdf[np.clip(rounds + 1, 0, len(cdf) - 1).astype(np.int64)]
        found = np.where(np.isposinf(t), 1.0, found)
        return float(found) if t.ndim == 0 else found

    @property
    def stall_probability(self) -> float:
        """Probability that playback stalls at all."""
        return min(max(0.0, float(self._answers[0])), 1.0)  # rounding

    @property
    def stall_counts(self) -> Floats | None:
        """P(N = k) of the number of stalls, k = 0 .. 3, and of 4 or more; None where it is not known."""
        if not self.counted:
            return None
        pmf = np.clip(self._answers[:STALLS], 0.0, 1.0)
        pmf[0] = 1 - pmf[0]
        return np.append(pmf, max(0.0, 1 - pmf.sum()))

    @property
    def mean_total_rebuffer(self) -> float:
        """E[S], the mean stalled time of the whole video [s]."""
        return float(self._answers[STALLS + 1])

    @property
    def mean_stall_length(self) -> float | None:
        """E[S] / E[N], the mean length of a stall [s]; None without a resume buffer, or where all may be error."""
        stalls = self.mean_stalls
        if not stalls or stalls <= self.errors["mean_stalls"]:
            return None
        return self.mean_total_rebuffer / stalls

    @property
    def rebuffering_ratio(self) -> float:
        """E[S / (S + length)], stalled over watched time; the start-up is not counted."""
        return float(self._answers[STALLS + 2])

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; `stall_counts` by the most for any number."""
        off = self._errors
        found = {
            "stall_probability": float(off[0]),
            "mean_total_rebuffer": float(off[STALLS + 1]),
            "rebuffering_ratio": float(off[STALLS + 2]),
        }
        if self.mean_stalls is not None:
            found["mean_stalls"] = float(off[STALLS])
        if self.counted:
            found["stall_counts"] = float(off[:STALLS].max())
        return found

    def plot(self, *, label: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw P(join time <= t); see `tcpstream.plots.join_time`."""
        from .. import plots

        return plots.join_time(self, label=label, ax=ax)

    def to_pandas(self, seconds: ArrayLike | None = None) -> pd.DataFrame:
        """Return P(no stall in so many seconds of playback) as a table indexed by them [s].

        Without any: for six from 0 to the length of the video.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        t = np.linspace(0.0, self.length, 6) if seconds is None else np.ravel(np.asarray(seconds, dtype=float))
        return table({"playback_s": t, "no_stall": self.no_stall_until(t)})

    def _told(self) -> dict[str, Any]:
        """Return the answers of all such players, ready for JSON."""
        pmf, mean, length = self.stall_counts, self.mean_stalls, self.mean_stall_length
        times = {name: self.join_time_quantile(u) for name, u in QUANTILES.items()}
        return {
            "join_time_s": {"mean": self.mean_join_time} | times,
            "stall_probability": self.stall_probability,
            "total_rebuffer_s": {"mean": self.mean_total_rebuffer},
            "rebuffer_count": None if mean is None else {"mean": mean, "pmf": None if pmf is None else pmf.tolist()},
            "stall_length_s": None if length is None else {"mean": length},
            "rebuffering_ratio": self.rebuffering_ratio,
            "error_bound": self.errors,
        }


def mean_rounds(chance: Floats) -> float:
    """Return the mean of a law of 0, 1, 2, ... rounds."""
    return float(chance @ np.arange(len(chance)))


def rounds_within(chance: Floats, u: float) -> int:
    """Return the fewest rounds that a law of 0, 1, 2, ... rounds does not exceed with probability `u`.

    Raises
    ------
    InputError
        For a probability out of range.
    """
    wanted = float(probabilities("quantile", [u])[0])
    return int(np.searchsorted(_cumulated(chance), wanted - 1e-12))


def _cumulated(chance: Floats) -> Floats:
    """Return P(at most 0, 1, 2, ... rounds): a law that was interpolated may be a little less than 0 somewhere."""
    return np.maximum.accumulate(np.cumsum(chance))

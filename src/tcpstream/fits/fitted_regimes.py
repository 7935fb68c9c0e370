"""FittedRegimes: a path that varies, as a throughput trace shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..answers.answer import SCHEMA
from ..answers.shown import Shown
from ..errors import whole
from ..system.html_table import Rows
from ..system.whole_files import written
from ..tcp import Varying
from ..tcp.regime_file import regimes_text
from .fitted_series import FittedSeries, Floats
from .switching_regression import STARTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR = 1.959964
"""Standard errors from the estimate to the ends of a 95% interval."""

DRAWN = 100
"""Series that `FittedRegimes.plot` draws."""


@dataclass(frozen=True)
class Candidate:
    """A number of regimes that was tried.

    Attributes
    ----------
    regimes : int
    log_likelihood, bic : float or None
        Logarithm of the likelihood of the series, and the Bayesian information criterion, the less the better; None
        without a fit.
    agreeing : int
        Starts of the search, of `STARTS`, that led there; all of one regime, which needs no search.
    reason : str
        Why there is no such fit; empty where there is one.
    """

    regimes: int
    log_likelihood: float | None
    bic: float | None
    agreeing: int
    reason: str = ""


@dataclass(frozen=True)
class FittedRegime:
    """A regime that was found.

    Attributes
    ----------
    name : str
    throughput, throughput_error : float, float or None
        Mean throughput in it [bit/s], and its standard error; None where the likelihood gives none.
    spread : float
        Standard deviation of the logarithm of the throughput of an interval in it.
    mean_stay, stay_error : float, float or None
        Mean stay [s], and its standard error.
    share : float
        Share of time in the long run, 0 to 1.
    """

    name: str
    throughput: float
    throughput_error: float | None
    spread: float
    mean_stay: float
    stay_error: float | None
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class FittedRegimes(Shown):
    """Regimes fitted to a throughput trace (`fit_regimes`).

    Attributes
    ----------
    varying : Varying
        The path that varies, for `stored`, `live` and `play`.
    regimes : tuple of FittedRegime
        The slowest first.
    candidates : tuple of Candidate
        What was tried, by number of regimes.
    series : FittedSeries
        The throughput of each interval, and the law of the fit.
    stays : float
        Mean stays that the trace is long, of all regimes together.
    between : float
        Share of the variance of the throughput of an interval that is one between regimes, 0 to 1; the rest is within
        regimes, and the path does not have it.
    rounding : float
        Largest difference of a probability of a change within an interval, as the stays of the path have it, from the
        fitted one.
    warnings : tuple of str
        What limits the use of the fit.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.fit_regimes("examples/mobile.csv", rtt=0.05, sender="linux", tcp="reno-sack", regimes=2)
    >>> [regime.name for regime in found.regimes]
    ['slow', 'fast']
    """

    varying: Varying
    regimes: tuple[FittedRegime, ...]
    candidates: tuple[Candidate, ...]
    series: FittedSeries
    stays: float
    between: float
    rounding: float
    warnings: tuple[str, ...]
    _tables: dict[str, Any] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """What the numbers may be off by, in words."""
        known = "standard errors follow from the curvature of the likelihood"
        if len(self.regimes) == 1:
            return known
        chosen = next(one for one in self.candidates if one.regimes == len(self.regimes))
        return (
            f"{known}; {chosen.agreeing} of {STARTS} starts led to this maximum of the likelihood; the path's changes "
            f"in an interval are those of the fit within {max(self.rounding, 1e-15):.1g}"
        )

    def summary(self) -> str:
        """Return the fit as text of several lines."""
        lines = [
            f"{_many(len(self.regimes))} of {self.series.source}: {len(self.series.throughput)} intervals of "
            f"{self.series.interval:g} s"
        ]
        for one in self.regimes:
            lines.append(
                f"{one.name}: {_off(one.throughput / 1e6, one.throughput_error, 1e6)} Mbit/s, stays "
                f"{_off(one.mean_stay, one.stay_error)} s, {100 * one.share:.3g}% of the time"
            )
        for tried in self.candidates:
            text = tried.reason or f"log likelihood {tried.log_likelihood:.6g}, BIC {tried.bic:.6g}"
            lines.append(f"{_many(tried.regimes)}: {text}")
        lines.append(f"{100 * self.between:.3g}% of the variance is between regimes")
        return "\n".join([*lines, self.error, *(f"warning: {text}" for text in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the series as plain numbers, strings, lists and dicts, units in the names."""
        series = self.series
        return {
            "schema": SCHEMA,
            "version": __version__,
            "parameters": self.varying.to_dict(),
            "trace": {
                "file": series.source,
                "intervals": len(series.throughput),
                "interval_s": series.interval,
                "mean_throughput_bps": float(series.throughput.mean()),
            },
            "fitted_regimes": [
                {
                    "name": one.name,
                    "throughput_bps": one.throughput,
                    "throughput_standard_error_bps": one.throughput_error,
                    "log_standard_deviation": one.spread,
                    "mean_stay_s": one.mean_stay,
                    "mean_stay_standard_error_s": one.stay_error,
                    "share_of_time": one.share,
                }
                for one in self.regimes
            ],
            "candidates": [
                {
                    "regimes": one.regimes,
                    "log_likelihood": one.log_likelihood,
                    "bic": one.bic,
                    "agreeing_starts": one.agreeing,
                    "reason": one.reason,
                }
                for one in self.candidates
            ],
            "transitions_per_interval": series.transitions.tolist(),
            "mean_stays_in_trace": self.stays,
            "variance_between_regimes": self.between,
            "rounding_error": self.rounding,
            "error": self.error,
            "warnings": list(self.warnings),
        }

    def save(self, file: str | PathLike[str]) -> None:
        """Write the path as TOML, which `Varying.from_toml` and ``--regimes FILE`` read.

        Parameters
        ----------
        file : path-like

        Raises
        ------
        InputError, WriteError
            Where it cannot be written.
        """
        with written(file) as out:
            out.write(regimes_text(f"Fitted to {self.series.source}.", **self._tables).encode())

    def ends(self) -> tuple[Varying, Varying]:
        """Return the best and the worst path that the errors of the mean stays allow; their means are known far better.

        In the worst, regimes slower than the mean throughput last longer and the others shorter, on the scale of
        logarithms by 1.96 standard errors over the square root of the number of regimes: where each has the same
        influence, all of them together then are 1.96 standard errors of what they do. A stay whose standard error is
        not known has the one of as many exponential times as there are in the trace.

        Returns
        -------
        (Varying, Varying)
        """
        path, mean = self.varying, sum(one.share * one.throughput for one in self.regimes)
        seconds = len(self.series.throughput) * self.series.interval
        found = []
        for sign in (-1, 1):
            stays = []
            for one in self.regimes:
                visits = max(one.share * seconds / one.mean_stay, 1.0)
                error = one.stay_error / one.mean_stay if one.stay_error is not None else visits**-0.5
                slower = 1 if one.throughput < mean else -1
                stays.append(one.mean_stay * math.exp(sign * slower * FAR * error / math.sqrt(len(self.regimes))))
            found.append(path.with_stays(stays))
        return found[0], found[1]

    def draw(self, intervals: int, rng: np.random.Generator) -> Floats:
        """Return a series drawn from the fit: the throughput of so many intervals [bit/s].

        Parameters
        ----------
        intervals : int
            1 or more.
        rng : numpy.random.Generator
        """
        return np.asarray(self.series.draw(whole("intervals", intervals), 1, rng)[0])

    def plot(self, *, seed: int = 1, axes: Any = None) -> list[Axes]:
        """Draw the trace and a series of the fit, and distribution and autocorrelation of both.

        Of a hundred series as long as the trace, drawn from the fit, 90% lie in the bands.

        Parameters
        ----------
        seed : int
            Of these series.
        axes : sequence of 4 Axes, optional
            Where to draw; new ones by default.

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from .. import plots

        rng = np.random.default_rng(whole("seed", seed, 0))
        drawn = self.series.draw(len(self.series.throughput), DRAWN, rng)
        levels = self.series.levels([one.throughput for one in self.regimes])
        return plots.trace_and_fit(self.series.interval, self.series.throughput, drawn, levels, axes=axes)

    def __repr__(self) -> str:
        return self.summary()

    def _sections(self) -> dict[str, Rows]:
        regimes = [
            (one.name, f"{one.throughput / 1e6:.4g} Mbit/s, stays {_off(one.mean_stay, one.stay_error)} s")
            for one in self.regimes
        ]
        return {self.series.source: regimes, "path": self.varying._rows()}


def _off(value: float, error: float | None, unit: float = 1.0) -> str:
    """Return a value and its standard error."""
    return f"{value:.4g} (standard error {'not known' if error is None else f'{error / unit:.2g}'})"


def _many(regimes: int) -> str:
    return "1 regime" if regimes == 1 else f"{regimes} regimes"

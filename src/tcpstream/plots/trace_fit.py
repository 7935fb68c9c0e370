"""A throughput trace beside series drawn from its fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, MissingExtraError
from .style import BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = ("trace", "drawn", "distribution", "autocorrelation")

LAGS, SHARE = 60, 4
"""Intervals up to which the autocorrelation is drawn, and at most this part of the series."""

BAND = (0.05, 0.95)
"""Quantiles of the drawn series between which there is a band."""


def trace_and_fit(
    interval: float, throughput: ArrayLike, drawn: ArrayLike, levels: ArrayLike, *, axes: Any = None
) -> list[Axes]:
    """Draw a trace and a series from its fit, and distribution and autocorrelation of the trace beside all series.

    Parameters
    ----------
    interval : float
        Length of an interval [s].
    throughput : (n,) array_like
        Of the trace [bit/s].
    drawn : (m, n) array_like
        Of series drawn from the fit [bit/s]: the first one is shown, all make bands from 5 to 95% of them.
    levels : (n,) array_like
        Mean throughput of the likeliest regime of each interval of the trace [bit/s].
    axes : sequence of 4 Axes, optional
        Where to draw; new ones by default.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    found = _axes(axes)
    trace, fits = np.asarray(throughput, dtype=float), np.atleast_2d(np.asarray(drawn, dtype=float))
    times = interval * np.arange(1, len(trace) + 1)
    found[0].plot(times, trace / 1e6, color=BLUE, linewidth=0.8, label="trace")
    found[0].plot(times, np.asarray(levels) / 1e6, color="black", linewidth=1.2, drawstyle="steps-mid", label="regimes")
    found[1].plot(times, fits[0] / 1e6, color=ORANGE, linewidth=0.8, label="drawn from the fit")
    most = 1.05 * max(trace.max(), fits[0].max()) / 1e6
    for one in found[:2]:
        one.set_ylabel("Mbit/s")
        one.set_xlim(0, times[-1])
        one.set_ylim(0, most)
    found[1].set_xlabel("time (s)")

    low, high = np.quantile(np.sort(fits, axis=1), BAND, axis=0) / 1e6
    shares = np.arange(1, len(trace) + 1) / len(trace)
    found[2].fill_betweenx(shares, low, high, color=ORANGE, alpha=0.35, linewidth=0, label="fit, 5% to 95%")
    found[2].plot(np.sort(trace) / 1e6, shares, color=BLUE, label="trace")
    found[2].set_xlabel("throughput (Mbit/s)")
    found[2].set_ylabel("share of intervals below")
    found[2].set_ylim(0, 1)

    lags = interval * np.arange(min(LAGS, len(trace) // SHARE) + 1)
    low, high = np.quantile([autocorrelation(one, len(lags) - 1) for one in fits], BAND, axis=0)
    found[3].fill_between(lags, low, high, color=ORANGE, alpha=0.35, linewidth=0, label="fit, 5% to 95%")
    found[3].plot(lags, autocorrelation(trace, len(lags) - 1), color=BLUE, label="trace")
    found[3].set_xlabel("lag (s)")
    found[3].set_ylabel("autocorrelation")
    found[3].set_xlim(0, lags[-1])
    for one in found:
        one.grid(alpha=0.3)
        one.legend(framealpha=1)
    return found


def autocorrelation(values: ArrayLike, most: int) -> np.ndarray:
    """Return the autocorrelation of a series for lags of 0 to `most` intervals; 0 from 1 on where nothing varies."""
    x = np.asarray(values, dtype=float)
    x = x - x.mean()
    total = float(x @ x)
    if total <= 0:
        return np.asarray(np.eye(1, most + 1)[0])
    return np.array([float(x[: len(x) - lag] @ x[lag:]) / total for lag in range(most + 1)])


def _axes(axes: Any) -> list[Axes]:
    if axes is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingExtraError("a plot", "matplotlib", "plot") from None
        rows = [[PANELS[0], *PANELS[2:]], [PANELS[1], *PANELS[2:]]]
        made = pyplot.subplot_mosaic(rows, figsize=(12, 4), layout="constrained", width_ratios=(2, 1, 1))[1]  # type: ignore[arg-type]
        return [made[name] for name in PANELS]
    found = list(np.ravel(axes))
    if len(found) != len(PANELS):
        raise InputError(f"a trace and its fit are drawn into {len(PANELS)} axes, got {len(found)}")
    return found

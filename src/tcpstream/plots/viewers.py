"""What viewers see: how long playback stalls, when it starts, what the player holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .answers import HasLateFraction
from .style import BLUE, MARKERS, axes_of, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RARE, POINTS = 0.9999, 120
"""Quantile up to which the law of stalls is drawn, and points of it."""

OFTEN = 0.999
"""Quantile up to which that of the join time is drawn."""

BANDS = (5, 50, 95)
"""Percent of the sessions that hold less than each line of `held`."""


class HasTotalRebuffer(Protocol):
    """What `total_rebuffer` draws."""

    @property
    def join_time(self) -> float:
        """When playback starts [s]."""

    def longer_than(self, seconds: ArrayLike) -> np.ndarray:
        """Return P(S > x) for times [s]."""

    def total_rebuffer_quantile(self, u: float) -> float:
        """Return a quantile of S [s]."""


class HasJoinTime(Protocol):
    """What `join_time` draws."""

    def join_time_cdf(self, seconds: ArrayLike) -> np.ndarray:
        """Return P(join time <= t) for times [s]."""

    def join_time_quantile(self, u: float) -> float:
        """Return a quantile of the join time [s]."""


class HasBuffers(Protocol):
    """What `held` draws."""

    def __len__(self) -> int:
        """Return how many sessions there are."""

    @property
    def join_time(self) -> np.ndarray:
        """When playback of each starts [s]."""

    @property
    def length(self) -> float:
        """Of the video [s]."""

    @property
    def total_rebuffer(self) -> np.ndarray:
        """Stalled time of each session [s]."""

    def buffer(self, seconds: ArrayLike) -> np.ndarray:
        """Return the media that each session holds at some times, (n, m) [s]."""


class Skips(Protocol):
    """What `skipped` draws."""

    @property
    def start(self) -> float:
        """How far what plays is behind [s]."""

    @property
    def skipped_fraction(self) -> float:
        """What is skipped by this player."""

    @property
    def solved(self) -> HasLateFraction:
        """The late fraction, which is skipped without a resume buffer."""


def skipped(result: Skips, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the fraction of a live stream that is skipped, logarithmic, over the latency; this player has a marker.

    The curve is that of players without a resume buffer, which skip the least.

    Parameters
    ----------
    result : SkippingPlay
    label : str, optional
        Of the marker.
    ax : Axes, optional
        Where to draw, beside the markers and curves that are there; new ones by default.
    """
    axes = axes_of(ax)
    style, k = line(len(axes.lines)), len(axes.lines) // 2
    tau = np.linspace(0, max(1.5 * result.start, 1.2 * result.solved.required_delay()), POINTS)
    f = np.asarray(result.solved.late_fraction(tau))
    axes.semilogy(tau, np.where(f > 0, f, np.nan), **style, label="without a resume buffer")
    marker = {"color": style["color"], "marker": MARKERS[k % len(MARKERS)], "linestyle": "none"}
    axes.semilogy([result.start], [result.skipped_fraction], **marker, label=label or f"{result.start:g} s behind")
    axes.set_xlabel("latency (s)")
    axes.set_ylabel("fraction that is skipped")
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes


def total_rebuffer(result: HasTotalRebuffer, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw P(S > x), the probability that playback stalls for longer in total, logarithmic; at 0, that it stalls.

    Parameters
    ----------
    result : Play or LivePlay
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw, beside the curves that are there; new ones by default.
    """
    axes = axes_of(ax)
    x = np.linspace(0, max(1.2 * result.total_rebuffer_quantile(RARE), 1.0), POINTS)
    p = np.asarray(result.longer_than(x))
    text = label or f"playback starts after {result.join_time:g} s"
    axes.semilogy(x, np.where(p > 0, p, np.nan), **line(len(axes.lines)), label=text)
    axes.set_xlabel("stalled time x (s)")
    axes.set_ylabel("probability of stalling longer in total")
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes


def join_time(result: HasJoinTime, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw P(join time <= t), the probability that playback has started by then.

    Parameters
    ----------
    result : BufferedPlay or SegmentPlay
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw, beside the curves that are there; new ones by default.
    """
    axes = axes_of(ax)
    t = np.linspace(0, 1.1 * result.join_time_quantile(OFTEN), 20 * POINTS)
    axes.plot(t, result.join_time_cdf(t), **line(len(axes.lines)), label=label)
    axes.set_xlabel("time since the request (s)")
    axes.set_ylabel("probability that playback has started")
    axes.set_xlim(0, max(float(np.max(one.get_xdata())) for one in axes.lines))
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)
    if label is not None:
        axes.legend()
    return axes


def held(result: HasBuffers, *, until: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the media that players hold over time [s]: the median of sessions, and the band of 5 to 95% of them.

    Parameters
    ----------
    result : DrawnSessions
    until : float, optional
        Until when [s]; by default until half of the sessions are over.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = axes_of(ax)
    end = float(np.median(result.join_time + result.total_rebuffer)) + result.length if until is None else until
    t = np.linspace(0, end, 4 * POINTS)
    low, median, high = np.percentile(result.buffer(t), BANDS, axis=0)
    axes.fill_between(t, low, high, color=BLUE, alpha=0.25, linewidth=0, label="5% to 95%")
    axes.plot(t, median, color=BLUE, label=f"median of {len(result):,} sessions")
    axes.set_xlabel("time since the request (s)")
    axes.set_ylabel("media held (s)")
    axes.set_xlim(0, end)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes

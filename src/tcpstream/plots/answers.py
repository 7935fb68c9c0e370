"""What one solve says: late fraction, late packets over the video, packets ahead of playback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .style import BLUE, COLORS, ORANGE, axes_of, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of `buffer`: the median in two bands."""

POINTS = 2400
"""Of a law that is drawn."""


class HasLateFraction(Protocol):
    """What `late_fraction` draws."""

    kind: str

    def late_fraction(self, startup_delay: ArrayLike) -> np.ndarray:
        """Return f for delays [s]."""

    def required_delay(self, target: float | None = None) -> float:
        """Return the delay [s] for a late fraction."""


class HasBuffer(Protocol):
    """What `buffer` draws."""

    def buffer_quantiles(self, startup_delay: float, quantiles: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of rounds [s], and quantiles of the packets ahead of playback."""


class HasTransferTime(Protocol):
    """What `transfer_time` draws."""

    packets: int

    def cdf(self, seconds: ArrayLike) -> np.ndarray:
        """Return P(T <= t) for times [s]."""

    def quantile(self, u: float) -> float:
        """Return a quantile of T [s]."""


def late_fraction(
    result: HasLateFraction,
    *,
    delays: ArrayLike | None = None,
    target: float = 1e-4,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the late fraction over the startup delay, logarithmic, with the delay that meets a target.

    Parameters
    ----------
    result : LiveStreaming or StoredStreaming
        What to draw.
    delays : array_like, optional
        Startup delays [s]; by default from 0 to somewhat beyond the required one.
    target : float
        Late fraction whose delay is marked.
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw; new ones by default.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    axes = axes_of(ax)
    required = result.required_delay(target)
    tau = np.linspace(0, max(1.3 * required, 0.1), 200) if delays is None else np.asarray(delays, dtype=float)
    f = np.asarray(result.late_fraction(tau))
    axes.semilogy(tau, np.where(f > 0, f, np.nan), color=BLUE, label=label or f"{result.kind} streaming")
    axes.plot([required, required], [f[f > 0].min(), target], color=ORANGE, linestyle="--", linewidth=1)
    axes.plot([required], [target], "o", color=ORANGE, label=f"{required:.2f} s for a late fraction of {target:g}")
    axes.set_xlabel("startup delay (s)")
    axes.set_ylabel("fraction of late packets")
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes


def late_probability(
    round_trip: float, probability: ArrayLike, *, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw P_i, the probability that a round has a late packet, over the video (Figure 8b).

    Parameters
    ----------
    round_trip : float
        Round trip time [s], the length of a round.
    probability : (n,) array_like
        P_i, as `StoredStreaming.late_probability_per_round` returns it.
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw, beside the curves that are there; new ones by default.
    """
    axes = axes_of(ax)
    P = np.asarray(probability, dtype=float)
    times = round_trip * np.arange(1, len(P) + 1)
    axes.semilogy(times, np.where(P > 0, P, np.nan), **line(len(axes.lines)), label=label)
    axes.set_xlabel("time since the video was requested (s)")
    axes.set_ylabel("probability of a late packet in the round")
    axes.grid(alpha=0.3)
    if label is not None:
        axes.legend()
    return axes


def buffer(result: HasBuffer, startup_delay: float, *, ax: Axes | None = None) -> Axes:
    """Draw the packets ahead of playback over a stored video: median, and the bands of 25-75% and 5-95%.

    Below 0 playback is ahead of what has arrived: packets are late.

    Parameters
    ----------
    result : StoredStreaming
    startup_delay : float
        tau [s], >= 0.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = axes_of(ax)
    times, N = result.buffer_quantiles(startup_delay, BANDS)
    axes.fill_between(times, N[0], N[4], color=BLUE, alpha=0.2, linewidth=0, label="5% to 95%")
    axes.fill_between(times, N[1], N[3], color=BLUE, alpha=0.4, linewidth=0, label="25% to 75%")
    axes.plot(times, N[2], color=BLUE, label="median")
    axes.axhline(0, color=COLORS[-1], linewidth=0.8)
    axes.axvline(
        startup_delay, color=ORANGE, linestyle="--", linewidth=1.2, label=f"playback starts: {startup_delay:g} s"
    )
    axes.set_xlabel("time since the video was requested (s)")
    axes.set_ylabel("packets ahead of playback")
    axes.set_xlim(0, times[-1])
    axes.grid(alpha=0.3)
    axes.legend(framealpha=1)
    return axes


def transfer_time(result: HasTransferTime, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw P(T <= t), the probability that a transfer is over by then.

    Parameters
    ----------
    result : TransferTime
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw, beside the curves that are there; new ones by default.
    """
    axes = axes_of(ax)
    t = np.linspace(0, 1.2 * result.quantile(0.99), POINTS)
    axes.plot(t, result.cdf(t), **line(len(axes.lines)), label=label or f"{result.packets:,} packets")
    axes.set_xlabel("time since the request (s)")
    axes.set_ylabel("probability that the transfer is over")
    axes.set_xlim(0, max(float(np.max(one.get_xdata())) for one in axes.lines))
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes

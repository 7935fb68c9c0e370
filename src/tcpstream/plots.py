"""Plots that a reader of the field recognises; the only file that imports matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE = "#0072B2"
ORANGE = "#D55E00"


class HasLateFraction(Protocol):
    """What `late_fraction` draws."""

    kind: str

    def late_fraction(self, startup_delay: ArrayLike) -> np.ndarray:
        """Return f for delays [s]."""

    def required_delay(self, target: float | None = None) -> float:
        """Return the delay [s] for a late fraction."""


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("a plot", "matplotlib", "plot") from None
    return pyplot.subplots(figsize=(6, 4), layout="constrained")[1]


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
    axes = _axes(ax)
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
    probability : (rounds,) array_like
        P_i, as `StoredStreaming.late_probability_per_round` returns it.
    label : str, optional
        Of the curve.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = _axes(ax)
    P = np.asarray(probability, dtype=float)
    axes.semilogy(round_trip * np.arange(1, len(P) + 1), np.where(P > 0, P, np.nan), color=BLUE, label=label)
    axes.set_xlabel("time since the video was requested (s)")
    axes.set_ylabel("probability of a late packet in the round")
    axes.grid(alpha=0.3)
    if label is not None:
        axes.legend()
    return axes

"""Plots that a reader of the field recognises; the only file that imports matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
MARKERS = "os^vD<>pPX"


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


def beside_runs(
    delays: ArrayLike,
    runs: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    model: Mapping[str, ArrayLike],
    *,
    xlabel: str = "startup delay (s)",
    ylabel: str = "fraction of late packets",
    ax: Axes | None = None,
) -> Axes:
    """Draw what simulation runs saw, with 95% intervals, and the model's curves, logarithmic (Figures 4 and 5).

    Parameters
    ----------
    delays : (n,) array_like
        Startup delays [s], or what else `xlabel` says.
    runs, low, high : (n,) array_like
        Mean over runs, and its interval.
    model : mapping of str to (n,) array_like
        Curves by label; nan is left out.
    xlabel, ylabel : str
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = _axes(ax)
    x, f = np.asarray(delays, dtype=float), np.asarray(runs, dtype=float)
    shown = f > 0
    least = f[shown].min() / 3 if shown.any() else 1e-6
    below = np.minimum(f - np.asarray(low, dtype=float), f - least / 3)[shown]
    above = (np.asarray(high, dtype=float) - f)[shown]
    axes.errorbar(x[shown], f[shown], [np.maximum(below, 0), above], fmt="o", color="black", markersize=4,
                  linewidth=1, capsize=2, label="simulation")  # fmt: skip
    for (label, curve), color, style in zip(model.items(), (BLUE, ORANGE, GREEN), ("-", "--", ":")):
        y = np.asarray(curve, dtype=float)
        axes.plot(x, np.where(y > 0, y, np.nan), style, color=color, label=label)
    axes.set_yscale("log")
    axes.set_ylim(least, 1.5)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return axes


def scatter_of_runs(
    simulated: ArrayLike, model: ArrayLike, labels: ArrayLike, *, least: float = 1e-3, ax: Axes | None = None
) -> Axes:
    """Draw late fractions, model over simulation, with the lines of a factor 2 and 5.

    Parameters
    ----------
    simulated, model : (n,) array_like
    labels : (n,) array_like of str
        What each point belongs to.
    least : float
        Late fraction from which points are drawn.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = _axes(ax)
    x, y, names = np.asarray(simulated), np.asarray(model), np.asarray(labels)
    line = np.array([least / 5, 1.0])
    for factor, style in ((1, "-"), (2, "--"), (5, ":")):
        for side in {factor, 1 / factor}:
            axes.plot(line, line * side, style, color="0.6", linewidth=1)
    for k, name in enumerate(dict.fromkeys(names.tolist())):
        chosen = (names == name) & (x >= least)
        axes.plot(x[chosen], y[chosen], MARKERS[k % len(MARKERS)], markersize=5, label=name, alpha=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(least, 1)
    axes.set_ylim(least / 20, 1.3)
    axes.set_xlabel("simulated fraction of late packets")
    axes.set_ylabel("fraction of late packets of the model")
    axes.legend(fontsize="x-small", ncols=2)
    axes.grid(alpha=0.3)
    return axes


def save(axes: Axes, file: Path) -> None:
    """Write the figure that axes belong to, and close it."""
    from matplotlib import pyplot

    figure = axes.get_figure()
    assert figure is not None
    figure.savefig(file, dpi=120)  # type: ignore[union-attr]
    pyplot.close(figure)  # type: ignore[arg-type]

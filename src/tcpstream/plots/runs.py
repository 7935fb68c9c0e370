"""The model beside simulation runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .style import MARKERS, axes_of, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    axes = axes_of(ax)
    x, f = np.asarray(delays, dtype=float), np.asarray(runs, dtype=float)
    least = runs_as_points(x, f, low, high, axes)
    for k, (label, curve) in enumerate(model.items()):
        y = np.asarray(curve, dtype=float)
        axes.plot(x, np.where(y > 0, y, np.nan), **line(k), label=label)
    axes.set_yscale("log")
    axes.set_ylim(least, 1.5)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return axes


def runs_as_points(x: ArrayLike, y: ArrayLike, low: ArrayLike, high: ArrayLike, axes: Axes) -> float:
    """Draw what runs saw as points with intervals, for a logarithmic axis: points at 0 are left out.

    Returns
    -------
    float
        A third of the lowest point, to end the axis at: intervals that reach below 0 end there.
    """
    found = np.asarray(y, dtype=float)
    shown = found > 0
    least = float(found[shown].min()) / 3 if shown.any() else 1e-6
    below = np.minimum(found - np.asarray(low, dtype=float), found - least / 3)[shown]
    above = (np.asarray(high, dtype=float) - found)[shown]
    axes.errorbar(np.asarray(x, dtype=float)[shown], found[shown], [np.maximum(below, 0), above], fmt="o",
                  color="black", markersize=4, linewidth=1, capsize=2, label="simulation")  # fmt: skip
    return least


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
    axes = axes_of(ax)
    x, y, names = np.asarray(simulated), np.asarray(model), np.asarray(labels)
    diagonal = np.array([least / 5, 1.0])
    for factor, style in ((1, "-"), (2, "--"), (5, ":")):
        for side in {factor, 1 / factor}:
            axes.plot(diagonal, diagonal * side, style, color="0.6", linewidth=1)
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

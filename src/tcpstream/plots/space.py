"""Over the parameter space: families of curves, the required startup delay over T/mu and over paths (Section 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .style import axes_of, marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REQUIRED = "required startup delay (s)"
LEVELS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Startup delays of `required_delay_map`'s lines [s]."""


def curves(
    found: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    xlabel: str,
    ylabel: str,
    least: float | None = None,
    level: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw several curves of few points.

    Parameters
    ----------
    found : mapping of str to ((n,) array_like, (n,) array_like)
        x and y by label; nan is left out, and on a logarithmic axis what is not above 0.
    xlabel, ylabel : str
        With units.
    least : float, optional
        Makes the y axis logarithmic, from this value on.
    level : float, optional
        A value of y that is marked.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    axes = axes_of(ax)
    if level is not None:
        axes.axhline(level, color="0.45", linewidth=1, label=f"{level:g} s")
    for k, (label, (x, y)) in enumerate(found.items()):
        values = np.asarray(y, dtype=float)
        axes.plot(np.asarray(x, dtype=float), values if least is None else np.where(values > 0, values, np.nan),
                  **marked(k, len(values)), label=label)  # fmt: skip
    if least is not None:
        axes.set_yscale("log")
        axes.set_ylim(least, 1.5)
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.3)
    axes.legend()
    return axes


def required_delay(
    delays: Mapping[str, tuple[ArrayLike, ArrayLike]], *, level: float | None = 10.0, ax: Axes | None = None
) -> Axes:
    """Draw the required startup delay over T/mu, a curve for each label (Figures 10a and 11a).

    Parameters
    ----------
    delays : mapping of str to ((n,) array_like, (n,) array_like)
        T/mu and the delays [s], by label.
    level : float, optional
        Startup delay that is marked [s]: by default the 10 s below which Section 6.2 is satisfied.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    return curves(delays, xlabel="$T/\\mu$", ylabel=REQUIRED, level=level, ax=ax)


def required_delay_map(loss: ArrayLike, rtt: ArrayLike, delays: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the required startup delay over loss rate and round trip time: lines of equal delay, logarithmic.

    Parameters
    ----------
    loss : (n,) array_like
        Loss rates p.
    rtt : (m,) array_like
        Round trip times R [s].
    delays : (m, n) array_like
        Required startup delays [s]; where they are nan no finite one suffices (live, T <= mu), and the map is hatched.
    ax : Axes, optional
        Where to draw; new ones by default.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes = axes_of(ax)
    p, R, tau = np.asarray(loss, dtype=float), 1000 * np.asarray(rtt, dtype=float), np.asarray(delays, dtype=float)
    shown = np.ma.masked_invalid(np.maximum(tau, LEVELS[0] / 10))
    if np.isnan(tau).any():
        axes.set_facecolor("0.88")
        axes.patch.set(hatch="///", edgecolor="0.7")
        nothing = Patch(facecolor="0.88", hatch="///", edgecolor="0.7", label="no finite delay")
        axes.legend(handles=[nothing], loc="upper right", framealpha=1)
    filled = axes.contourf(p, R, shown, LEVELS, norm=LogNorm(LEVELS[0], LEVELS[-1]), cmap="cividis_r", extend="both")
    lines = axes.contour(p, R, shown, LEVELS, colors="black", linewidths=0.8)
    axes.clabel(lines, fmt="%g s", fontsize="small")
    figure = axes.get_figure()
    assert figure is not None
    figure.colorbar(filled, ax=axes, label=REQUIRED, format="%g")
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain = FuncFormatter(lambda value, _position: f"{value:g}")
    for axis, ticks in ((axes.xaxis, _ticks(p)), (axes.yaxis, _ticks(R))):
        axis.set_ticks(ticks)
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("loss rate p")
    axes.set_ylabel("round trip time R (ms)")
    return axes


def _ticks(values: np.ndarray) -> np.ndarray:
    """Return 1, 2 and 5 times powers of ten within some values."""
    decades = 10.0 ** np.arange(np.floor(np.log10(values.min())), np.ceil(np.log10(values.max())) + 1)
    every = np.outer(decades, [1, 2, 5]).ravel()
    return np.asarray(every[(every >= values.min() * (1 - 1e-9)) & (every <= values.max() * (1 + 1e-9))])

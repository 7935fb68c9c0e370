"""Axes, colours and line styles that all plots share, and how a plot becomes a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that stay apart without colour vision (Okabe and Ito, "Color Universal Design", 2008).
BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, AMBER, "black")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (7, 1, 1, 1, 1, 1)), (0, (4, 3)), (0, (1, 2)))
MARKERS = "s^vD<>opPX"


def axes_of(ax: Axes | None) -> Axes:
    """Return `ax`, or new axes.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("a plot", "matplotlib", "plot") from None
    return pyplot.subplots(figsize=(6, 4), layout="constrained")[1]


def line(k: int) -> dict[str, Any]:
    """Return colour and line style of the k-th curve."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k % len(LINES)]}


def marked(k: int, points: int) -> dict[str, Any]:
    """Return colour, line style and marker of the k-th curve, a marker a point or, of many points, some 12 in all."""
    every = (k % 3, max(1, points // 12)) if points > 20 else 1
    return line(k) | {"marker": MARKERS[k % len(MARKERS)], "markersize": 4.5, "markevery": every}


def save(axes: Axes, file: Path) -> None:
    """Write the figure that axes belong to, in the format that the name of the file ends with, and close it."""
    from matplotlib import pyplot

    figure = axes.get_figure()
    assert figure is not None
    figure.savefig(file, dpi=150)  # type: ignore[union-attr]
    pyplot.close(figure)  # type: ignore[arg-type]

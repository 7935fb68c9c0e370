"""A figure before it is drawn: curves with their numbers, and what stands at the axes."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Curve:
    """Numbers of the same length by name, unit in the name.

    Parameters
    ----------
    label : str
    columns : mapping of str to (n,) array_like
        x, y, and then what x stands for; of simulation runs ``low_95`` and ``high_95``, the interval of their mean.
    """

    label: str
    columns: Mapping[str, ArrayLike]

    @property
    def x(self) -> np.ndarray:
        """Where the points are."""
        return np.asarray(next(iter(self.columns.values())), dtype=float)

    @property
    def y(self) -> np.ndarray:
        """What is found there."""
        return np.asarray(list(self.columns.values())[1], dtype=float)

    @property
    def simulated(self) -> bool:
        """Whether this is what runs saw."""
        return "low_95" in self.columns


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Parameters
    ----------
    number : str
        As "10a".
    title : str
        What is fixed.
    xlabel, ylabel : str
        With units.
    curves : tuple of Curve
    least : float, optional
        Makes the y axis logarithmic, from this value on.
    level : float, optional
        A value of y that is marked.
    """

    number: str
    title: str
    xlabel: str
    ylabel: str
    curves: tuple[Curve, ...]
    least: float | None = None
    level: float | None = None

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Return header and rows of all curves, one below the other; a column that a curve lacks is empty."""
        header = list(dict.fromkeys(name for curve in self.curves for name in curve.columns))
        rows = []
        for curve in self.curves:
            label = curve.label.replace("$", "").replace("\\", "")  # for eyes that read no TeX
            columns = {name: np.asarray(values).tolist() for name, values in curve.columns.items()}
            for i in range(len(curve.x)):
                rows.append([label, *(columns[name][i] if name in columns else "" for name in header)])
        return ["curve", *header], rows

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the curves; runs as points with 95% intervals."""
        found = {curve.label: (curve.x, curve.y) for curve in self.curves if not curve.simulated}
        axes = plots.curves(found, xlabel=self.xlabel, ylabel=self.ylabel, least=self.least, level=self.level, ax=ax)
        for curve in self.curves:
            if curve.simulated:
                plots.runs_as_points(
                    curve.x, curve.y, np.asarray(curve.columns["low_95"]), np.asarray(curve.columns["high_95"]), axes
                )
        axes.legend()
        axes.set_title(f"Figure {self.number}: {self.title}", fontsize="medium")
        return axes

    def write(self, folder: FilePath, form: str) -> list[FilePath]:
        """Write the drawing and its numbers as CSV into a folder; return the files.

        Parameters
        ----------
        folder : path
        form : {"png", "svg", "pdf"}
        """
        drawn, numbers = (folder / f"figure-{self.number}.{ending}" for ending in (form, "csv"))
        header, rows = self.rows()
        with numbers.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([header, *rows])
        plots.save(self.draw(), drawn)
        return [drawn, numbers]

"""The figures of the paper from the model, with simulation where the paper has it, and what it concludes from them.

>>> from tcpstream import paper
>>> paper.FIGURES["8b"]().draw().get_xlabel()
'time since the video was requested (s)'
"""

from collections.abc import Callable

from . import exploring, simulated
from .figure import Curve, Figure

FIGURES: dict[str, Callable[[], Figure]] = {
    "4": simulated.figure_4,
    "5": simulated.figure_5,
    "8a": simulated.figure_8a,
    "8b": simulated.figure_8b,
    "9a": exploring.figure_9a,
    "9b": exploring.figure_9b,
    "10a": exploring.figure_10a,
    "10b": exploring.figure_10b,
    "11a": exploring.figure_11a,
    "11b": exploring.figure_11b,
}
"""What makes each figure, by its number."""

__all__ = ["FIGURES", "Curve", "Figure"]

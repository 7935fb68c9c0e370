"""Answers as notebooks show them: a table of the answer, and of what it was computed from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from ..errors import AccuracyError
from ..path import Path
from ..system.html_table import Rows, html_table
from ..tcp import Varying
from ..video import Video


class Shown(ABC):
    """Something that a notebook shows as a table."""

    @abstractmethod
    def _sections(self) -> Mapping[str, Rows]:
        """Return names and values, by headings."""

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._sections())


def inputs(path: Path | Varying, video: Video | None = None) -> dict[str, Rows]:
    """Return the sections of a path and a video."""
    found: dict[str, Rows] = {"path": path._rows()}
    if video is not None:
        found["video"] = video._rows()
    return found


def answered(answer: Callable[[], str]) -> str:
    """Return an answer in words, or why there is none."""
    try:
        return answer()
    except AccuracyError as error:
        return f"none: {error}"


def off_by(value: float | None, error: float | None, unit: str = "") -> str:
    """Return a value, its unit, and by how much it may be off."""
    if value is None:
        return "not known"
    text = f"{value:.4g} {unit}".rstrip()
    return text if not error else f"{text}, within {error:.1g}"

"""Comparisons as they are kept: JSON, in the package for the whole study."""

from __future__ import annotations

import dataclasses
import json
import math
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any

from ..system.json_numbers import finite
from .compare import INPUTS, Comparison, Point
from .settings import SETTINGS

RECORDED, FIGURE_8 = "recorded.json", "figure_8.json"


def to_data(comparisons: list[Comparison]) -> list[dict[str, Any]]:
    """Return comparisons as plain data, None for what is not finite."""
    data = [dataclasses.asdict(one) | {"setting": one.setting.name} for one in comparisons]
    return [{name: finite(value) for name, value in one.items()} for one in data]


def from_data(data: list[dict[str, Any]]) -> list[Comparison]:
    """Return comparisons from plain data."""
    settings = {setting.name: setting for setting in SETTINGS}
    found = []
    for one in data:
        points = [Point(**_numbers(point)) for point in one["points"]]
        rest = {"setting": settings[one["setting"]], "points": points, "no_late": list(map(tuple, one["no_late"]))}
        found.append(Comparison(**(one | rest)))
    return found


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    return math.nan if value is None else value


def recorded() -> list[Comparison]:
    """Return the whole study as it came out for this version."""
    return from_data(json.loads(files(__package__).joinpath(RECORDED).read_text(encoding="utf-8")))


def figure_8() -> dict[str, dict[str, list[float]]]:
    """Return what the runs of the whole study saw for Figures "8a" and "8b"; made by ``validation/figure_8.py``."""
    found: dict[str, dict[str, list[float]]] = json.loads(
        files(__package__).joinpath(FIGURE_8).read_text(encoding="utf-8")
    )
    return found


def save(comparisons: list[Comparison], file: FilePath) -> None:
    """Write comparisons, a setting a line."""
    lines = ",\n".join(json.dumps(one, allow_nan=False) for one in to_data(comparisons))
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def shares(comparisons: list[Comparison], given: str) -> dict[str, float]:
    """Return which share of the judged points is inside the interval, within 2 or inside, within 5 or inside.

    Parameters
    ----------
    comparisons : list of Comparison
    given : str
        What the model gets as p, of `INPUTS`.
    """
    assert given in INPUTS
    points = [point for one in comparisons for point in one.judged]
    verdicts = [point.verdict(given) for point in points]
    count = max(1, len(verdicts))
    inside = verdicts.count("inside")
    two = inside + verdicts.count("within 2")
    return {
        "points": len(verdicts),
        "inside": inside / count,
        "within_2": two / count,
        "within_5": (two + verdicts.count("within 5")) / count,
    }

"""The answer about players with each of some start buffers and each of some resume buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .blocks import Table
from .report import Report
from .seen import known

if TYPE_CHECKING:
    from ..video import Video
    from .route import Route

_HEADER = (
    "starts with [s]", "resumes with [s]", "join time [s]", "P(any stall)", "stalls, mean", "stalled, mean",
    "rebuffering ratio",
)  # fmt: skip


def alone(others: Mapping[str, object], starts: Sequence[float] | None) -> None:
    """Raise `InputError` where several buffers are given, and other options that do not go with them."""
    if beside := [name for name, given in others.items() if given is not None and given is not False]:
        raise InputError(f"several buffers are solved for stored videos, all at once: leave out {', '.join(beside)}")
    if starts is None:
        raise InputError("several resume buffers need start buffers as well: give --start-buffer, as 1s,2s")


def buffer_pairs(
    route: Route, video: Video, starts: Sequence[float], resumes: Sequence[float] | None, as_json: bool
) -> Report:
    """Return the report."""
    from ..answers.buffer_grid import ANSWERS, buffer_grid
    from . import details

    if resumes is None:
        raise InputError("several start buffers are solved with resume buffers: give --resume-buffer, as 1s,5s")
    result = buffer_grid(route.path, video, starts, resumes)
    rows = []
    for i, start in enumerate(starts):
        join = f"{result.mean_join_time[i]:.3g}"
        for j, resume in enumerate(resumes):
            pair = [(float(getattr(result, name)[i, j]), float(result.errors[name][i, j]), name) for name in ANSWERS]
            cells = [known(*one) for one in pair]
            rows.append((f"{start:g}", f"{resume:g}", join, *cells))
    blocks = [Table(rows, _HEADER), *details.solved(result, route)]
    return Report(result.to_dict() | route.to_dict(), blocks, as_json, route.warnings(result.throughput, None))

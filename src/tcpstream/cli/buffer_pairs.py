"""The answer about players with each of some start buffers and each of some resume buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError
from .blocks import Table
from .drawn import check_file
from .report import Report
from .seen import known

if TYPE_CHECKING:
    from ..video import Video
    from .route import Route

_PAIRS = ("starts with [s]", "resumes with [s]", "P(any stall)", "stalls, mean", "stalled, mean", "rebuffering ratio")
_STARTS = ("starts with [s]", "join time, mean [s]", "50% at most [s]", "90%", "99%")


def alone(others: Mapping[str, object], starts: Sequence[float] | None) -> None:
    """Raise `InputError` where several buffers are given, and other options that do not go with them."""
    if beside := [name for name, given in others.items() if given is not None and given is not False]:
        raise InputError(f"several buffers are solved for stored videos, all at once: leave out {', '.join(beside)}")
    if starts is None:
        raise InputError("several resume buffers need start buffers as well: give --start-buffer, as 1s,2s")


def buffer_pairs(
    route: Route, video: Video, starts: Sequence[float], resumes: Sequence[float] | None, out: str | None, as_json: bool
) -> Report:
    """Return the report, and write the table of all pairs to a file, if one is given."""
    from ..answers.buffer_grid import ANSWERS, buffer_grid
    from ..answers.viewing import QUANTILES
    from . import details

    if resumes is None:
        raise InputError("several start buffers are solved with resume buffers: give --resume-buffer, as 1s,5s")
    if out is not None:
        check_file(out, "pairs of buffers", "start_buffer_s,")
    result = buffer_grid(route.path, video, starts, resumes)
    times = [result.mean_join_time, *(result.join_time_quantile(u) for u in QUANTILES.values())]
    joined = [(f"{start:g}", *(f"{time[i]:.3g}" for time in times)) for i, start in enumerate(starts)]
    rows = []
    for i, start in enumerate(starts):
        for j, resume in enumerate(resumes):
            pair = [(float(getattr(result, name)[i, j]), float(result.errors[name][i, j]), name) for name in ANSWERS]
            rows.append((f"{start:g}", f"{resume:g}", *(known(*one) for one in pair)))
    data = result.to_dict() | route.to_dict()
    blocks: list[str | Table] = [Table(joined, _STARTS), Table(rows, _PAIRS)]
    blocks += details.solved(result, route)
    if out is not None:
        result.write_csv(out)
        data["file"] = out
        blocks.append(f"{len(rows):,} pairs are in {out}.")
    return Report(data, blocks, as_json, route.warnings(result.throughput, None))

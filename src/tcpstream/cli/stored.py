"""``tcpstream stored``: late packets of a stored video."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from . import options as opt
from .blocks import Table
from .inputs import read_route, read_video
from .report import Report
from .sections import Sectioned
from .shown_frames import frames
from .words import with_spans

if TYPE_CHECKING:
    from ..answers.stored import StoredStreaming

_HEADER = ("startup delay [s]", "late fraction", "P(no late packet)", "its lower bound")
_ANSWERS = {"late_fraction": ".4g", "no_late_probability": ".6g", "no_late_lower_bound": ".6g"}
_VISIBLE = 1e-3
"""Error of P(no late packet) from which it is shown as an interval."""

_BEST, _WORST = [[0.0], [1.0], [1.0]], [[1.0], [0.0], [0.0]]


@click.command(cls=Sectioned)
@opt.path_options
@opt.regimes_option
@opt.rate_option
@opt.duration_option
@opt.playback_option
@opt.packet_size_option
@opt.delay_option
@opt.option("--horizon", str, "end|paper", "Judge until playback ends, or for duration/R rounds.  [default: end]")
@click.option("--per-round", is_flag=True, help="Also the probability of a late packet in each round.")
@opt.accuracy_option
@opt.time_limit_option
@opt.json_option
def stored(
    as_json: bool, delay: list[float], horizon: str | None, per_round: bool, accuracy: str | None, **options: Any
) -> Report:
    """Late packets of a stored video.

    TCP sends it as fast as it can. For each startup delay: the fraction of late packets, the
    probability that no packet is late, and its lower bound.
    """
    import numpy as np

    from ..answers import stored as stored_model
    from . import details
    from .mismatch import no_verdict

    def answers(solved: StoredStreaming) -> list[Any]:
        columns = solved.columns(np.asarray(delay, dtype=float))
        return [columns[name] for name in _ANSWERS]

    route = read_route(options)
    video = read_video(options, route, stored=True)
    if refused := no_verdict(route, "stored", as_json):
        return refused
    result = stored_model.stored(route.path, video, horizon=horizon or "end", accuracy=accuracy)
    data = result.to_dict(delay)
    data["parameters"]["horizon"] = result.horizon
    found = route.propagate_intervals(
        [data[name] for name in _ANSWERS],
        lambda path: answers(stored_model.stored(path, video, horizon=result.horizon, accuracy=accuracy)),
        _BEST,
        _WORST,
    )
    columns = [[f"{value:{digits}}" for value in data[name]] for name, digits in _ANSWERS.items()]
    _, off = result.stalled(np.asarray(delay, dtype=float))
    columns[1] = [_within(*one) for one in zip(columns[1], data["no_late_probability"], off.tolist())]
    if found is not None:
        spans = np.stack((found.low, found.high), axis=-1).tolist()
        data |= {f"{name}_interval": pairs for name, pairs in zip(_ANSWERS, spans)}
        columns = [with_spans(*column) for column in zip(columns, spans, _ANSWERS.values())]
    rows = list(zip((f"{tau:g}" for tau in delay), *columns))
    more, late_frames = frames(video, lambda: result.late_frames(delay))
    data |= more
    blocks = [Table(rows, _HEADER), *late_frames, *details.solved(result, route)]
    if per_round:
        curves = [result.late_probability_per_round(tau).tolist() for tau in delay]
        data["late_probability_per_round"] = curves
        blocks.insert(1, _rounds(result, delay, curves))
    return Report(data | route.to_dict(), blocks, as_json, route.warnings(result.throughput, found))


def _within(shown: str, alpha: float, off: float) -> str:
    """Return P(no late packet) as the interval in which it lies, if that can be seen."""
    return shown if off < _VISIBLE else f"{max(alpha - off, 0.0):.3g} to {min(alpha + off, 1.0):.3g}"


def _rounds(result: StoredStreaming, delays: list[float], curves: list[list[float]]) -> Table:
    """Return the table of rounds: when each ends, and its probability of a late packet after each startup delay."""
    rows = [
        (str(i), f"{i * result.path.rtt:.4g}", *("" if p is None else f"{p:.4g}" for p in probabilities))
        for i, probabilities in enumerate(zip_longest(*curves), 1)
    ]
    return Table(rows, ("round", "ends at [s]", *(f"P(late), delay {tau:g} s" for tau in delays)))

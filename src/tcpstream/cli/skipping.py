"""The answer about a live stream whose player skips what comes too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NoFiniteDelayError
from .blocks import Table
from .report import Report
from .seen import known
from .words import with_spans

if TYPE_CHECKING:
    from ..answers.live_streaming import LiveStreaming
    from ..answers.player import Player
    from ..path import Path
    from ..tcp import Varying
    from ..video import Video
    from .route import Route


def skipping(route: Route, video: Video, player: Player, accuracy: str | None, as_json: bool) -> Report:
    """Return the report; exit status 3 where TCP does not sustain the stream."""
    from ..answers.live import live
    from ..answers.play import play
    from ..answers.skipping_play import SkippingPlay
    from . import details
    from .endless import no_finite_delay

    def solve(path: Path | Varying) -> SkippingPlay:
        found = play(path, video, player, live=True, accuracy=accuracy)
        assert isinstance(found, SkippingPlay)
        return found

    def stream(path: Path | Varying, slower: Video) -> LiveStreaming:
        return live(path, slower, accuracy=accuracy)

    try:
        result = solve(route.path)
    except NoFiniteDelayError as error:
        answer = {"skipped_fraction": None, "parameters": player.to_dict() | {"live": True, "on_stall": "skip"}}
        return no_finite_delay(error, route, video, stream, answer, as_json)
    data = result.to_dict()
    found = route.propagate_intervals([result.skipped_fraction], lambda path: [solve(path).skipped_fraction], 0.0, 1.0)
    off = result.errors
    cells = [known(result.skipped_fraction, off["skipped_fraction"], "skipped_fraction")]
    if found is not None:
        span = [float(found.low[0]), float(found.high[0])]
        data["skipped_fraction_interval"] = span
        cells = with_spans(cells, [span], ".4g")
    rows = [("latency of what plays", f"{result.start:g} s"), ("skipped, and stalled", cells[0])]
    if result.stalls_per_hour is not None and result.mean_stall_length is not None:
        rows.append(
            ("stalls per hour played", known(result.stalls_per_hour, off["stalls_per_hour"], "stalls_per_hour"))
        )
        rows.append(
            ("length of a stall, mean", known(result.mean_stall_length, off["mean_stall_length"], "mean_stall_length"))
        )
    blocks = [Table(rows), *details.solved(result.solved, route)]
    return Report(data | route.to_dict(), blocks, as_json, route.warnings(result.throughput, found))

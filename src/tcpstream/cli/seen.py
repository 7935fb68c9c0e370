"""What a viewer sees, as a table: what is said of every player, and what is only said of some."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .blocks import Table
from .words import rounded_up

if TYPE_CHECKING:
    from ..answers.buffered_play import BufferedPlay
    from ..answers.interval import PropagatedIntervals
    from ..answers.joined import Joined
    from ..answers.segment_play import SegmentPlay
    from ..answers.viewing import Viewing

ANSWERS = ("stall_probability", "mean_total_rebuffer", "rebuffering_ratio")
"""Properties of every player."""

_SHARES = ("stall_probability", "rebuffering_ratio", "skipped_fraction")
"""Properties that are 1 at most."""

_UNITS = {"mean_total_rebuffer": " s", "mean_stall_length": " s"}

_QUANTILES = ("p50", "p90", "p99")

ROUNDING = 1e-12
"""Probability of a number of stalls, below which rounding decides."""

COARSE = 0.1
"""Error of a share from which on it is told as a range."""


def seen(result: Viewing, data: dict[str, Any], found: PropagatedIntervals | None) -> Table:
    """Return what a viewer sees: answers, what goes before them, and what goes before the last one."""
    rows = _rows(result, data)
    cells = [known(getattr(result, name), result.errors[name], name) for name in ANSWERS]
    if found is not None:
        spans = zip(found.low.tolist(), found.high.tolist())
        cells = [f"{cell} ({low:.4g} to {high:.4g})" for cell, (low, high) in zip(cells, spans)]
    stall, mean, ratio = cells
    return Table(
        [
            *rows["first"],
            ("probability of a stall", stall),
            ("stalled in total, mean", mean),
            *rows["then"],
            ("rebuffering ratio", ratio),
        ]
    )


def _rows(result: Viewing, data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of some players."""
    from ..answers.buffered_play import BufferedPlay
    from ..answers.segment_play import SegmentPlay

    if isinstance(result, SegmentPlay):
        return _fetched(result, data)
    return _buffered(result, data) if isinstance(result, BufferedPlay) else _delayed(data)


def _fetched(result: SegmentPlay, data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of a player that fetches segments."""
    player, join = result.player, data["join_time_s"]
    starts, resumes = data["parameters"]["start_buffer_s"], data["parameters"]["resume_buffer_s"]
    rows = [
        ("segments", f"{result.segments} of {player.segment:g} s, at most {player.client_buffer:g} s held"),
        ("playback starts with, resumes with", f"{starts:g} s, {resumes:g} s"),
        ("join time, mean", f"{join['mean']:.3g} s"),
        ("50%, 90%, 99% of viewers at most", _times(join)),
        ("download time of a segment, mean", f"{result.mean_download_time:.4g} s"),
        ("segments after an idle restart", _share(result.restart_share, result.errors["restart_share"])),
    ]
    then = _counted(result)
    return {"first": rows, "then": then + _hourly(result, data)}


def _counted(result: Joined) -> list[tuple[str, str]]:
    """Return how many stalls there are, and how long one is, where the error excludes zero."""
    mean, pmf, length = result.mean_stalls, result.stall_counts, result.mean_stall_length
    if mean is not None and mean <= result.errors["mean_stalls"]:
        return [("number of stalls, mean", known(mean, result.errors["mean_stalls"], "mean_stalls"))]
    rows = []
    if mean is not None:
        rows.append(("number of stalls, mean", f"{mean:.4g}"))
    if pmf is not None:
        numbers = [*map(str, range(len(pmf) - 1)), "more"]
        chances = [f"{chance:.3g}" if chance >= ROUNDING else f"below {ROUNDING:g}" for chance in pmf]
        rows.append(("probability of each number", ", ".join(f"{n}: {one}" for n, one in zip(numbers, chances))))
    if length is not None:
        rows.append(("length of a stall, mean", f"{length:.3g} s"))
    return rows


def _delayed(data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of a player that starts after a delay."""
    first = [("playback starts after", f"{data['join_time_s']['mean']:.6g} s")]
    if pace := data["parameters"].get("pace"):
        burst = data["parameters"]["burst_s"]
        first.append(("sent at most at", f"{pace:g} times the rate" + (f", after {burst:g} s" if burst else "")))
    then = [("50%, 90%, 99% of viewers at most", _times(data["total_rebuffer_s"]))]
    if stall := data.get("first_stall_s"):
        then.append(("first stall after, 50%, 90%, 99%", _times(stall)))
    return {"first": first, "then": then}


def _buffered(result: BufferedPlay, data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of a player that starts with a buffer."""
    join, first = data["join_time_s"], data["first_stall_s"]
    rows = [
        ("playback starts with, resumes with", f"{result.player.start_buffer:g} s, {result.player.resume_buffer:g} s"),
        ("join time, mean", f"{join['mean']:.3g} s"),
        ("50%, 90%, 99% of viewers at most", _times(join)),
    ]
    then = []
    if first:
        then.append(("first stall after, 50%, 90%, 99%", _times(first)))
    then += _counted(result)
    held = data["parameters"]
    if "refill_at_s" in held:
        rows.insert(0, ("reads until, and again at", f"{held['client_buffer_s']:g} s, {held['refill_at_s']:g} s held"))
    return {"first": rows, "then": then + _hourly(result, data)}


def _hourly(result: Viewing, data: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the stalls of an hour in the long run, where they are known."""
    hourly = data.get("stalls_per_hour")
    if hourly is None:
        return []
    return [("stalls per hour, in the long run", known(hourly, result.errors["stalls_per_hour"], "stalls_per_hour"))]


def _share(share: float, error: float) -> str:
    """Return a share in percent, or what it lies between where little is known of it."""
    if error <= COARSE:
        return f"{100 * share:.3g}%"
    return f"{100 * max(share - error, 0.0):.3g}% to {100 * min(share + error, 1.0):.3g}%"


def _times(found: dict[str, float]) -> str:
    return ", ".join(f"{found[name]:.3g} s" for name in _QUANTILES)


def known(value: float, error: float, name: str) -> str:
    """Return an answer, and by how much it may be off, or, where that may be all of it, what it is at most."""
    unit = _UNITS.get(name, "")
    if error >= value:
        most = min(value + error, 1.0) if name in _SHARES else value + error
        return f"{value:.2g}{unit}, at most {rounded_up(most, 2):.2g}{unit}" if error else f"0{unit}"
    percent = 100 * error / value
    return f"{value:.4g}{unit}, within {math.ceil(percent) if percent > 0.1 else 0.1:g}%"

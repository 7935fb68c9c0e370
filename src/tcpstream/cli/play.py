"""``tcpstream play``: whether, and for how long, a stored video stalls."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options as opt
from . import units
from .blocks import Table
from .inputs import read_route, read_video
from .report import Report
from .words import wait

if TYPE_CHECKING:
    from ..answers.buffered_play import BufferedPlay
    from ..answers.interval import PropagatedIntervals
    from ..answers.play import Play
    from ..answers.player import Player
    from ..answers.segment_play import SegmentPlay
    from ..answers.segment_player import SegmentPlayer
    from ..path import Path

_QUANTILES = ("p50", "p90", "p99")
_TARGETS = {"stall_probability": "stall probability", "ratio": "rebuffering ratio"}
_ANSWERS = ("stall_probability", "mean_total_rebuffer", "rebuffering_ratio")


@click.command()
@opt.path_options
@opt.rate_option
@opt.duration_option
@opt.playback_option
@opt.packet_size_option
@opt.option("--start", units.seconds, "T", "Startup delay of the player, as 500ms.  [default: 2s]")
@opt.option("--start-buffer", units.seconds, "T", "Start with so much media held, instead of --start.")
@opt.option("--resume-buffer", units.seconds, "T", "Resume after a stall with so much held.  [default: 0s]")
@opt.option("--segment", units.seconds, "T", "Fetch segments of so much media, one after the other, as 4s.")
@opt.option("--client-buffer", units.seconds, "T", "Media that a player of segments holds at most.  [default: 30s]")
@click.option(
    "--idle",
    type=click.Choice(("restart", "keep")),
    help="What an idle time makes of the window between segments: slow start again, or nothing.  [default: restart]",
)
@opt.option("--target-stall", units.probability, "P", "Also the start for at most this probability of a stall.")
@opt.option("--target-ratio", units.probability, "Q", "Also the start for at most this rebuffering ratio.")
@opt.accuracy_option
@opt.time_limit_option
@opt.json_option
def play(
    as_json: bool,
    start: float | None,
    start_buffer: float | None,
    resume_buffer: float | None,
    segment: float | None,
    client_buffer: float | None,
    idle: str | None,
    target_stall: float | None,
    target_ratio: float | None,
    accuracy: str | None,
    **options: Any,
) -> Report:
    """Stalls of a stored video.

    The player starts after a delay and waits for each packet that is missing; or, with --start-buffer, it starts and
    resumes when it holds some seconds of media; or, with --segment, it fetches segments one after the other. How
    probable a stall is, how long viewers wait in total, and for what part of the time: with a rebuffering ratio of
    0.01 for 1 of 100 seconds.
    """
    from ..answers import play as model
    from ..answers.answer import probabilities
    from . import details
    from .mismatch import no_verdict

    if target_stall is not None and target_ratio is not None:
        raise InputError("give --target-stall or --target-ratio, not both")
    targets = {"stall_probability": target_stall, "ratio": target_ratio}
    wanted = {name: value for name, value in targets.items() if value is not None}
    for name, value in wanted.items():
        probabilities(_TARGETS[name], [value])
    if segment is None:
        player: Player | SegmentPlayer = _whole(start, start_buffer, resume_buffer, client_buffer, idle)
    else:
        player = _segments(segment, start, start_buffer, resume_buffer, client_buffer, idle)
    route = read_route(options)
    video = read_video(options, route, stored=True)
    if refused := no_verdict(route, "stored", as_json):
        return refused

    @cache
    def solve(path: Path) -> Play | BufferedPlay | SegmentPlay:
        return model.play(path, video, player, accuracy=accuracy)

    def answers(path: Path) -> list[float]:
        return [getattr(solve(path), name) for name in _ANSWERS]

    def needed(path: Path) -> float:
        solved = solve(path)
        if isinstance(solved, model.Play):
            return solved.required_start(**wanted)
        return solved.required_start_buffer(**wanted)

    result = solve(route.path)
    data = result.to_dict()
    found = route.propagate_intervals(answers(route.path), answers, [0.0] * 3, [1.0, math.inf, 1.0])
    rows = _rows(result, data)
    blocks: list[str | Table] = [_table(result, rows, found)]
    data |= {} if found is None else _intervals(found)
    if wanted:
        tau = needed(route.path)
        span = route.propagate_intervals(tau, needed, 0.0, math.inf)
        key = "required_start" if isinstance(result, model.Play) else "required_start_buffer"
        data[f"{key}_s"] = tau
        data["parameters"] |= {"target_stall_probability": target_stall, "target_rebuffering_ratio": target_ratio}
        if span is not None:
            data[f"{key}_interval_s"] = [float(span.low), float(span.high)]
        blocks.insert(0, _sentence(tau, key, target_stall, target_ratio, span))
    blocks += details.solved(result.solved if isinstance(result, model.Play) else result, route)
    return Report(data | route.to_dict(), blocks, as_json, route.warnings(result.throughput, found))


def _table(
    result: Play | BufferedPlay | SegmentPlay, rows: dict[str, list[tuple[str, str]]], found: PropagatedIntervals | None
) -> Table:
    """Return what a viewer sees, with what goes before each answer, and after the second one."""
    cells = [_known(getattr(result, name), result.errors[name], name) for name in _ANSWERS]
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


def _whole(
    start: float | None, start_buffer: float | None, resume_buffer: float | None, client_buffer: float | None,
    idle: str | None,
) -> Player:  # fmt: skip
    """Return a player of a video that TCP sends as fast as it can."""
    from ..answers.player import Player

    for name, given in (("--client-buffer", client_buffer), ("--idle", idle)):
        if given is not None:
            raise InputError(f"{name} is for a player that fetches segments: give --segment as well, for example 4s")
    return Player(start, start_buffer, resume_buffer or 0.0)


def _segments(
    segment: float, start: float | None, start_buffer: float | None, resume_buffer: float | None,
    client_buffer: float | None, idle: str | None,
) -> SegmentPlayer:  # fmt: skip
    """Return a player that fetches segments."""
    from ..answers.segment_player import SegmentPlayer

    if start is not None:
        raise InputError("a player that fetches segments starts when it holds some: give --start-buffer, not --start")
    given = {"client_buffer": client_buffer, "idle": idle}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return SegmentPlayer(segment, start_buffer=start_buffer, resume_buffer=resume_buffer, **settings)


def _rows(result: Play | BufferedPlay | SegmentPlay, data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
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
        ("segments after an idle restart", f"{100 * result.restart_share:.3g}%"),
    ]
    then = _counted(result.mean_stalls, result.stall_counts, result.mean_stall_length)
    hourly = data["stalls_per_hour"]
    if hourly is not None:
        error = result.errors["stalls_per_hour"]
        then.append(("stalls per hour, in the long run", _known(hourly, error, "stalls_per_hour")))
    return {"first": rows, "then": then}


def _counted(mean: float | None, pmf: Any, length: float | None) -> list[tuple[str, str]]:
    """Return how many stalls there are, and how long one is."""
    rows = []
    if mean is not None:
        rows.append(("number of stalls, mean", f"{mean:.4g}"))
    if pmf is not None:
        named = [f"{count}: {chance:.3g}" for count, chance in enumerate(pmf[:-1])]
        rows.append(("probability of each number", ", ".join([*named, f"more: {pmf[-1]:.3g}"])))
    if length is not None:
        rows.append(("length of a stall, mean", f"{length:.3g} s"))
    return rows


def _delayed(data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of a player that starts after a delay."""
    return {
        "first": [("playback starts after", f"{data['join_time_s']['mean']:g} s")],
        "then": [("50%, 90%, 99% of viewers at most", _times(data["total_rebuffer_s"]))],
    }


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
    then += _counted(result.mean_stalls, result.stall_counts, result.mean_stall_length)
    return {"first": rows, "then": then}


def _times(found: dict[str, float]) -> str:
    return ", ".join(f"{found[name]:.3g} s" for name in _QUANTILES)


def _known(value: float, error: float, name: str) -> str:
    """Return an answer, as far as it is known."""
    from ..answers.answer import at_most

    unit = " s" if name == "mean_total_rebuffer" else ""
    if error >= value:
        return at_most(value + error) + unit if error else f"0{unit}"
    percent = 100 * error / value
    return f"{value:.4g}{unit}, within {math.ceil(percent) if percent > 0.1 else 0.1:g}%"


def _intervals(found: PropagatedIntervals) -> dict[str, Any]:
    keys = ("stall_probability_interval", "total_rebuffer_mean_interval_s", "rebuffering_ratio_interval")
    return {key: [low, high] for key, low, high in zip(keys, found.low.tolist(), found.high.tolist())}


def _sentence(tau: float, key: str, stall: float | None, ratio: float | None, span: PropagatedIntervals | None) -> str:
    """Return the startup delay, or the start buffer, for a target in a sentence."""
    outcome = (
        f"at most {100 * stall:.4g}% of viewers see a stall" if stall else f"at most {ratio:.4g} of the time stalls"
    )
    over = ""
    if span is not None:
        high = f"to {wait(float(span.high))}" if math.isfinite(span.high) else "or more"
        over = f" Over the intervals of what was measured: {float(span.low):.3g} s {high}."
    if key == "required_start":
        return f"Wait {wait(tau)} before playback starts: then {outcome}.{over}"
    return f"Hold {wait(tau)} of media before playback starts: then {outcome}.{over}"

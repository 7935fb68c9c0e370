"""``tcpstream play``: whether, and for how long, a stored video or a live stream stalls."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, cast

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
    from ..answers.live_play import LivePlay
    from ..answers.play import Play
    from ..answers.player import Player
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
@click.option("--live", is_flag=True, help="A live stream: TCP cannot send what does not exist yet.")
@opt.option("--on-stall", str, "wait|skip", "Of a live stream: go on later, or skip what is late.  [default: wait]")
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
    live: bool,
    on_stall: str | None,
    target_stall: float | None,
    target_ratio: float | None,
    accuracy: str | None,
    **options: Any,
) -> Report:
    """Stalls of a stored video, or of a live stream.

    The player starts after a delay and waits for each packet that is missing; or, with --start-buffer, it starts and
    resumes when it holds some seconds of media. How probable a stall is, how long viewers wait in total, and for
    what part of the time: with a rebuffering ratio of 0.01 for 1 of 100 seconds. With --live, by how much the
    latency of a stream of some length drifts; or, with --on-stall skip, which part of it is skipped in the long run.
    """
    from ..answers import play as model
    from ..answers.answer import probabilities
    from ..answers.buffered_play import BufferedPlay
    from ..answers.player import Player
    from . import details
    from .mismatch import no_verdict
    from .skipping import skipping

    if target_stall is not None and target_ratio is not None:
        raise InputError("give --target-stall or --target-ratio, not both")
    targets = {"stall_probability": target_stall, "ratio": target_ratio}
    wanted = {name: value for name, value in targets.items() if value is not None}
    for name, value in wanted.items():
        probabilities(_TARGETS[name], [value])
    player = Player(start, start_buffer, resume_buffer or 0.0, on_stall or "wait")
    if live and target_ratio is not None:
        raise InputError("--target-ratio is for stored videos: give --target-stall with --live")
    route = read_route(options)
    video = read_video(options, route, stored=not live)
    if refused := no_verdict(route, "live" if live else "stored", as_json):
        return refused
    if live and player.on_stall == "skip":
        if wanted:
            raise InputError("a player that skips always stalls some time: leave out --target-stall")
        return skipping(route, video, player, accuracy, as_json)

    @cache
    def solve(path: Path) -> Play | BufferedPlay | LivePlay:
        found = model.play(path, video, player, live=live, accuracy=accuracy)
        return cast("Play | BufferedPlay | LivePlay", found)

    def answers(path: Path) -> list[float]:
        return [getattr(solve(path), name) for name in _ANSWERS]

    def needed(path: Path) -> float:
        solved = solve(path)
        if isinstance(solved, BufferedPlay):
            return solved.required_start_buffer(**wanted)
        return solved.required_start(**wanted)

    result = solve(route.path)
    data = result.to_dict()
    found = route.propagate_intervals(answers(route.path), answers, [0.0] * 3, [1.0, math.inf, 1.0])
    rows = _buffered(result, data) if isinstance(result, BufferedPlay) else _delayed(data)
    blocks: list[str | Table] = [_table(result, rows, found)]
    data |= {} if found is None else _intervals(found)
    if wanted:
        tau = needed(route.path)
        span = route.propagate_intervals(tau, needed, 0.0, math.inf)
        key = "required_start" if start_buffer is None else "required_start_buffer"
        data[f"{key}_s"] = tau
        data["parameters"] |= {"target_stall_probability": target_stall, "target_rebuffering_ratio": target_ratio}
        if span is not None:
            data[f"{key}_interval_s"] = [float(span.low), float(span.high)]
        blocks.insert(0, _sentence(tau, player, target_stall, target_ratio, span))
    blocks += details.solved(result.solved if isinstance(result, model.Play) else result, route)
    return Report(data | route.to_dict(), blocks, as_json, route.warnings(result.throughput, found))


def _table(
    result: Play | BufferedPlay | LivePlay, rows: dict[str, list[tuple[str, str]]], found: PropagatedIntervals | None
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


def _delayed(data: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return what is only said of a player that starts after a delay."""
    then = [("50%, 90%, 99% of viewers at most", _times(data["total_rebuffer_s"]))]
    if first := data.get("first_stall_s"):
        then.append(("first stall after, 50%, 90%, 99%", _times(first)))
    return {"first": [("playback starts after", f"{data['join_time_s']['mean']:g} s")], "then": then}


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
    if result.mean_stalls is not None and result.stall_counts is not None:
        then.append(("number of stalls, mean", f"{result.mean_stalls:.4g}"))
        pmf = result.stall_counts.tolist()
        named = [f"{count}: {chance:.3g}" for count, chance in enumerate(pmf[:-1])]
        then.append(("probability of each number", ", ".join([*named, f"more: {pmf[-1]:.3g}"])))
    if result.mean_stall_length is not None:
        then.append(("length of a stall, mean", f"{result.mean_stall_length:.3g} s"))
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


def _sentence(
    tau: float, player: Player, stall: float | None, ratio: float | None, span: PropagatedIntervals | None
) -> str:
    """Return the startup delay, or the start buffer, for a target in a sentence."""
    outcome = (
        f"at most {100 * stall:.4g}% of viewers see a stall" if stall else f"at most {ratio:.4g} of the time stalls"
    )
    over = ""
    if span is not None:
        high = f"to {wait(float(span.high))}" if math.isfinite(span.high) else "or more"
        over = f" Over the intervals of what was measured: {float(span.low):.3g} s {high}."
    if player.start_buffer is None:
        return f"Wait {wait(tau)} before playback starts: then {outcome}.{over}"
    return f"Hold {wait(tau)} of media before playback starts: then {outcome}.{over}"

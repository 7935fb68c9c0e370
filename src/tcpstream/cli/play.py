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
from .buffer_pairs import alone, buffer_pairs
from .drawn import Draw
from .inputs import read_route, read_video
from .players import read_pacing, read_player
from .report import Report
from .sections import Sectioned
from .seen import ANSWERS, seen
from .shown_frames import frames
from .words import in_brackets, wait

if TYPE_CHECKING:
    from ..answers.buffered_play import BufferedPlay
    from ..answers.delayed_play import Play
    from ..answers.encoded_play import EncodedPlay
    from ..answers.interval import PropagatedIntervals
    from ..answers.live_play import LivePlay
    from ..answers.paced_play import PacedPlay
    from ..answers.segment_play import SegmentPlay
    from ..path import Path
    from ..tcp import Varying

_TARGETS = {"stall_probability": "stall probability", "ratio": "rebuffering ratio"}


@click.command(cls=Sectioned)
@opt.path_options
@opt.regimes_option
@opt.rate_option
@opt.duration_option
@opt.playback_option
@opt.packet_size_option
@opt.option(
    "--player",
    str,
    "NAME",
    "With the settings of hls.js, shaka, exoplayer, media3, dash.js or mpv; options that are given replace them.",
)
@opt.option("--start", units.seconds, "T", "Startup delay of the player, as 500ms.  [default: 2s]")
@opt.option("--start-buffer", units.times, "T[,T...]", "Start with so much media held, instead of --start.")
@opt.option("--resume-buffer", units.times, "T[,T...]", "Resume after a stall with so much held.  [default: 0s]")
@opt.option("--segment", units.seconds, "T", "Fetch segments of so much media, one after the other, as 4s.")
@opt.option("--client-buffer", units.seconds, "T", "Media that it holds at most.  [default: 30s with --segment]")
@opt.option("--refill-at", units.seconds, "T", "Read again when so much is held.  [default: as --client-buffer]")
@opt.option(
    "--idle",
    str,
    "restart|keep",
    "Of a connection that was idle: slow start again, or as it was.  [default: restart]",
)
@click.option(
    "--setup-round-trips",
    type=int,
    metavar="N",
    help="Count the join time from the connection on: 1 for TCP, 2 with TLS 1.3, 3 with TLS 1.2; 0 from the request "
    "on. Each time a round trip for the request is added.  [default: from the first round of data on]",
)
@opt.option("--pace", units.number, "K", "The server sends at most K times the rate of the video.  [default: no limit]")
@opt.option("--burst", units.seconds, "T", "Media that it sends at once before.  [default: 0s]")
@click.option("--live", is_flag=True, help="A live stream: TCP cannot send what does not exist yet.")
@opt.option("--on-stall", str, "wait|skip", "Of a live stream: go on later, or skip what is late.  [default: wait]")
@opt.option("--target-stall", units.probability, "P", "Also the start for at most this probability of a stall.")
@opt.option("--target-ratio", units.probability, "Q", "Also the start for at most this rebuffering ratio.")
@opt.option("--sessions", units.number, "N", "Also draw so many sessions at random, and write a row of each.")
@opt.option("--seed", units.number, "N", "Of the random numbers.  [default: 1]")
@opt.option("--out", str, "FILE", "Where sessions, or pairs of buffers, are written, as .csv.")
@opt.accuracy_option
@opt.time_limit_option
@opt.json_option
def play(
    as_json: bool,
    player: str | None,
    start: float | None,
    start_buffer: list[float] | None,
    resume_buffer: list[float] | None,
    segment: float | None,
    client_buffer: float | None,
    refill_at: float | None,
    idle: str | None,
    setup_round_trips: int | None,
    pace: float | None,
    burst: float | None,
    live: bool,
    on_stall: str | None,
    target_stall: float | None,
    target_ratio: float | None,
    sessions: float | None,
    seed: float | None,
    out: str | None,
    accuracy: str | None,
    **options: Any,
) -> Report:
    """Stalls of a stored video, or of a live stream.

    The player starts after a delay and waits for each packet that is missing; or, with --start-buffer, it starts and
    resumes when it holds some seconds of media; or, with --segment, it fetches segments one after the other. With
    --pace the server sends no faster than that. How
    probable a stall is, how long viewers wait in total, and for what part of the time: with a rebuffering ratio of
    0.01 for 1 of 100 seconds. With --live, by how much the latency of a stream of some length drifts; or, with
    --on-stall skip, which part of it is skipped in the long run.
    """
    from ..answers import play as model
    from ..answers.answer import probabilities
    from ..answers.delayed_play import Play
    from ..answers.encoded_play import EncodedPlay
    from ..answers.player import Player
    from . import details
    from .mismatch import no_verdict
    from .skipping import skipping
    from .varied_path import varied_path

    if target_stall is not None and target_ratio is not None:
        raise InputError("give --target-stall or --target-ratio, not both")
    targets = {"stall_probability": target_stall, "ratio": target_ratio}
    wanted = {name: value for name, value in targets.items() if value is not None}
    for name, value in wanted.items():
        probabilities(_TARGETS[name], [value])
    if target_stall is not None and 1 - target_stall == 1:
        raise InputError(f"--target-stall must be at least 1e-16, and below 1, got {target_stall:g}")
    beside = {
        "--on-stall": live and on_stall == "skip",
        "--pace": pace is not None,
        "--client-buffer": segment is None and client_buffer is not None,
    }
    several = max(len(start_buffer or []), len(resume_buffer or [])) > 1
    if several:
        others = {
            "--player": player, "--start": start, "--segment": segment, "--client-buffer": client_buffer,
            "--refill-at": refill_at, "--idle": idle, "--setup-round-trips": setup_round_trips, "--pace": pace,
            "--live": live, "--on-stall": on_stall, "--accuracy": accuracy, "--target-stall": target_stall,
            "--target-ratio": target_ratio, "--sessions": sessions, "--seed": seed,
        }  # fmt: skip
        alone(others, start_buffer)
    draw = Draw(sessions, seed, None if several else out, [name for name, given in beside.items() if given])
    pacing = read_pacing(pace, burst)
    route = read_route(options)
    if several:
        if refused := no_verdict(route, "stored", as_json):
            return refused
        video = read_video(options, route, stored=True)
        return buffer_pairs(route, video, start_buffer or [], resume_buffer, out, as_json)
    start_held, resume_held = (one[0] if one else None for one in (start_buffer, resume_buffer))
    video = read_video(options, route, stored=not live)
    watching = read_player(
        video, name=player, live=live, start=start, start_buffer=start_held, resume_buffer=resume_held,
        on_stall=on_stall, segment=segment, client_buffer=client_buffer, refill_at=refill_at, idle=idle,
        setup_round_trips=setup_round_trips, pace=pace,
    )  # fmt: skip
    delayed = type(watching) is Player and watching.on_stall != "skip" and not live and pacing is None
    varied = varied_path(route) if delayed else None
    if varied is not None:
        route = varied.route
    if refused := no_verdict(route, "live" if live else "stored", as_json):
        return refused
    if live and isinstance(watching, Player) and watching.on_stall == "skip":
        if wanted:
            raise InputError("--target-stall and --target-ratio are for a player that waits: leave them out")
        return skipping(route, video, watching, accuracy, as_json)

    @cache
    def solve(path: Path | Varying) -> Play | BufferedPlay | SegmentPlay | PacedPlay | LivePlay | EncodedPlay:
        found = model.play(path, video, watching, live=live, pacing=pacing, accuracy=accuracy)
        return cast("Play | BufferedPlay | SegmentPlay | PacedPlay | LivePlay | EncodedPlay", found)

    def answers(path: Path | Varying) -> list[float]:
        return [getattr(solve(path), name) for name in ANSWERS]

    result = solve(route.path)
    key = "required_start" if hasattr(result, "required_start") else "required_start_buffer"

    def needed(path: Path | Varying) -> float:
        return float(getattr(solve(path), key)(**wanted))

    data = result.to_dict()
    found = route.propagate_intervals(answers(route.path), answers, [0.0] * 3, [1.0, math.inf, 1.0])
    blocks: list[str | Table] = [seen(result, data, found)]
    data |= {} if found is None else _intervals(found)
    if wanted:
        tau = needed(route.path)
        span = route.propagate_intervals(tau, needed, 0.0, math.inf)
        data[f"{key}_s"] = tau
        data["parameters"] |= {"target_stall_probability": target_stall, "target_rebuffering_ratio": target_ratio}
        if span is not None:
            data[f"{key}_interval_s"] = [float(span.low), float(span.high)]
        if (ninety := route.ninety(span, tau)) is not None:
            data[f"{key}_90_interval_s"] = ninety
        blocks.insert(0, _sentence(tau, key, target_stall, target_ratio, span, in_brackets(ninety)))
    if isinstance(result, Play | EncodedPlay):
        more, late_frames = frames(video, result.late_frames)
        data |= more
        blocks += late_frames
    draw.write(result, data, blocks)
    blocks += details.solved(result.solved if isinstance(result, Play) else result, route)
    warnings = route.warnings(result.throughput, found)
    if varied:
        blocks += varied.blocks()
        warnings = [*varied.warnings, *warnings]
    return Report(data | (varied or route).to_dict(), blocks, as_json, warnings)


def _intervals(found: PropagatedIntervals) -> dict[str, Any]:
    keys = ("stall_probability_interval", "total_rebuffer_mean_interval_s", "rebuffering_ratio_interval")
    return {key: [low, high] for key, low, high in zip(keys, found.low.tolist(), found.high.tolist())}


def _sentence(
    tau: float, key: str, stall: float | None, ratio: float | None, span: PropagatedIntervals | None, interval: str
) -> str:
    """Return the startup delay, or the start buffer, for a target in a sentence."""
    outcome = (
        f"at most {100 * stall:.4g}% of viewers see a stall" if stall else f"at most {ratio:.4g} of the time stalls"
    )
    over = ""
    if span is not None:
        high = f"to {wait(float(span.high))}" if math.isfinite(span.high) else "or more"
        over = f" Over the intervals of what was measured: {float(span.low):.3g} s {high}."
    if key == "required_start":
        return f"Wait {wait(tau)} before playback starts{interval}: then {outcome}.{over}"
    return f"Hold {wait(tau)} of media before playback starts{interval}: then {outcome}.{over}"

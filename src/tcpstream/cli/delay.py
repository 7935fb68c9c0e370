"""``tcpstream delay``: how long the player must wait."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import click

from ..errors import InputError, unremarked
from . import options as opt
from . import units
from .inputs import read_route, read_video
from .report import Report
from .sections import Sectioned
from .shown_frames import frames
from .words import in_brackets, rounded_down, share, wait

if TYPE_CHECKING:
    from ..answers.answer import Streaming
    from ..answers.interval import PropagatedIntervals
    from ..answers.live_streaming import LiveStreaming
    from ..answers.stored import StoredStreaming
    from ..path import Path
    from ..tcp import Varying
    from ..video import Video


@click.command(cls=Sectioned)
@opt.path_options
@opt.regimes_option
@opt.rate_option
@click.option("--live", "is_live", is_flag=True, help="A live stream without end.")
@opt.option("--duration", units.seconds, "T", "A stored video of this length, as 80s or 10min.")
@opt.playback_option
@opt.packet_size_option
@opt.option("--target", units.probability, "F", "Fraction of late packets allowed, 0 < F < 1.  [default: 1e-4]")
@opt.option("--target-no-late", units.probability, "A", "Instead, stored only: probability that no packet is late.")
@opt.limited_option
@opt.accuracy_option
@opt.time_limit_option
@opt.json_option
def delay(
    as_json: bool,
    is_live: bool,
    target: float | None,
    target_no_late: float | None,
    limited: bool,
    accuracy: str | None,
    **options: Any,
) -> Report:
    """Startup delay that a video needs.

    The shortest wait after which at most a fraction of 1e-4 of the packets is late, or as --target says. Give --live,
    or --duration (or --playback) for a stored video. Where nothing says how packets are lost, losses in bursts are
    looked at as well.
    """
    from ..answers.answer import DEFAULT_TARGET, late_target, no_late_target
    from ..errors import NoFiniteDelayError
    from ..tcp import Varying
    from . import details
    from .endless import no_finite_delay
    from .mismatch import no_verdict
    from .other_losses import begun, in_bursts
    from .varied_path import varied_path

    _check(is_live, target, target_no_late, limited, options)
    if target is None and target_no_late is None:
        target = DEFAULT_TARGET
    if target is not None:
        late_target(target)
    if target_no_late is not None:
        no_late_target(target_no_late)
    wanted = {"target_late_fraction": target, "target_no_late": target_no_late}
    route = read_route(options)
    video = read_video(options, route, stored=not is_live)

    varied = None if is_live else varied_path(route)
    if varied is not None:
        route = varied.route
    if refused := no_verdict(route, "live" if is_live else "stored", as_json, limited=limited):
        return refused

    def solve(path: Path | Varying, video: Video) -> Streaming:
        if is_live:
            from .live_streams import live_stream

            return live_stream(path, video, accuracy, limited=limited)
        from ..answers import stored as stored_model

        return stored_model.stored(path, video, accuracy=accuracy)

    def needed(result: Streaming) -> float:
        if target_no_late is None:
            return result.required_delay(target)
        return cast("StoredStreaming", result).required_delay(no_late=target_no_late)

    def at(path: Path | Varying) -> float:
        return needed(solve(path, video))

    other = begun(options, at)
    try:
        result = solve(route.path, video)
        tau = needed(result)
    except NoFiniteDelayError as error:
        found = route.propagate_intervals(math.inf, at, 0.0, math.inf)
        more, bursts = in_bursts(other, math.inf)
        answer = {"required_startup_delay_s": None, "parameters": wanted} | _interval(found) | more
        known = [*_span(found, route.interval), *bursts]
        return no_finite_delay(error, route, video, solve, answer, as_json, known, target)
    found = route.propagate_intervals(tau, at, 0.0, math.inf)
    data = {key: value for key, value in result.to_dict([]).items() if value != []}
    data["parameters"] |= wanted
    data["required_startup_delay_s"] = tau
    with unremarked():  # nobody mistyped it
        stated = cast("LiveStreaming | StoredStreaming", result).relative_error(tau) if target else None
    lattice_error = None if stated is None else float(stated)
    if is_live:
        data["lattice_error"] = lattice_error
    ninety = route.ninety(found, tau)
    data |= _interval(found) | ({} if ninety is None else {"required_startup_delay_90_interval_s": ninety})
    more, late_frames = frames(video, lambda: cast("StoredStreaming", result).late_frames(tau))
    data |= more
    span = _span(found, route.interval)
    more, bursts = in_bursts(other, tau)
    data |= more
    more, next_video = varied.next_delay(video, accuracy) if varied else ({}, [])
    data |= more
    by_rate = options["playback"] is None and not isinstance(route.path, Varying)
    blocks = [
        _sentence(tau, target, target_no_late, in_brackets(ninety)),
        *next_video,
        *span,
        _meaning(1 / result.load, tau, by_rate=by_rate),
        *bursts,
        *late_frames,
        *details.solved(result, route, lattice_error),
        *(varied.blocks() if varied else []),
    ]
    warnings = route.warnings(details.backlogged(result, route), found)
    if varied:
        warnings = [*varied.warnings, *warnings]
    return Report(data | (varied or route).to_dict(), blocks, as_json, warnings)


def _check(
    is_live: bool,
    target: float | None,
    target_no_late: float | None,
    limited: bool,
    options: dict[str, Any],
) -> None:
    if is_live and options["duration"] is not None:
        raise InputError("give --live or --duration (a stored video), not both")
    if not is_live and options["duration"] is None and options["playback"] is None:
        raise InputError("give --live for a live stream, or --duration T or --playback FILE for a stored video")
    if target is not None and target_no_late is not None:
        raise InputError("give --target or --target-no-late, not both")
    if limited and not is_live:
        raise InputError("--application-limited is for a live stream: give --live, or leave it out")
    if is_live and target_no_late is not None:
        raise InputError("--target-no-late is for a stored video: give --duration instead of --live, or --target")


def _interval(found: PropagatedIntervals | None) -> dict[str, Any]:
    return {} if found is None else {"required_startup_delay_interval_s": [float(found.low), float(found.high)]}


def _span(found: PropagatedIntervals | None, interval: str) -> list[str]:
    """Return the smallest and the largest delay in a sentence; none without a capture, or without a finite one."""
    if found is None or not math.isfinite(found.low):
        return []
    low, high = float(found.low), float(found.high)
    least = f"{low:.3g} s" if low < 100 else f"{low:.0f} s"
    if math.isfinite(high):
        span = f"{least} to {wait(high)}"
    else:
        span = f"at least {least}" if found.refused else f"{least} to no finite delay"
    return [f"Over {interval}: {span}."]


def _sentence(tau: float, target: float | None, no_late: float | None, interval: str) -> str:
    """Return the answer in a sentence, with its interval where it has one."""
    if target is not None:
        outcome = f"at most {share(target)} late"
    else:
        outcome = f"with a probability of at least {no_late:g} no packet is late"
    if tau == 0:
        return f"Playback can start at once{interval}: {outcome}."
    return f"Wait {wait(tau)} before playback starts{interval}: then {outcome}."


def _meaning(ratio: float, tau: float, *, by_rate: bool) -> str:
    """Return what T/mu says about the wait, and what shortens it; ``tcpstream rate`` finds a rate if `by_rate`."""
    told = f"{rounded_down(ratio, 2):,g}"
    if ratio >= 1:
        carried = f"The path carries {told} times the video's rate"
        why = "the wait bridges the times in which losses slow TCP down"
    else:
        carried = f"The path carries {told} of the video's rate"
        why = "the wait is a head start, and a longer video needs a longer one"
    if tau == 0:
        return f"{carried}."
    shorter = ", and tcpstream rate finds the rate for a wait of your choice" if by_rate else ""
    return f"{carried}: {why}. A lower rate shortens it{shorter}."

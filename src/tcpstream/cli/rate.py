"""``tcpstream rate``: the largest playback rate for a startup delay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options as opt
from . import units
from .blocks import Table
from .inputs import packet_size, read_route
from .report import Report
from .sections import Sectioned
from .words import at_most, packets_per_second, share

if TYPE_CHECKING:
    from ..answers.interval import PropagatedIntervals
    from ..path import Path
    from ..tcp import Varying


@click.command(cls=Sectioned)
@opt.path_options
@opt.regimes_option
@click.option("--live", "is_live", is_flag=True, help="A live stream without end.")
@opt.option("--duration", units.seconds, "T", "A stored video of this length, as 80s or 10min.")
@opt.packet_size_option
@opt.option("--delay", units.seconds, "T", "Startup delay tau, as 4 or 500ms.", required=True)
@opt.option("--target", units.probability, "F", "Fraction of late packets allowed, 0 < F < 1.  [default: 1e-4]")
@opt.option("--target-no-late", units.probability, "A", "Instead, stored only: probability that no packet is late.")
@opt.time_limit_option
@opt.json_option
def rate(
    as_json: bool, is_live: bool, delay: float, target: float | None, target_no_late: float | None, **options: Any
) -> Report:
    """Largest playback rate for a startup delay.

    The rate at which at most a fraction of 1e-4 of the packets is late, or as --target says, when playback starts
    after --delay; and the T/mu that this takes. Give --live, or --duration for a stored video.
    """
    from .. import tcp
    from .._version import __version__
    from ..answers import rate as search
    from ..answers.answer import DEFAULT_TARGET, SCHEMA, late_target
    from ..errors import positive
    from . import details
    from .mismatch import no_verdict

    duration = options["duration"]
    _check(is_live, duration, target, target_no_late)
    if target is None and target_no_late is None:
        target = DEFAULT_TARGET
    if target is not None:
        late_target(target)
    route = read_route(options)
    size = positive("packet size", packet_size(options, route), "bytes")
    if refused := no_verdict(route, "live" if is_live else "stored", as_json):
        return refused

    def largest(path: Path | Varying) -> float:
        return search.largest_rate(path, delay=delay, duration=duration, target=target, no_late=target_no_late)

    mu = largest(route.path)
    found = route.propagate_intervals(mu, largest, math.inf, 0.0)
    T = tcp.throughput(route.path)
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "model": "live" if is_live else "stored",
        "parameters": route.path.to_dict()
        | {"packet_size_bytes": size, "duration_s": duration, "startup_delay_s": delay}
        | {"target_late_fraction": target, "target_no_late": target_no_late},
        "packet_rate_pps": mu,
        **_interval(found),
        "bitrate_bps": 8 * size * mu,
        "throughput_pps": T,
        "load": mu / T,
        **route.to_dict(),
    }
    rows = [("throughput T", packets_per_second(T, size)), ("T/mu", f"{T / mu:.4g}")]
    if duration is not None:
        rows.append(("duration", f"{duration:g} s"))
    blocks: list[str | Table] = [
        _sentence(at_most(mu, size), delay, target, target_no_late),
        *_span(found, size, route.interval),
        Table([*rows, *details.path_rows(route.path)]),
        *details.captured(route, T),
    ]
    return Report(data, blocks, as_json, route.warnings(T, found))


def _check(is_live: bool, duration: float | None, target: float | None, target_no_late: float | None) -> None:
    if is_live and duration is not None:
        raise InputError("give --live or --duration (a stored video), not both")
    if not is_live and duration is None:
        raise InputError("give --live for a live stream, or --duration T for a stored video")
    if target is not None and target_no_late is not None:
        raise InputError("give --target or --target-no-late, not both")
    if is_live and target_no_late is not None:
        raise InputError("--target-no-late is for a stored video: give --duration instead of --live, or --target")


def _interval(found: PropagatedIntervals | None) -> dict[str, Any]:
    return {} if found is None else {"packet_rate_interval_pps": [float(found.low), float(found.high)]}


def _span(found: PropagatedIntervals | None, size: float, interval: str) -> list[str]:
    """Return the smallest and the largest rate in a sentence, as far as both ends have one; none without a capture."""
    if found is None:
        return []
    low, high = float(found.low), float(found.high)
    known = [at_most(low, size)] if low > 0 else []
    if math.isfinite(high):
        known.append(packets_per_second(high, size))
    if not known:
        return []
    span = " to ".join(known) if len(known) == 2 else f"at {'least' if low > 0 else 'most'} {known[0]}"
    return [f"Over {interval}: {span}."]


def _sentence(largest: str, tau: float, target: float | None, no_late: float | None) -> str:
    """Return the answer in a sentence."""
    if target is not None:
        outcome = f"at most {share(target)} late"
    else:
        outcome = f"with a probability of at least {no_late:g} no packet is late"
    return f"Play at {largest} at most: when playback starts after {tau:g} s, {outcome}."

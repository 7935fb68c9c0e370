"""``tcpstream live``: late packets of a live stream."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from . import options as opt
from . import units
from .blocks import Table
from .inputs import read_route, read_video
from .report import Report
from .sections import Sectioned
from .words import with_spans

if TYPE_CHECKING:
    from ..answers.live import LiveStreaming
    from ..path import Path
    from ..tcp import Varying
    from ..video import Video

WHOLE = 1.0
"""Error of a late fraction, as part of itself, up to which it is one."""


@click.command(cls=Sectioned)
@opt.path_options
@opt.regimes_option
@opt.rate_option
@opt.option("--duration", units.seconds, "T", "Length of the stream, as 80s or 10min.  [default: endless]")
@opt.option("--playback", str, "FILE", "Not for live streams.", hidden=True)
@opt.packet_size_option
@opt.delay_option
@opt.limited_option
@opt.accuracy_option
@opt.time_limit_option
@opt.json_option
def live(as_json: bool, delay: list[float], limited: bool, accuracy: str | None, **options: Any) -> Report:
    """Late packets of a live stream.

    TCP cannot send what does not exist yet. For each startup delay the fraction of late packets: in the long run,
    or with --duration from its start on.
    """
    import numpy as np

    from ..answers.answer import startup_delay
    from ..errors import NoFiniteDelayError
    from . import details
    from .endless import no_finite_delay
    from .live_streams import live_stream
    from .mismatch import no_verdict

    for tau in delay:
        startup_delay(tau)
    route = read_route(options)
    video = read_video(options, route, stored=False)

    if refused := no_verdict(route, "live", as_json, limited=limited):
        return refused

    def solve(path: Path | Varying, video: Video) -> LiveStreaming:
        return live_stream(path, video, accuracy, limited=limited)

    try:
        result = solve(route.path, video)
    except NoFiniteDelayError as error:
        answer = {"startup_delay_s": delay, "late_fraction": None}
        return no_finite_delay(error, route, video, solve, answer, as_json)
    data = result.to_dict(delay)
    found = route.propagate_intervals(
        data["late_fraction"], lambda path: solve(path, video).late_fraction(delay), 0.0, 1.0
    )
    errors = np.array([result.lattice_error(tau) for tau in delay])
    finer = "fine" if accuracy == "fast" else "exact"
    late = [_shown(fraction, error, finer) for fraction, error in zip(data["late_fraction"], errors)]
    if found is not None:
        data["late_fraction_interval"] = np.column_stack((found.low, found.high)).tolist()
        late = with_spans(late, data["late_fraction_interval"], ".4g")
    rows = list(zip((f"{tau:g}" for tau in delay), late))
    blocks = [
        Table(rows, ("startup delay [s]", "late fraction")),
        *details.solved(result, route, max(errors[errors <= WHOLE], default=0.0)),
    ]
    return Report(data | route.to_dict(), blocks, as_json, route.warnings(details.backlogged(result, route), found))


def _shown(fraction: float, error: float, finer: str) -> str:
    """Return a late fraction, or what is known of it where its relative error is as large as itself."""
    if error <= WHOLE:
        return f"{fraction:.4g}"
    if math.isinf(error):
        return f"not resolved: give --accuracy {finer}"
    return f"below {fraction * (1 + error):.2g}"

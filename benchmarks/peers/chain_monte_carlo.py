"""The chains of the ordinary inputs simulated: what a standard error of 1% at f = 1e-4 would take, in CPU seconds.

Two runs find the startup delay at which f is 1e-4, the second between neighbours of the first; a third one has the
standard error there, which falls with the square root of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tcpstream
from tcpstream import Path, Video
from tcpstream.errors import TcpstreamError

from ..machine import ROOT
from ..ordinary_inputs import Input, inputs
from ..outcome import Outcome

sys.path.insert(0, str(ROOT / "validation"))

SEED = 11

TARGET, ERROR = 1e-4, 0.01

SEARCH, COUNT = 0.15, 0.4
"""Shares of the time limit for each of the two runs that search, and for that which counts, all on one core."""


def wanted(quick: bool, limit: float, number: int) -> Iterator[Outcome]:  # noqa: ARG001
    """Extrapolate the time for a standard error of 1% at f = 1e-4."""
    one, name = inputs()[number], f"Monte Carlo {number + 1:02}"
    try:
        cost = simulated(one, limit)
    except TcpstreamError as error:
        yield Outcome([], method=name, note=str(error))
        return
    if not np.isfinite(cost["seconds"]):
        yield Outcome([], method=name, note="nothing late in the run", figures=cost)
        return
    yield Outcome(
        [cost["seconds"]],
        method=name,
        claimed=f"standard error 1% of {cost['f']:.2g}",
        note=f"from {cost['rounds']:.2g} rounds with a standard error of {cost['error']:.1%}, seed {SEED}",
        extrapolated=True,
        figures=cost,
    )


def simulated(one: Input, limit: float) -> dict[str, Any]:
    """Return what a standard error of 1% at f = 1e-4 takes: CPU seconds, and seconds of video.

    Parameters
    ----------
    one : Input
    limit : float
        For the runs that this is extrapolated from [s].
    """
    from chain_simulation.direct import simulate

    path, given = Path(**one.path), dict(one.video)
    if one.question == "rate":
        given["packet_rate"] = tcpstream.largest_rate(path, delay=one.delays[0])
    video, live = Video(**given), one.kind == "live"
    longest = 1.5 * (video.duration or 60.0)
    delays = np.append(0.0, np.geomspace(path.rtt, max(longest, 60.0), 39))
    simulate(path, video, delays, live=live, seed=SEED, runs=2, batch=10)  # loads the kernels
    for again in (False, True):
        run = simulate(path, video, delays, live=live, seed=SEED + again, seconds=SEARCH * limit)
        delay, before, after = passing(run.delays, run.late_fraction, TARGET)
        delays = np.linspace(before, after, 40)
    found = simulate(path, video, [delay], live=live, seed=SEED + 2, seconds=COUNT * limit)
    f, error = float(found.late_fraction[0]), float(found.late_error[0])
    more = (error / (ERROR * f)) ** 2 if f > 0 else np.inf
    return {
        "seconds": found.seconds * more,
        "video_seconds": found.rounds * path.rtt * more,
        "delay": delay,
        "f": f,
        "error": error / f if f > 0 else np.inf,
        "rounds": found.rounds,
        "rounds_per_second": found.rounds / found.seconds,
    }


def passing(delays: NDArray[np.float64], f: NDArray[np.float64], target: float) -> tuple[float, float, float]:
    """Return the delay at which falling late fractions pass a target, on straight lines in ln f, and its neighbours."""
    below = int(np.argmax(f <= target)) if (f <= target).any() else len(f) - 1
    if below == 0:
        return float(delays[0]), float(delays[0]), float(delays[1])
    before, after = delays[below - 1 : below + 1]
    logs = np.log(np.maximum(f[below - 1 : below + 1], target / 10))
    share = (logs[0] - np.log(target)) / max(logs[0] - logs[1], 1e-300)
    return float(before + min(share, 1.0) * (after - before)), float(before), float(after)

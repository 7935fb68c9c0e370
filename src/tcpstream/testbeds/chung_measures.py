"""What the authors measured of a clip that is played over UDP and over TCP."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import tcp
from ..path import LARGE_LOSS, Path
from ..sim import Clip, Run, Traffic
from ..sim.application import Application
from ..sim.ping import WAIT

Floats = NDArray[np.float64]

LIMIT = 35e3
"""Bandwidth that the scaling of media is measured at [bit/s] (Section 3.3)."""

SPAN, FIRST, FROM = 10.0, 80.0, 100.0
"""Section 5.4: averages over 10 s of the first 80 s, over the mean from 100 s on [s]."""

LONG_ENOUGH = 130.0
"""Until when data have to arrive for a mean from 100 s on [s] (assumed)."""

PACKET = 1500
"""Bytes of a packet of TCP (Section 5.2)."""

VIEWED = ("join_time_s", "end_s", "level_changes")


def pair(clip: Clip, run: Run) -> dict[str, Any]:
    """Return what the network shows of a clip over UDP and over TCP side by side, beside a ping.

    ``least`` and ``most`` are the clip's levels [kbit/s], ``udp`` and ``tcp`` mean rates until the last packet arrives
    [kbit/s], ``udp_ratio`` and ``tcp_ratio`` the buffering rate over the steady one, None without a steady one; ``rtt``
    [s] and ``p`` are the ping's until both have arrived, ``rtt_udp`` and ``p_udp`` until the one over UDP has, and
    ``chain`` is the throughput of TCP with the former [kbit/s], None without losses. ``udp_stalled`` and
    ``tcp_stalled`` are rebuffering ratios.
    """
    datagrams = run.traffic[0].arrivals
    assert datagrams is not None  # the flow is measured
    segments = run.flows[0].times
    arrived = {"udp": (datagrams.time, datagrams.size), "tcp": (segments, np.full(len(segments), PACKET))}
    found: dict[str, Any] = {"least": clip.rates[0] / 1e3, "most": clip.rates[-1] / 1e3}
    for name, (times, sizes) in arrived.items():
        found[name] = _round(8e-3 * sizes.sum() / times[-1])
        found[f"{name}_ratio"] = buffering_ratio(times, sizes)
    ends = {name: min(float(times[-1]), run.duration - WAIT) for name, (times, _) in arrived.items()}
    found["rtt"], found["p"] = pinged(run.traffic[2], max(ends.values()))
    found["rtt_udp"], found["p_udp"] = pinged(run.traffic[2], ends["udp"])
    stalled = {f"{name}_stalled": _round(_figures(run, k)["rebuffering_ratio"]) for k, name in enumerate(arrived)}
    return found | {"chain": chain(found["p"], found["rtt"])} | stalled


def pinged(ping: Traffic, until: float) -> tuple[float, float]:
    """Return the mean round trip time [s] and the losses of the pings sent while the clip came (Section 3.2)."""
    sent, _ = ping.noted("ping")
    back, rtts = ping.noted("rtt")
    counted = back - rtts <= until
    return _round(rtts[counted].mean()), round(1 - counted.sum() / (sent <= until).sum(), 5)


def scaling(clip: Clip, runs: list[Run]) -> dict[str, Any]:
    """Return what the application shows of a clip over UDP, and then over TCP, with nothing beside it.

    ``udp_adapted`` is when the coded rate is below 35 kbit/s for the first time [s], None if it never is.
    """
    found: dict[str, Any] = {"least": clip.rates[0] / 1e3, "most": clip.rates[-1] / 1e3, "levels": len(clip.rates)}
    for name, run in zip(("udp", "tcp"), runs):
        times, rates = run.traffic[0].noted("coded")
        below = times[rates < LIMIT]
        found[f"{name}_adapted"] = _round(below[0]) if len(below) else None
        found |= {f"{name}_{key}": _round(value) for key, value in _figures(run, 0).items() if key in VIEWED}
    return found


def buffering_ratio(times: Floats, sizes: NDArray[np.int64]) -> float | None:
    """Return the largest rate of 10 s in the first 80 s over the mean rate from 100 s on, if there is one."""
    end = times[-1]
    if end < LONG_ENOUGH:
        return None
    first = np.histogram(times, np.arange(0.0, FIRST + SPAN, SPAN), weights=sizes)[0].max() / SPAN
    steady = sizes[times >= FROM].sum() / (end - FROM)
    return _round(first / steady)


def chain(p: float, rtt: float) -> float | None:
    """Return the throughput of the chain [kbit/s] for the losses and round trips of a ping."""
    path = path_of(p, rtt)
    return None if path is None else _round(8e-3 * PACKET * tcp.throughput(path))


def path_of(p: float, rtt: float) -> Path | None:
    """Return the path of a ping's losses and round trips, timer 4 R; None without losses."""
    return Path(sender="classic", loss=min(p, LARGE_LOSS), rtt=rtt, rto=4 * rtt) if p > 0 else None


def _figures(run: Run, flow: int) -> dict[str, float]:
    source = run.scenario.flows[flow].source
    assert isinstance(source, Application)
    return source.figures(run.traffic[flow], run.duration)


def _round(value: float) -> float:
    """Return a value with four digits, for the record."""
    return float(f"{value:.4g}") if math.isfinite(value) else math.nan

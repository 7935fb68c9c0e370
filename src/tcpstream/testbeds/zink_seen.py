"""What a run of the bed of Zink et al. shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import sim
from ..sim.layers import VideoLayers, valid_layers, windowed_mean
from ..sim.tfrc.equation import throughput
from ..sim.tfrc.tfrc_figures import figures

STARTED = 60.0
"""The start is over [s]."""

EARLY = 20.0
"""The early phase [s]."""

DIGITS = 5


def shown(run: sim.Run, video: VideoLayers) -> dict[str, Any]:
    """Return what the client, and the cache, have of a video.

    After the start: ``valid`` and ``arrived`` layers of a frame, without and with those above a missing one,
    ``layer_1`` ..., the share of frames that have it and all below, ``changes`` of the valid and ``changes_flat`` of
    the arrived layers a frame, ``cache_valid`` and ``cache_changes`` at the cache, ``p`` and ``rtt`` of TFRC to the
    client. Of the whole video: ``valid_all``, ``flat_all`` and ``rate``, what the client receives [bit/s]. ``reached``,
    when the mean of 101 frames first has 90% of what it has after the start [s]; ``early`` and ``late``, its standard
    deviations in the early phase and after the start.
    """
    client = run.traffic[-1]
    assert client.arrivals is not None
    valid, flat = (valid_layers(video, client.arrivals.tag, hierarchical=one) for one in (True, False))
    first = round(STARTED / video.period)
    found = {"valid": valid[first:].mean(), "arrived": flat[first:].mean()}
    found |= {f"layer_{layer}": (valid[first:] >= layer).mean() for layer in range(1, video.count + 1)}
    found |= {"changes": _changes(valid[first:]), "changes_flat": _changes(flat[first:])}
    found |= {"valid_all": valid.mean(), "flat_all": flat.mean()}
    found["rate"] = 8 * client.arrivals.size.sum() / video.duration
    smooth = windowed_mean(valid)
    found["reached"] = video.period * int(np.argmax(smooth >= 0.9 * smooth[first:].mean()))
    found |= {"early": smooth[: round(EARLY / video.period)].std(), "late": smooth[first:].std()}
    if len(run.traffic) > 1:
        cache = run.traffic[0]
        assert cache.arrivals is not None
        held = valid_layers(video, cache.arrivals.tag)[first:]
        found |= {"cache_valid": held.mean(), "cache_changes": _changes(held)}
    paced = figures(client, STARTED, video.duration)
    found |= {"p": paced["p"], "rtt": paced["rtt_s"]}
    return {name: round(float(value), DIGITS) for name, value in found.items()}


def copied(traffic: sim.Traffic, video: VideoLayers) -> dict[str, Any]:
    """Return how a copy ends: lists, what is lacking and what was sent, whether it is right, and BYE."""
    found = {name: _noted(traffic, name) for name in ("lists", "lacking", "same", "bye", "sent")}
    missing = traffic.noted("missing")[1]
    return found | {"first": float(missing[0]) if len(missing) else 0.0, "segments": video.segments}


def equation(run: sim.Run) -> dict[str, Any]:
    """Return X over that of the equation at the loss-event rate, and that rate."""
    traffic = run.traffic[0]
    seen = figures(traffic, STARTED, run.duration)
    assert traffic.arrivals is not None
    after = traffic.arrivals.time >= STARTED
    sent = np.ptp(traffic.arrivals.number[after]) * 1000 / (run.duration - STARTED)
    events = seen["loss_event_rate"]
    return {"ratio": round(sent / throughput(1000, seen["rtt_s"], events), DIGITS), "events": round(events, 6)}


def _changes(layers: NDArray[np.int64]) -> float:
    return float(np.count_nonzero(np.diff(layers)) / len(layers))


def _noted(traffic: sim.Traffic, name: str) -> float:
    values = traffic.noted(name)[1]
    return float(values[0]) if len(values) else math.nan

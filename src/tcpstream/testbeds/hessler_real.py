"""RealPlayer of Hessler and Welzl: that of Chung, with their templates and what they saw without cross traffic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import sim
from ..sim.players.realplayer import RealPlayer

TEMPLATES = (20e3, 34e3, 225e3, 450e3)
"""Upper ends of the templates below the highest one [bit/s] (Section 2.2)."""

FAST = 45.0
"""Media come at 90 kB/s until then [s] (Section 3.1; Table 2 shows that kB are meant),"""

SPEED = 1.3
"""so many times as fast as the whole clip, 8301.8 kB, in its two minutes."""

PACKET, PACKET_TIME, SPREAD = 1200, 0.0165, 0.2
"""Bytes of a packet at most, media in one [s] (Section 3.1: 1200 bytes at first, less than 500 in congestion, which is
225 kbit/s here), and by which share sizes vary (assumed: none is longer than Ethernet's)."""

LAST = 96, 106
"""The last seconds in which an undisturbed server sends: the end of the measurement."""


def player(assumed: Mapping[str, float]) -> RealPlayer:
    """Return the player with its clip."""
    return RealPlayer(
        sim.Clip(120.0, (*TEMPLATES, assumed["real_top_bps"])),
        report=assumed["real_report_s"],
        most_loss=assumed["real_most_loss"],
        patience=assumed["real_patience"],
        hopeless=assumed["real_hopeless"],
        endures=20.0,
        burst=FAST,
        speeds=((math.inf, SPEED),),
        most_packet=PACKET,
        packet_time=PACKET_TIME,
        spread=SPREAD,
    )


def shown(run: sim.Run, assumed: Mapping[str, float]) -> dict[str, Any]:
    """Return what a run shows beside bytes: rates that are sent [kB/s], sizes of packets, and levels.

    ``first`` is the mean rate until cross traffic may begin, ``before`` and ``after`` those of 5 s before and after it
    begins, ``last`` that of the seconds `LAST`; ``packets_first`` and ``packets_under`` mean sizes [bytes] of packets
    that arrive before cross traffic, and in its last 20 s of a minute. ``rises`` is how long after such a minute a
    higher level arrives [s], None if none does.
    """
    traffic = run.traffic[0]
    assert traffic.bins is not None  # the scenario has them
    assert traffic.arrivals is not None  # the flow is measured
    sent = traffic.bins.sent / 1e3
    begin = run.scenario.flows[1].start if len(run.scenario.flows) > 1 else assumed["begin_s"]
    start, end = round(begin), begin + 60
    time, size = traffic.arrivals.time, traffic.arrivals.size
    coded, levels = traffic.noted("coded")
    rises = [at for at, before, after in zip(coded[1:], levels, levels[1:]) if at > end and after > before]
    under = (time >= end - 20) & (time < end)
    return {
        "first": round(float(sent[: int(assumed["begin_s"])].mean()), 2),
        "before": round(float(sent[start - 5 : start].mean()), 2),
        "after": round(float(sent[start : start + 5].mean()), 2),
        "last": round(float(sent[slice(*LAST)].mean()), 3),
        "packets_first": round(float(size[time < begin].mean()), 1),
        "packets_under": round(float(size[under].mean()), 1) if under.any() else None,
        "rises": round(float(rises[0] - end), 2) if rises else None,
    }

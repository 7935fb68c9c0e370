"""Sessions of a case, as many as there is time for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from differential_parts.agent import Agent, snapped
from tcpstream import throughput

from .cases import Case
from .downloads import fetched, transfers
from .players import buffers, lateness, skipping
from .remembering import remembering

Floats = NDArray[np.float64]

ROUNDS = 10_000_000
"""Rounds of a case, about; a second of the processor."""

SESSIONS = 200, 300_000
"""At least, and at most."""

LEARNING = 20_000_000
"""Rounds from which the law of thresholds is learnt at most."""

PACKET_BY_PACKET = 24
"""Packets of a round up to which servers that pace, and encoders of variable bit rate, have whole packets to send."""

RUNS = 128
"""Of a stream without end, a quarter of each before it is looked at."""


def sessions(case: Case, seed: int, rounds: float = ROUNDS) -> dict[str, Floats]:
    """Return what viewers of a case see, one a session; times [s]."""
    rng = np.random.default_rng([case.number, seed])
    path, R = case.to_path(), case.path["rtt"]
    if case.kind == "segments":
        return _segments(case, rounds, rng)
    play: Any = {"transfer": transfers, "skipping": skipping}.get(case.kind, lateness)
    agent = Agent(path, rng, int(min(LEARNING, rounds / 2)))
    sender: tuple[Any, ...] = agent._start, agent._tcp, agent._law
    T = throughput(path) * R
    if case.kind == "transfer":
        packets, setup = case.player["packets"], case.player["setup_round_trips"]
        return {"time": R * (setup + play(*sender, packets, _runs(rounds, packets / T + 5), rng))}
    video = case.to_video()
    m = video.packet_rate * R
    if case.kind == "skipping":
        tau, resume = case.player["start"], case.player.get("resume_buffer", 0.0)
        ahead = video.packet_rate * tau
        back = video.packet_rate * (tau - resume) + m if resume > 0 else -1.0
        each = int(rounds / RUNS * 0.75)
        found = play(*sender, m, ahead, back, each // 3, each, RUNS, rng)
        return {"stalls": found[:, 0] / each, "standing": found[:, 1] / each}
    assert video.duration is not None
    K, length = video.packets, video.duration / R
    if case.kind in ("waiting", "live", "paced"):
        curve = (np.array([0.0, length]), np.array([0.0, K]))
        if video.curve is not None:
            curve = np.array(video.curve[0]) / R, np.array(video.curve[1])
        exists = np.full(1, math.inf)
        i = np.arange(math.ceil(length) + 1)
        if case.kind == "live":
            exists = snapped(np.interp(i, *curve))
            if video.curve is not None and m <= PACKET_BY_PACKET:
                exists = np.append(np.floor(exists[:-1] + 1e-6), math.ceil(K - 1e-6))
        elif case.pacing is not None:
            exists = handed_over(m, case.pacing["burst"] * video.packet_rate + case.pacing["pace"] * m * i, K)
        runs = _runs(rounds, max(length, K / T))
        largest, first = play(*sender, exists, *curve, case.player["start"] / R, runs, rng)
        return {"largest": largest * R, "first": first * R}
    return _buffers(case, sender, _runs(rounds, max(length, K / T)), rng)


def handed_over(m: float, packets: Floats, all_of_them: float) -> Floats:
    """Return what there is to send of what a server that paces hands over: whole packets, or the parts that m has."""
    parts = parts_of(m) or int(m <= PACKET_BY_PACKET)
    whole = np.floor(packets * parts + 1e-9) / parts if parts else packets
    return np.asarray(np.minimum(whole, math.ceil(all_of_them - 1e-6)))


def parts_of(m: float) -> int:
    """Return of how many parts of a packet a round of playback is made, few of them; 0 if there are none."""
    return next((q for q in range(1, 5) if abs(m * q - round(m * q)) < 1e-9 and m * q < PACKET_BY_PACKET + 0.5), 0)


def _buffers(case: Case, sender: Any, runs: int, rng: np.random.Generator) -> dict[str, Floats]:
    path, video, player, R = case.to_path(), case.to_video(), case.player, case.path["rtt"]
    rate = video.packet_rate
    begin, resume = (max(1.0, rate * player[name]) for name in ("start_buffer", "resume_buffer"))
    stop = rate * player.get("client_buffer", math.inf)
    refill = rate * player.get("refill_at", player.get("client_buffer", math.inf))
    restarts = player.get("idle") == "restart" and refill < stop
    if refill >= stop and math.isfinite(stop) and (parts := parts_of(rate * R)):
        stop = refill = round(stop * parts) / parts
    start, tcp, law = sender
    own, knows = remembering(path)
    found = buffers(
        own if restarts else start, tcp, law, knows, rate * R, video.packets, (begin, resume, stop, refill), restarts,
        runs, rng,
    )  # fmt: skip
    stalls, stalled, join, first = found.T
    return {"stalls": stalls, "stalled": stalled * R, "join": join * R, "first": first / rate}


def _segments(case: Case, rounds: float, rng: np.random.Generator) -> dict[str, Floats]:
    path, video, player, R = case.to_path(), case.to_video(), case.player, case.path["rtt"]
    assert video.duration is not None
    segment, most = player["segment"], player["client_buffer"]
    many = math.ceil(video.duration / segment - 1e-9)
    packets = math.ceil(video.packet_rate * segment - 1e-9)
    starts, resumes = (
        max(1, math.ceil(player.get(name, segment) / segment - 1e-9)) for name in ("start_buffer", "resume_buffer")
    )
    runs = _runs(rounds, many * (packets / (throughput(path) * R) + 2))
    found = fetched(
        *remembering(path), many, packets, segment / R, most / R, min(starts, many), resumes,
        player["idle"] == "restart", runs, rng,
    )  # fmt: skip
    stalls, stalled, join, fetching, restarts, first = found.T
    return {
        "stalls": stalls,
        "stalled": stalled * R,
        "join": (join + player["setup_round_trips"]) * R,
        "fetching": fetching * R / many,
        "restarts": restarts / many,
        "first": first * segment,
    }


def _runs(rounds: float, each: float) -> int:
    return int(min(max(rounds / each, SESSIONS[0]), SESSIONS[1]))

"""Players with buffer thresholds on paths that vary, beside an agent that knows nothing of the chain of regimes.

Run ``python validation/varying_players.py`` (about half an hour on two cores for 40 cases). Paths and videos are those
of ``validation/varying.py``, buffers are drawn from the number of the case; what is recorded is not computed again, and
``--seconds`` stops after a case. The summary is printed in the end; ``--table`` prints nothing else.

The agent (`tests/twins/regime_agent.py`) draws what arrives round by round, and a player that counts rounds
(`tests/twins/buffered_sessions.py`) watches it. A mean over the runs is judged where at least a hundred of them have a
stall, and differs where it is off by more than `SIGMAS` standard errors and the stated error of the answer.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Player, TimeLimitError, Varying, Video
from varying import RUNS, SEED, SIGMAS, beside, drawn, recorded

sys.path.insert(0, str(FilePath(__file__).resolve().parents[1] / "tests" / "twins"))

import buffered_sessions  # type: ignore[import-not-found]
import regime_agent  # type: ignore[import-not-found]

RESULTS = FilePath(__file__).parent / "results" / "varying_players.jsonl"

CASES = 40
LONGEST = 120.0
"""Time that the answers of a case may take [s]."""

ANSWERS = ("stall_probability", "mean_stalls", "mean_total_rebuffer", "mean_join_time")

Floats = np.ndarray[Any, np.dtype[np.float64]]


def buffers(number: int) -> Player:
    """Return the player of a case."""
    rng = np.random.default_rng([SEED, number, 2])
    start, resume = (round(float(np.exp(rng.uniform(math.log(0.3), math.log(4.0)))), 2) for _ in range(2))
    return Player(start_buffer=start, resume_buffer=resume)


def simulated(path: Varying, video: Video, player: Player, number: int) -> dict[str, Floats]:
    """Return what the agent's viewers see, by run, by the names of the answers."""
    R, mu = path.rtt, video.packet_rate
    assert video.duration is not None
    assert player.start_buffer is not None
    rounds = round(video.duration / R)
    while True:  # until all has arrived in each run
        arrived = regime_agent.delivered(path, rounds, RUNS, np.random.default_rng([SEED, number, 3]))
        if arrived[:, -1].min() >= video.packets:
            break
        rounds *= 2
    begin, resume = (max(1.0, mu * one) for one in (player.start_buffer, player.resume_buffer))
    stalls, stalled, joined, _ = buffered_sessions.watched(arrived, mu * R, video.packets, begin, resume).T
    return dict(zip(ANSWERS, ((stalls > 0).astype(np.float64), stalls, stalled * R, joined * R)))


def record(number: int) -> dict[str, Any]:
    """Return the row of a case."""
    path, video, _ = drawn(number)
    player = buffers(number)
    row: dict[str, Any] = {
        "case": number,
        "tcp": path.tcp,
        "regimes": len(path.regimes),
        "bottleneck": path.regimes[0].bottleneck is not None,
        "start": path.start,
        "start_buffer_s": player.start_buffer,
        "resume_buffer_s": player.resume_buffer,
        "packet_rate_pps": video.packet_rate,
        "duration_s": video.duration,
        "T_over_mu": tcpstream.throughput(path) / video.packet_rate,
    }
    begin = time.perf_counter()
    try:
        with tcpstream.time_limit(LONGEST):
            seen = tcpstream.play(path, video, player)
            answers = {name: (float(getattr(seen, name)), float(seen.errors[name])) for name in ANSWERS}
    except TimeLimitError:
        return row | {"refused": f"takes more than {LONGEST:g} s"}
    except AccuracyError as error:
        return row | {"refused": str(error)}
    row["seconds"] = round(time.perf_counter() - begin, 2)
    runs = simulated(path, video, player, number)
    row["metrics"] = {name: beside(answers[name], runs[name]) for name in ANSWERS}
    return row


def summary(rows: list[dict[str, Any]]) -> str:
    """Return how many cases and metrics agree, and by how much they are off."""
    solved = [row for row in rows if "metrics" in row]
    lines = [f"{len(rows)} cases: {len(solved)} solved, {len(rows) - len(solved)} refused"]
    lines.append("metric                 judged   |z| < 2   largest |z|   differ   stated error, median")
    for name in ANSWERS:
        judged = [row["metrics"][name] for row in solved if row["metrics"][name]["z"] is not None]
        z = [abs(one["z"]) for one in judged]
        near = f"{sum(x < 2 for x in z) / max(len(z), 1):.1%}"
        differ = sum(x >= SIGMAS for x in z)
        stated = float(np.median([one["stated"] / one["value"] for one in judged])) if judged else math.nan
        lines.append(f"{name:<21}{len(z):>8}{near:>10}{max(z, default=0):>14.2f}{differ:>9}{stated:>24.2%}")
    return "\n".join(lines)


if __name__ == "__main__":
    recorded(__doc__, RESULTS, CASES, record, summary)

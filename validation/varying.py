"""Paths that vary beside an agent that knows nothing of the chain of regimes: stored, live and play.

Run ``python validation/varying.py`` (about half an hour on one core for 200 cases). Each case is drawn from its
number alone; what is recorded is not computed again, and ``--seconds`` stops after a case. The summary is printed in
the end; ``--table`` prints nothing else.

The agent (`tests/twins/regime_agent.py`) draws stays in continuous time and rounds from the rows of the regime of each
round. What is compared are means over its runs: a metric is judged where at least `FEWEST` runs have something late,
and differs where it is off by more than `SIGMAS` standard errors and the stated error of the answer.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Path, Play, Player, TimeLimitError, Varying, Video
from tcpstream.errors import unremarked
from tcpstream.system.log import appending, read

sys.path.insert(0, str(FilePath(__file__).resolve().parents[1] / "tests" / "twins"))

import regime_agent  # type: ignore[import-not-found]

RESULTS = FilePath(__file__).parent / "results" / "varying.jsonl"

SEED, CASES = 86, 200
RUNS, FEWEST, SIGMAS = 20_000, 100, 4.0
LONGEST = 30.0
"""Time that the answers of a case may take [s]."""

LOADS = 0.8, 2.5
"""T / mu."""

Floats = np.ndarray[Any, np.dtype[np.float64]]
Rows = list[dict[str, Any]]


def drawn(number: int) -> tuple[Varying, Video, list[float]]:
    """Return the path, the video and the startup delays of a case."""
    rng = np.random.default_rng([SEED, number])
    tcp, rtt = str(rng.choice(["reno-sack", "reno-sack", "cubic"])), float(rng.choice([0.05, 0.1, 0.2]))
    sender: dict[str, Any] = {"sender": "classic", "tcp": tcp, "rto": rtt + float(rng.choice([0.0, 0.1, 0.2]))}
    sender |= {"initial_window": [None, 2][rng.integers(2)]}
    narrow, k = bool(rng.integers(2)), int(rng.integers(2, 5))
    if not narrow:
        sender["max_window"] = int(rng.integers(4, 8 if tcp == "cubic" else 25))
    regimes = []
    for _ in range(k):
        network: dict[str, Any] = {"loss": float(np.exp(rng.uniform(math.log(0.003), math.log(0.2)))), "rtt": rtt}
        if narrow:
            pipe = int(rng.integers(2, 6 if tcp == "cubic" else 13))
            network |= {"bottleneck": pipe / rtt, "buffer": int(rng.integers(0, pipe + 1))}
        with unremarked():
            regimes.append(Path(**network, **sender))
    stays = np.exp(rng.uniform(math.log(0.5), math.log(60.0), k)).tolist()
    to = rng.random((k, k)) * (1 - np.eye(k))
    start = [None, *range(k)][rng.integers(k + 1)]
    varying = Varying(regimes, stays, to=to / to.sum(axis=1, keepdims=True), start=start)
    per_round = tcpstream.throughput(varying) * rtt / rng.uniform(*LOADS)
    video = Video(packet_rate=max(1, round(2 * per_round)) / 2 / rtt, duration=rtt * int(rng.integers(60, 201)))
    return varying, video, [round(float(tau), 2) for tau in sorted(rng.uniform(0.2, 5.0, 3))]


def solved(varying: Varying, video: Video, delays: list[float]) -> dict[str, tuple[float, float]]:
    """Return answers by name, each with its stated error: at each delay, and once more on coarse lattices.

    What these refuse is left out.
    """
    found: dict[str, tuple[float, float]] = {}
    exact, coarse = (tcpstream.stored(varying, video, accuracy=one) for one in ("exact", "fine"))
    live = tcpstream.live(varying, video)
    watched = tcpstream.play(varying, video, Player(start=delays[0]), accuracy="exact")
    assert isinstance(watched, Play)
    for i, tau in enumerate(delays):
        for name, one in (("stored", exact), ("coarse", coarse)):
            f, share = float(one.late_fraction(tau)), float(one.relative_error(tau))
            found[f"{name} f {i}"] = f, f * share + one.error_bound
            try:
                late, off = one.stalled(np.array([tau]))
            except TimeLimitError:
                raise
            except AccuracyError:
                if name != "coarse":
                    raise
                continue
            found[f"{name} any late {i}"] = float(late[0]), float(off[0])
        f = float(live.late_fraction(tau))
        found[f"live f {i}"] = f, f * float(live.lattice_error(tau)) + live.error_bound
        longer = float(watched.longer_than(tau - delays[0]))
        found[f"play longer {i}"] = longer, float(watched.longer_than_error(tau - delays[0]))
    return found


def simulated(varying: Varying, video: Video, delays: list[float], number: int) -> dict[str, Floats]:
    """Return what the agent says by run, by the names of the answers."""
    rng, R = np.random.default_rng([SEED, number, 1]), varying.rtt
    assert video.duration is not None
    rounds = round(video.duration / R)
    last = rounds + math.ceil(delays[-1] / R)
    stored = np.minimum(regime_agent.delivered(varying, last, RUNS, rng), video.packets)
    exists = np.minimum(video.packet_rate * R * np.arange(last + 1), video.packets)
    live = regime_agent.delivered(varying, last, RUNS, rng, exists)
    found: dict[str, Floats] = {}
    for i, tau in enumerate(delays):
        judged = rounds + math.ceil(tau / R - 1e-9)
        due = np.clip(video.packet_rate * (R * np.arange(judged + 1) - tau), 0, video.packets)
        late, any_late = regime_agent.lateness(stored[:, :judged], due)
        for name in ("stored", "coarse"):
            found[f"{name} f {i}"], found[f"{name} any late {i}"] = late / video.packets, any_late.astype(float)
        found[f"play longer {i}"] = any_late.astype(float)
        found[f"live f {i}"] = regime_agent.lateness(live[:, :judged], due)[0] / video.packets
    return found


def record(number: int) -> dict[str, Any]:
    """Return the row of a case."""
    varying, video, delays = drawn(number)
    row: dict[str, Any] = {
        "case": number,
        "tcp": varying.tcp,
        "regimes": len(varying.regimes),
        "bottleneck": varying.regimes[0].bottleneck is not None,
        "start": varying.start,
        "delays_s": delays,
        "packet_rate_pps": video.packet_rate,
        "duration_s": video.duration,
        "T_over_mu": tcpstream.throughput(varying) / video.packet_rate,
    }
    begin = time.perf_counter()
    try:
        with tcpstream.time_limit(LONGEST):
            answers = solved(varying, video, delays)
    except TimeLimitError:
        return row | {"refused": f"takes more than {LONGEST:g} s"}
    except AccuracyError as error:
        return row | {"refused": str(error)}
    row["seconds"] = round(time.perf_counter() - begin, 2)
    runs = simulated(varying, video, delays, number)
    row["metrics"] = {name: beside(answers[name], runs[name]) for name in answers}
    return row


def beside(answer: tuple[float, float], runs: Floats) -> dict[str, float | int | None]:
    """Return an answer, its stated error, the agent's mean with its standard error, and z where it is judged."""
    value, off = answer
    mean, error, count = float(runs.mean()), float(runs.std(ddof=1) / math.sqrt(len(runs))), int((runs > 0).sum())
    judged = count >= FEWEST and (count <= len(runs) - FEWEST or error > 0)
    z = math.copysign(max(0.0, abs(value - mean) - off), value - mean) / error if judged else None
    return {"value": value, "stated": off, "agent": mean, "standard_error": error, "runs_late": count, "z": z}


def summary(rows: list[dict[str, Any]]) -> str:
    """Return how many cases and metrics agree, and by how much they are off."""
    solved_rows = [row for row in rows if "metrics" in row]
    refused = [row for row in rows if "refused" in row]
    lines = [f"{len(rows)} cases: {len(solved_rows)} solved, {len(refused)} refused"]
    lines.append("metric            judged   |z| < 2   largest |z|   differ")
    for name in ("stored f", "stored any late", "coarse f", "coarse any late", "live f", "play longer"):
        z = [
            abs(one["z"])
            for row in solved_rows
            for key, one in row["metrics"].items()
            if key.rpartition(" ")[0] == name and one["z"] is not None
        ]
        near = f"{sum(x < 2 for x in z) / max(len(z), 1):.1%}"
        lines.append(f"{name:<16}{len(z):>8}{near:>10}{max(z, default=0):>14.2f}{sum(x >= SIGMAS for x in z):>9}")
    return "\n".join(lines)


def recorded(
    about: str, results: FilePath, cases: int, row: Callable[[int], dict[str, Any]], told: Callable[[Rows], str]
) -> None:
    """Record cases that are missing, and print the summary, as the command line says."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after a case, once so many have passed")
    parser.add_argument("--table", action="store_true", help="print the summary of what is recorded")
    given = parser.parse_args()
    results.touch()
    rows = read(results)
    begin, known = time.monotonic(), {one["case"] for one in rows}
    if not given.table:
        with appending(results) as append:
            for number in range(given.cases):
                if number in known:
                    continue
                if time.monotonic() - begin > given.seconds:
                    break
                rows.append(row(number))
                append(rows[-1])
    print(told(rows))


if __name__ == "__main__":
    recorded(__doc__, RESULTS, CASES, record, summary)

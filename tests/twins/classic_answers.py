"""Answers of paths with the classic sender, and the file of those before the change of the default sender.

    python tests/twins/classic_answers.py FILE

writes them. The recorded file was made at the commit before that change, ce57c25, where paths named no sender.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import scipy

import tcpstream
from tcpstream.answers.coarse_live import CoarseLive
from tcpstream.answers.plan import QUICK, live_seconds

RECORDED = Path(__file__).parents[1] / "contract" / "classic_answers.json"
CASES = 300


def machine() -> dict[str, str]:
    """What decides the last bits of a sum: libraries, and the processor that they are compiled for."""
    versions = {one.__name__: one.__version__ for one in (np, scipy, numba)}
    return versions | {"processor": llvmlite.binding.get_host_cpu_name()}


def cases() -> list[dict[str, Any]]:
    """Paths, videos and questions, drawn once: small windows, so that each takes hundredths of a second."""
    rng = np.random.default_rng(91)
    return [_case(rng) for _ in range(CASES)]


def _case(rng: np.random.Generator) -> dict[str, Any]:
    rtt = round(10 ** rng.uniform(-1.3, -0.3), 4)
    path: dict[str, Any] = {"loss": round(10 ** rng.uniform(-1.7, -0.7), 4), "rtt": rtt}
    timer = rng.integers(3)
    if timer == 1:
        path["rto"] = round(rtt * rng.uniform(1, 4), 4)
    elif timer == 2:
        path["timeout_ratio"] = round(rng.uniform(1, 6), 2)
    kind = str(rng.choice(["throughput", "live", "stored"], p=[0.34, 0.05, 0.61]))
    if kind == "live" or rng.random() < 0.7:
        path["max_window"] = int(rng.integers(4, 9))
    for name, values in {
        "losses": ("bursts", "independent"),
        "tcp": ("reno", "reno-sack"),
        "rounds_per_increase": (1, 2),
        "backoff": ("rfc6298", "paper"),
        "halving": ("floor", "ceil"),
        "detection": ("duplicates", "rack"),
    }.items():
        if rng.random() < 0.25 and not (name == "tcp" and "losses" in path):
            chosen = rng.choice(values)
            path[name] = int(chosen) if name == "rounds_per_increase" else str(chosen)
    if rng.random() < 0.2:
        path["initial_window"] = int(rng.integers(1, min(path.get("max_window", 10), 10) + 1))
    return {"path": path, "kind": kind, "T_over_mu": round(rng.uniform(1.5, 2.5), 2), "duration": 5}


def answer(case: dict[str, Any], **sender: str) -> tuple[list[float], bool]:
    """T [packets/s]; and of a live or a stored video f at two delays and the delay for f = 1e-3; whether iterated."""
    path = tcpstream.Path(**sender, **case["path"])
    throughput = tcpstream.throughput(path)
    if case["kind"] == "throughput":
        return [throughput], False
    # A rate with few digits: the answers are of one video, whatever the last bits of T.
    rate = float(f"{throughput / case['T_over_mu']:.3g}")
    if case["kind"] == "live":
        video = tcpstream.Video(packet_rate=rate)
        # Off the lattice of a quick exact solve coarse ones have become the default since.
        exact = "exact" if live_seconds(path, video) <= QUICK else None
        result: Any = tcpstream.live(path, video, accuracy=exact)
    else:
        result = tcpstream.stored(path, tcpstream.Video(packet_rate=rate, duration=case["duration"]))
    answers = [throughput, *map(float, result.late_fraction([0.5, 2.0])), result.required_delay(1e-3)]
    return answers, isinstance(result, CoarseLive)


def main(file: str) -> None:
    """Write the answers of paths that name no sender."""
    made = [[value.hex() for value in answer(case)[0]] for case in cases()]
    assert all(math.isfinite(float.fromhex(value)) for row in made for value in row)
    about = {
        "about": "answers of paths that name no sender, at the commit before the default sender changed",
        "commit": "ce57c25",
        "made by": "tests/twins/classic_answers.py",
        "machine": machine(),
        "answers": made,
    }
    Path(file).write_text(json.dumps(about, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

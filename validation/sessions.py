"""A hundred thousand sessions: how long ``tcpstream score`` takes, and how far it is off.

Run ``python validation/sessions.py`` (a quarter of an hour on two cores); ``--sender classic --tcp reno-sack`` takes
less. Sessions of four made-up networks are drawn, with log-normal round trip times and loss rates; each is asked
about a video of 6 Mbit/s that lasts 10 minutes. Then some that were not solved are drawn evenly and solved: how often
the stated errors hold is recorded. Solved sessions are kept in ``build``, and an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path as FilePath

import numpy as np
import pandas as pd

import tcpstream

RESULTS = FilePath(__file__).parent / "results"
STORE = FilePath("build") / "sessions.solved.jsonl"

NETWORKS = {
    "fibre": (0.012, 0.5, 3e-4),
    "cable": (0.025, 0.4, 1e-3),
    "mobile": (0.05, 0.4, 2e-3),
    "far": (0.14, 0.3, 1e-3),
}
"""Median round trip time [s], its logarithmic standard deviation, and median loss rate."""

SHARES, SPREAD = (0.35, 0.35, 0.2, 0.1), 0.9
"""Of the networks in the sessions, and the logarithmic standard deviation of the loss rate."""

BITRATE, DURATION, TIME_LIMIT = 6e6, 600.0, 900.0


def drawn(count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return so many sessions."""
    names = rng.choice(list(NETWORKS), count, p=SHARES)
    median, sigma, loss = (np.array([NETWORKS[name][i] for name in names]) for i in range(3))
    return pd.DataFrame(
        {
            "network": names,
            "rtt_ms": 1e3 * median * np.exp(sigma * rng.standard_normal(count)),
            "loss": np.minimum(loss * np.exp(SPREAD * rng.standard_normal(count)), 0.3),
        }
    )


def covered(told: pd.DataFrame, solved: pd.DataFrame, name: str, error: str) -> dict[str, float]:
    """Return how far answers are off, and in which part of them by no more than both errors."""
    off = np.abs(told[name].to_numpy() - solved[name].to_numpy())
    stated = told[error].to_numpy() + solved[error].to_numpy()
    return {
        "mean_off": float(off.mean()), "largest_off": float(off.max()), "mean_stated": float(told[error].mean()),
        "covered": float((off <= stated + 1e-12).mean()),
    }  # fmt: skip


def main() -> None:
    """Run and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--solves", type=int, default=32)
    parser.add_argument("--checks", type=int, default=16)
    parser.add_argument("--sender", default="linux")
    parser.add_argument("--tcp")
    parser.add_argument("--record", help="name of the record; by default that of the sender")
    options = parser.parse_args()
    sender = {"sender": options.sender} | ({} if options.tcp is None else {"tcp": options.tcp})
    STORE.parent.mkdir(exist_ok=True)
    table = drawn(options.sessions, np.random.default_rng(2026))
    wall, cpu = time.monotonic(), time.process_time()
    scores = tcpstream.score(
        table,
        bitrate=BITRATE,
        duration=DURATION,
        group_by="network",
        solves=options.solves,
        time_limit=TIME_LIMIT,
        store=STORE,
        **sender,
    )
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    answers = scores.to_pandas()
    told = answers[answers["answered_by"] == "inferred"]
    chosen = told.iloc[np.random.default_rng(7).choice(len(told), options.checks, replace=False)]
    fresh = tcpstream.score(
        table.loc[chosen.index],
        bitrate=BITRATE,
        duration=DURATION,
        solves=options.checks,
        time_limit=TIME_LIMIT,
        store=STORE,
        **sender,
    ).to_pandas()
    good = (fresh["no_answer"] == "").to_numpy()
    chosen, fresh = chosen[good], fresh[good]
    edge = (chosen["stall_probability"] > 1e-3) & (chosen["stall_probability"] < 1 - 1e-3)
    record = {
        **sender,
        "sessions": options.sessions, "cases": scores.cases, "solved": scores.solved, "wall_s": round(wall, 1),
        "cpu_s": round(cpu, 1), "memory_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "answered": scores.groups[0].answered, "coverage": scores.coverage,
        "mean_stall_error": float(answers["stall_probability_error"].mean()),
        "mean_delay_error_s": float(answers["required_delay_error_s"].mean()),
        "between_0.001_and_0.999": float(answers["stall_probability"].between(1e-3, 1 - 1e-3).mean()),
        "checked": len(chosen), "checked_between": int(edge.sum()),
        "stall": covered(chosen, fresh, "stall_probability", "stall_probability_error"),
        "delay": covered(chosen, fresh, "required_delay_s", "required_delay_error_s"),
        "groups": scores.to_dict()["groups"],
    }  # fmt: skip
    (RESULTS / f"sessions_{options.record or options.sender}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps({key: record[key] for key in record if key != "groups"}, indent=1))
    print(scores.summary())


if __name__ == "__main__":
    main()

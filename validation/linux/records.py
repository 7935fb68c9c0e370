"""The recorded runs, and the chain of each: ``python validation/linux/records.py`` records what `matrix.py` made."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from conditions import Condition, disturbed

from tcpstream import Path
from tcpstream.system.log import read

RAW = FilePath(__file__).parent.parent / "results" / "linux_runs.jsonl"
RECORDED = RAW.with_suffix(".jsonl.gz")

CHAINS = {("round", "reno"): "reno", ("bernoulli", "reno"): "reno-sack", ("bernoulli", "cubic"): "cubic"}
"""The chain for losses and a kernel's congestion control."""

LINUX: dict[str, Any] = {"detection": "rack", "initial_window": 10}
"""What Linux does beside, as far as the chains can: RACK-TLP, and slow start from 10 packets."""

Record = dict[str, Any]


def recorded() -> list[Record]:
    """Return the recorded runs that nothing disturbed."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [one for one in records if not disturbed(one)]


def record() -> None:
    """Record the last run of each condition."""
    runs = {run_name(one): one for one in read(RAW)}
    lines = "".join(json.dumps(one) + "\n" for one in runs.values())
    RECORDED.write_bytes(gzip.compress(lines.encode(), mtime=0))


def kind(record: Record) -> str:
    """Return what a run sent, as `Condition.kind`."""
    return Condition(**record["condition"]).kind


def run_name(record: Record) -> str:
    """Return what tells a run from others."""
    return Condition(**record["condition"]).name


def together(records: list[Record]) -> list[Record]:
    """Return one record for all runs of files or stored videos that differ in their seed only."""
    groups: dict[str, list[Record]] = {}
    for one in records:
        groups.setdefault(run_name({"condition": {**one["condition"], "seed": 0}}), []).append(one)
    return [
        {
            "condition": {**group[0]["condition"], "seed": len(group)},
            **(_videos if "videos" in group[0] else _file)(group),
        }
        for group in groups.values()
    ]


def _videos(group: list[Record]) -> Record:
    """Return the late shares of all videos."""
    videos = np.array([one["videos"] for one in group])
    weights = (videos / videos.sum())[:, np.newaxis, np.newaxis]
    shares, errors = np.moveaxis(np.array([one["late"] for one in group]), -1, 0)
    share, error = (weights * shares).sum(axis=0), np.sqrt(((weights * errors) ** 2).sum(axis=0))
    return {"videos": int(videos.sum()), "late": np.stack([share, error], axis=-1).tolist()}


def _file(group: list[Record]) -> Record:
    """Return the mean of runs, and of their estimates."""

    def mean(values: list[float]) -> float:
        return float(np.mean(values))

    return {
        **{name: mean([one[name] for one in group]) for name in ("throughput", "rto", "mean_lateness")},
        **{name: sum(one[name] for one in group) for name in ("first_losses", "asked")},
        "throughput_error": math.hypot(*(one["throughput_error"] for one in group)) / len(group),
        "estimate": {
            name: mean([one["estimate"][name] for one in group])
            for name in ("loss", "loss_event_rate", "rtt_s", "rto_s")
        },
    }


def place(record: Record) -> tuple[Any, ...]:
    """Return the path and the sender of a run."""
    condition = record["condition"]
    return tuple(condition[name] for name in ("losses", "p", "rtt", "tcp", "sack", "rate", "queue"))


def chain(record: Record) -> str | None:
    """Return the name of the chain of a run; None where there is none."""
    condition = record["condition"]
    if not condition["sack"] or condition["rate"]:
        return None
    return CHAINS.get((condition["losses"], condition["tcp"]))


def loss(record: Record) -> float:
    """Return the p of a run: first losses over the packets that could be one, as the path saw them."""
    return float(record["first_losses"] / record["asked"])


def measured_path(record: Record, **chosen: Any) -> Path:
    """Return the path of a run as `tcpstream estimate` finds it in its capture: nothing else is used."""
    return estimated(record, chain(record) or "reno", **chosen)


def estimated(record: Record, tcp: str, **chosen: Any) -> Path:
    """Return the path that `tcpstream estimate` finds, for any chain."""
    found = record["estimate"]
    p = found["loss_event_rate"] if tcp == "reno" else found["loss"]
    values = {"loss": p, "rtt": found["rtt_s"], "rto": max(found["rto_s"], found["rtt_s"]), "tcp": tcp}
    return Path(sender="classic", **(values | LINUX | chosen))


def with_throughput(path: Path, T: float) -> Path:
    """Return a path with the p at which its chain has T [packets/s]."""
    kept = {name: getattr(path, name) for name in ("rtt", "rto", "tcp", "detection", "initial_window")}
    return Path.from_throughput(T, sender="classic", **kept)


if __name__ == "__main__":
    record()

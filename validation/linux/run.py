"""One run, in a process of its own: ``python run.py CONDITION``, the condition as JSON; prints the record as JSON."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from conditions import WARMUP, Condition
from emulator import Emulator, Seen, Source, Steady, deliveries, real_time
from losses import PROCESSES
from namespaces import ends

from tcpstream import TcpstreamError, estimate

BUFFER = 8 << 20
"""Of the sender and of the receiver [bytes]."""

DELAYS = (0.5, 1, 2, 3, 4, 6, 8, 10, 15, 20)
"""Startup delays [s]."""

RECOVERY = 10.0
"""What follows a stall for so long [s] is left out: false timeouts, and a smoothed round trip that remembers."""

PIECE = 5.0
"""Pieces of a run that count or do not [s]."""

BATCHES = 20
"""Groups of pieces, for the standard error of T."""


def run(condition: Condition) -> dict[str, Any]:
    """Make a run."""
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    priority = real_time()
    made = ends(condition.tcp, {"tcp_sack": int(condition.sack)}, BUFFER)
    losses = PROCESSES[condition.losses](condition.p, rng)
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "sender.pcap"
        emulator = Emulator(made, condition.rtt / 2, losses, capture=capture)
        live = condition.packet_rate > 0
        seen = emulator.run(Steady(condition.packet_rate) if live else Source(), condition.seconds)
        estimated = _estimated(capture)
    times, late, info = deliveries(seen), np.array(seen.late), np.array(seen.info)
    whole = np.linspace(0, condition.seconds, math.ceil(condition.seconds / PIECE) + 1)
    good = _undisturbed(whole, seen)
    rates = np.histogram(times, whole)[0][good] / np.diff(whole)[good]
    quiet = good[np.searchsorted(whole, info[:, 0], side="right").clip(1, len(good)) - 1]
    record = {
        "condition": condition.to_dict(),
        "seconds": condition.seconds,
        "left_out": float(1 - good.sum() / (whole[:-1] >= WARMUP).sum()),
        "stalled_packets": len(seen.stalls),
        "latest": float(late.max()),
        "priority": priority,
        "throughput": float(rates.mean()),
        "throughput_error": _standard_error(rates),
        "loss": losses.lost / max(1, losses.asked if condition.losses != "round" else seen.sent),
        "first_losses": losses.first / max(1, losses.asked),
        "rtt": float(info[quiet, 1].mean()),
        "rto": float(np.median(info[quiet & (info[:, 3] == 0), 2])),
        "timeouts": float((np.diff(info[:, 3]) > 0).sum()),
        "estimate": estimated,
    }
    if live:
        generated = np.arange(1, len(times) + 1) / condition.packet_rate
        judged = good[np.searchsorted(whole, generated, side="right").clip(1, len(good)) - 1]
        record["late"] = [float((times - generated > tau)[judged].mean()) for tau in DELAYS]
    return record


def _undisturbed(edges: np.ndarray, seen: Seen) -> np.ndarray:
    """Return which pieces count: neither at the start, nor in or soon after a stall."""
    good = edges[:-1] >= WARMUP
    for at, length in seen.stalls:
        good &= (edges[1:] <= at) | (edges[:-1] >= at + length + RECOVERY)
    return good


def _standard_error(rates: np.ndarray) -> float:
    """Return the standard error of the mean of rates that depend on their neighbours."""
    means = [batch.mean() for batch in np.array_split(rates, BATCHES)]
    return float(np.std(means, ddof=1) / math.sqrt(BATCHES))


def _estimated(capture: Path) -> dict[str, Any]:
    """Return what `tcpstream estimate` finds in the sender's capture."""
    try:
        return estimate(capture).to_dict()
    except TcpstreamError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    print(json.dumps(run(Condition(**json.loads(sys.argv[1])))))

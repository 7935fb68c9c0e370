"""One run, in a process of its own: ``python run.py CONDITION``, the condition as JSON; prints the record as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from conditions import WARMUP, Condition
from emulator import Emulator, Source, Steady, deliveries, real_time
from losses import PROCESSES
from namespaces import ends

from tcpstream import TcpstreamError, estimate

BUFFER = 8 << 20
"""Of the sender and of the receiver [bytes]."""

DELAYS = (0.5, 1, 2, 3, 4, 6, 8, 10, 15, 20)
"""Startup delays [s]."""

STALL, TIMER = 0.02, 0.2
"""Packets later than these [s] are counted: by a visible part of a round trip, and by what makes a timer run out."""

BATCHES = 40
"""Pieces of a run, for the standard error of T."""


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
    counted = times[times > WARMUP]
    length = condition.seconds - WARMUP
    batches = np.histogram(counted, BATCHES, (WARMUP, condition.seconds))[0] * BATCHES / length
    record = {
        "condition": condition.to_dict(),
        "seconds": condition.seconds,
        "latest": float(late.max()),
        "stalls": int((np.diff((late > TIMER).astype(int)) > 0).sum()),
        "late_share": float((late > STALL).mean()),
        "priority": priority,
        "throughput": len(counted) / length,
        "throughput_error": float(batches.std(ddof=1) / np.sqrt(BATCHES)),
        "loss": losses.lost / max(1, losses.asked if condition.losses != "round" else seen.sent),
        "first_losses": losses.first / max(1, losses.asked),
        "rtt": float(info[:, 1].mean()),
        "rto": float(np.median(info[info[:, 3] == 0, 2])),
        "timeouts": float((np.diff(info[:, 3]) > 0).sum()),
        "estimate": estimated,
    }
    if live:
        generated = np.arange(1, len(times) + 1) / condition.packet_rate
        judged = generated > WARMUP
        record["late"] = [float((times - generated > tau)[judged].mean()) for tau in DELAYS]
    return record


def _estimated(capture: Path) -> dict[str, Any]:
    """Return what `tcpstream estimate` finds in the sender's capture."""
    try:
        return estimate(capture).to_dict()
    except TcpstreamError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    print(json.dumps(run(Condition(**json.loads(sys.argv[1])))))

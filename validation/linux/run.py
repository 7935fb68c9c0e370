"""One run, in a process of its own: ``python run.py CONDITION``, the condition as JSON; prints the record as JSON."""

from __future__ import annotations

import fcntl
import json
import math
import platform
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from conditions import RATIOS, WARMUP, Condition
from emulator import MSS, Emulator, Seen, Source, Steady, deliveries, everyday, real_time
from losses import PROCESSES, Losses
from namespaces import ends

BUFFER = 1 << 20
"""Of the sender and of the receiver [bytes], which the kernel doubles: some 900 packets of its memory for TCP."""

DELAYS = (0.25, 0.5, 1, 2, 3, 4, 6, 8, 10, 15, 20)
"""Startup delays [s]."""

RECOVERY = 10.0
"""What follows a stall for so long [s] is left out: false timeouts, and a smoothed round trip that remembers."""

PIECE = 5.0
"""Pieces of a run that count or do not [s]."""

BATCHES = 20
"""Groups of pieces, for the standard errors."""

CAPTURED = 1000.0
"""Captured from the start of a connection [s]."""

SEGMENT = 150.0
"""A capture is also estimated in segments of so long [s]."""

MEMORY = Path("/dev/shm")
"""Where captures are written: no disk to wait for."""


def run(condition: Condition) -> dict[str, Any]:
    """Make a run."""
    rng = np.random.default_rng(zlib.crc32(condition.name.encode()))
    losses = PROCESSES[condition.losses](condition.p, rng)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.exists() else None) as folder:
        capture = Path(folder) / "sender.pcap"
        priority = real_time()
        measure = {"stored": _stored, "pieces": _pieces}.get(condition.kind, _long)
        found = measure(condition, losses, capture)
        everyday()
        with _alone():
            estimates = _estimates(capture, condition.piece or SEGMENT)
    return {
        "condition": condition.to_dict(),
        "kernel": platform.release().split("-")[0],
        "priority": priority,
        "first_losses": losses.first,
        "asked": losses.asked,
        "lost": losses.lost,
        **found,
        **estimates,
    }


def _connect(
    condition: Condition,
    losses: Losses,
    capture: Path | None,
    chain: Source,
    seconds: float,
    enough: float = math.inf,
) -> Seen:
    """Return what a new connection does."""
    made = ends(condition.tcp, {"tcp_sack": int(condition.sack)}, BUFFER)
    rate = condition.rate * 1e6 or None
    captured = condition.seconds if condition.piece else CAPTURED
    emulator = Emulator(
        made, condition.rtt / 2, losses, rate=rate, queue=condition.queue, capture=capture, captured=captured
    )
    return emulator.run(chain, seconds, enough)


def source(condition: Condition) -> Source:
    """Return what a long connection sends: a file, or a live stream."""
    return Steady(condition.packet_rate) if condition.kind == "live" else Source()


def _long(condition: Condition, losses: Losses, capture: Path) -> dict[str, Any]:
    """Measure one long connection."""
    return measured(condition, _connect(condition, losses, capture, source(condition), condition.seconds))


def measured(condition: Condition, seen: Seen) -> dict[str, Any]:
    """Return the record of what a long connection saw."""
    times, info = deliveries(seen), np.array(seen.info)
    whole = np.linspace(0, condition.seconds, math.ceil(condition.seconds / PIECE) + 1)
    good = undisturbed(whole, seen)
    counts = np.histogram(times, whole)[0]
    rates = counts[good] / np.diff(whole)[good]
    quiet = good[_piece(whole, info[:, 0])]
    record = {
        "left_out": float(1 - good.sum() / (whole[:-1] >= WARMUP).sum()),
        **_lateness(seen),
        "sent": seen.sent,
        "dropped_by_queue": seen.dropped_by_queue,
        "throughput": float(rates.mean()),
        "throughput_error": _standard_error(rates),
        "series": counts.tolist(),
        "disturbed_pieces": np.flatnonzero(~good).tolist(),
        "rtt": float(info[quiet, 1].mean()),
        "rto": float(np.median(info[quiet & (info[:, 3] == 0), 2])),
        "rto_mean": float(info[quiet & (info[:, 3] == 0), 2].mean()),
        "timeouts": int((np.diff(info[:, 3]) > 0).sum()),
    }
    if condition.kind == "live":
        generated = np.arange(1, len(times) + 1) / condition.packet_rate
        piece = _piece(whole, generated)
        record["late"] = [_shares(times - generated > tau, piece, good) for tau in DELAYS]
    return record


def _stored(condition: Condition, losses: Losses, capture: Path) -> dict[str, Any]:
    """Measure one video after the other, each over a new connection."""
    packets = round(condition.packet_rate * condition.video)
    late, lateness, sent, fetched = [], [], 0, 0
    end = time.monotonic() + condition.seconds
    while time.monotonic() < end:
        seen = _connect(
            condition, losses, None if fetched else capture, Source(), condition.video + max(DELAYS), packets * MSS
        )
        fetched += 1
        times = deliveries(seen)[:packets]
        lateness.append(_lateness(seen))
        sent += seen.sent
        if seen.stalls:
            continue
        late.append([_late(times, condition.packet_rate * RATIOS[0] / ratio, condition.video) for ratio in RATIOS])
    shares = np.array(late)
    errors = shares.std(axis=0, ddof=1) / math.sqrt(len(late))
    return {
        "left_out": 1 - len(late) / fetched,
        "latest": max(one["latest"] for one in lateness),
        "mean_lateness": float(np.mean([one["mean_lateness"] for one in lateness])),
        "stalled_packets": sum(one["stalled_packets"] for one in lateness),
        "sent": sent,
        "videos": len(late),
        "late": np.stack([shares.mean(axis=0), errors], axis=-1).tolist(),
    }


def _pieces(condition: Condition, losses: Losses, capture: Path) -> dict[str, Any]:
    """Measure one long connection, each piece of which is a stored video."""
    seen = _connect(condition, losses, capture, Source(), condition.seconds)
    times = deliveries(seen)
    starts = np.arange(0, condition.seconds - condition.piece + 1e-9, condition.piece)
    late = []
    for start in starts:
        arrived = times[np.searchsorted(times, start) :] - start
        late.append(_late(arrived, condition.packet_rate, condition.piece))
    bad = np.array(
        [
            any(start < at + length + RECOVERY and at < start + condition.piece for at, length in seen.stalls)
            for start in starts
        ]
    )
    return {
        "left_out": float(bad.mean()),
        **_lateness(seen),
        "sent": seen.sent,
        "throughput": len(times) / condition.seconds,
        "disturbed_pieces": np.flatnonzero(bad).tolist(),
        "late": late,
    }


def _late(times: np.ndarray, packet_rate: float, video: float) -> list[float]:
    """Return the share of late packets of a stored video, by startup delay; what has not arrived is late."""
    packets = round(packet_rate * video)
    arrived = times[:packets]
    waits = arrived - np.arange(1, len(arrived) + 1) / packet_rate
    return [float(((waits > tau).sum() + packets - len(arrived)) / packets) for tau in DELAYS]


def _lateness(seen: Seen) -> dict[str, Any]:
    """Return how late packets were forwarded [s]."""
    late = np.array(seen.late)
    return {"stalled_packets": len(seen.stalls), "latest": float(late.max()), "mean_lateness": float(late.mean())}


def _piece(edges: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the number of the piece in which each time lies."""
    return (np.searchsorted(edges, times, side="right") - 1).clip(0, len(edges) - 2)


def undisturbed(edges: np.ndarray, seen: Seen, warmup: float = WARMUP) -> np.ndarray:
    """Return which pieces count: neither at the start, nor in or soon after a stall."""
    good = edges[:-1] >= warmup
    for at, length in seen.stalls:
        good &= (edges[1:] <= at) | (edges[:-1] >= at + length + RECOVERY)
    return good


def _shares(late: np.ndarray, piece: np.ndarray, good: np.ndarray) -> list[float]:
    """Return the share of late packets in the pieces that count, and its standard error."""
    in_piece = [np.bincount(piece, weights, len(good))[good] for weights in (late.astype(float), np.ones(len(late)))]
    groups = [np.array([group.sum() for group in np.array_split(counts, BATCHES)]) for counts in in_piece]
    share = float(groups[0].sum() / groups[1].sum())
    spread = groups[0] - share * groups[1]
    return [share, float(math.sqrt(BATCHES / (BATCHES - 1) * (spread**2).sum()) / groups[1].sum())]


def _standard_error(rates: np.ndarray) -> float:
    """Return the standard error of the mean of rates that depend on their neighbours."""
    means = [batch.mean() for batch in np.array_split(rates, BATCHES)]
    return float(np.std(means, ddof=1) / math.sqrt(BATCHES))


def _estimates(capture: Path, segment: float) -> dict[str, Any]:
    """Return what `tcpstream estimate` finds in the sender's capture, as a whole and in segments."""
    from tcpstream import TcpstreamError  # loads slowly: not before the run
    from tcpstream.traces import estimate, estimate_segments

    try:
        found: dict[str, Any] = {"estimate": estimate(capture).to_dict()}
        parts = estimate_segments(capture, segment)
        found["segments"] = [_short(part) for part in parts]
    except TcpstreamError as error:
        return {"estimate": {"error": str(error)}, "segments": []}
    return found


def _short(part: Any) -> dict[str, Any]:
    """Return the estimates of a segment without the prose."""
    if part.estimate is None:
        return {"start": part.start_s, "end": part.end_s, "reason": part.reason}
    values = part.estimate.to_dict()
    keys = ("loss", "loss_event_rate", "rtt_s", "rto_s", "timeout_ratio", "throughput_pps")
    return {
        "start": part.start_s,
        "end": part.end_s,
        **{key: [values[key], *values["intervals"][key]] for key in keys},
        "loss_process": values["loss_process"],
        "packets": values["packets"],
        "timeouts": values["timeouts"],
    }


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other run reads its capture: memory."""
    with (MEMORY / "tcpstream-estimate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    print(json.dumps(run(Condition(**json.loads(sys.argv[1])))))

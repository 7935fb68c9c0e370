"""Predictions of P(any stall) from the sessions of a half: paths, and what each of them answers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Path, TimeLimitError, Varying, Video, fit_regimes
from tcpstream.errors import InputError
from tcpstream.traces import ThroughputTrace

from .replay import BUFFER, DELAYS, DURATION, RATES, RTT, SENDER
from .sessions import MEAN, SECONDS, Floats, Session

LIMITS = 300.0, 120.0
"""Time that a fit, and an answer, may take [s]."""

INTERVALS, MOST = (1.0, 2.0, 2.5, 3.25), 20_000
"""Lengths of the intervals of fits [s], and how many intervals are fitted: those of a half are the first that fit."""

PACKET = 8 * 1500
"""Bits that a fit takes a packet for."""

GROUPS = {"1 constant path": 1, "20 constant paths": 20, "1 fit": 1, "4 fits": 4, "8 sessions": 8}
"""Predictions, and into how many groups the sessions of a half are divided, by mean throughput; each has a path. That
of `ALONE` is fitted to the middle session of its group alone."""

ALONE = "8 sessions"


def groups(half: list[Session], predictor: str) -> Iterator[tuple[float, list[Session]]]:
    """Yield the groups of sessions with a path each, and what it counts in the mean of their answers."""
    ranked = sorted(half, key=lambda one: float(one.packets.mean()))
    count = GROUPS[predictor]
    for part in np.array_split(np.arange(len(ranked)), count):
        if predictor == ALONE:
            yield 1 / count, [ranked[part[len(part) // 2]]]
        else:
            yield len(part) / len(ranked), [ranked[i] for i in part]


def interval(half: list[Session], predictor: str) -> float:
    """Return the length of the intervals of fits to the sessions of a half [s]; a session alone has at least 50."""
    step = next(step for step in INTERVALS if len(half) * SECONDS / step <= MOST)
    return min(step, SECONDS / 52) if predictor == ALONE else step


def record(sessions: list[Session], predictor: str, step: float) -> dict[str, Any]:
    """Return the path of a group, and its answers by rate and delay; or why there are none."""
    begin = time.perf_counter()
    row: dict[str, Any] = {"sessions": len(sessions)}
    try:
        with tcpstream.time_limit(LIMITS[0]):
            path, found = fitted(np.concatenate([one.packets for one in sessions]), predictor, step)
    except (InputError, AccuracyError, TimeLimitError) as error:
        return row | {"refused": str(error), "seconds": round(time.perf_counter() - begin, 1)}
    row |= found | {"fit_seconds": round(time.perf_counter() - begin, 1)}
    row["answers"] = [answered(path, x * MEAN) for x in RATES]
    return row | {"seconds": round(time.perf_counter() - begin, 1)}


def fitted(packets: Floats, predictor: str, step: float) -> tuple[Path | Varying, dict[str, Any]]:
    """Return a path of a series of packets per second, and what is kept of it."""
    trace = ThroughputTrace(np.arange(len(packets) + 1), PACKET * packets)
    most = 1 if "constant" in predictor else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the fit are recorded
        fit = fit_regimes(trace, rtt=RTT, interval=step, buffer=BUFFER, regimes=most, **SENDER)
    kept = {
        "pps": [one.throughput / PACKET for one in fit.regimes],
        "stays_s": [one.mean_stay for one in fit.regimes],
        "shares": [one.share for one in fit.regimes],
        "between": fit.between,
        "warnings": list(fit.warnings),
    }
    return (fit.varying.regimes[0] if len(fit.regimes) == 1 else fit.varying), kept


def answered(path: Path | Varying, rate: float) -> dict[str, Any]:
    """Return P(any stall) of a video for each startup delay, with its stated error; exactly where lattices refuse."""
    begin = time.perf_counter()
    try:
        with tcpstream.time_limit(LIMITS[1]):
            try:
                p, error = _late(path, rate, "fine")
            except TimeLimitError:
                raise
            except AccuracyError:
                p, error = _late(path, rate, "exact")
    except (InputError, AccuracyError, TimeLimitError) as reason:
        return {"refused": str(reason), "seconds": round(time.perf_counter() - begin, 1)}
    return {"p": p.tolist(), "error": error.tolist(), "seconds": round(time.perf_counter() - begin, 1)}


def _late(path: Path | Varying, rate: float, accuracy: str) -> tuple[Floats, Floats]:
    result = tcpstream.stored(path, Video(packet_rate=rate, duration=DURATION), accuracy=accuracy)
    return result.stalled(np.array(DELAYS))

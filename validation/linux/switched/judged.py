"""What the model says of the sessions and of the captures, beside what was measured; kept as it is solved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Varying, Video, fit_regimes, next_delay, stored, time_limit
from tcpstream.fits import FittedRegimes
from tcpstream.numerics.confidence import wilson
from tcpstream.system.log import appending, read
from tcpstream.traces import PathEstimate, ThroughputTrace

from .cases import TIMER, Case
from .make import CAPTURES, LOADS, RESULTS, SESSIONS, TEN_MINUTES, TRACES, VIDEO, captured_cases, cases

SESSIONS_SOLVED = RESULTS / "linux_varying_sessions_solved.jsonl"
CAPTURES_SOLVED = RESULTS / "linux_varying_captures_solved.jsonl"

DELAYS = (1.0, 2.0, 4.0, 8.0)
"""Startup delays of the sessions [s], since the connection was asked for."""

UNDER_WAY = 1.5
"""Round trips that pass before the first data arrive: of the handshake, and their own way."""

LIMIT = 600.0
"""Seconds for an interval."""

JUDGED = (0.05, 0.95)
"""Measured probabilities of a late packet that are compared."""


def measured() -> dict[int, np.ndarray]:
    """Return the delays that the sessions of each case needed, a row a session, a column a load."""
    found: dict[int, list[list[float]]] = {}
    for line in read(SESSIONS):
        for one in line["cases"]:
            if not one["disturbed"]:
                needed = [math.inf if delay is None else delay for delay in one["needed"]]
                found.setdefault(one["case"], []).append(needed)
    return {number: np.array(rows) for number, rows in found.items()}


def fitted(number: int, case: Case) -> Varying:
    """Return the path fitted to the trace of a case, R, timer and buffer being known."""
    trace = next(line for line in read(TRACES) if line["case"] == number)
    rates = np.array(trace["mbps"]) * 1e6
    found = fit_regimes(
        ThroughputTrace(np.arange(len(rates) + 1.0), rates, f"trace {number}"),
        rtt=case.rtt, rto=case.rtt + TIMER, tcp="reno-sack", buffer=case.queue, loss=case.p,
    )  # fmt: skip
    return found.varying


def stalls(path: Varying, case: Case) -> list[list[float]]:
    """Return the probability of a late packet, for each load and each delay."""
    delays = np.maximum(np.array(DELAYS) - UNDER_WAY * case.rtt, 0.0)
    answers = [stored(path, Video(packet_rate=case.rate / load, duration=VIDEO)) for load in LOADS]
    return [list(1 - answer.no_late_probability(delays)) for answer in answers]


def sessions() -> Iterator[dict[str, Any]]:
    """Give what is said of each case: by the true regimes, and by those fitted to one trace."""
    solved = {line["case"]: line for line in read(SESSIONS_SOLVED)}
    with appending(SESSIONS_SOLVED) as append:
        for number, case in enumerate(cases()):
            if number not in solved:
                path = fitted(number, case)
                solved[number] = {
                    "case": number,
                    "regimes": len(path.regimes),
                    "true": stalls(case.path(), case),
                    "fitted": stalls(path, case),
                }
                append(solved[number])
            yield solved[number]


def points() -> list[dict[str, Any]]:
    """Return every load and delay of every case that is compared."""
    needed, found = measured(), []
    for line in sessions():
        rows = needed[line["case"]]
        for i, load in enumerate(LOADS):
            for j, delay in enumerate(DELAYS):
                late = int((rows[:, i] > delay).sum())
                if JUDGED[0] <= late / len(rows) <= JUDGED[1]:
                    low, high = wilson(late, len(rows))
                    found.append(
                        {
                            "case": line["case"], "load": load, "delay": delay, "sessions": len(rows),
                            "measured": late / len(rows), "low": low, "high": high,
                            "true": line["true"][i][j], "fitted": line["fitted"][i][j],
                        }
                    )  # fmt: skip
    return found


def captures(folder: Path | None, accuracy: str = "fast") -> Iterator[dict[str, Any]]:
    """Give, for each capture, the intervals of the delay and what the next ten minutes needed.

    Captures that are not solved yet are solved from a folder, and left out without one.
    """
    solved = {line["case"]: line for line in read(CAPTURES_SOLVED)}
    seen = {line["case"]: line for line in read(CAPTURES)}
    with appending(CAPTURES_SOLVED) as append:
        for number, case in enumerate(captured_cases()):
            if number not in solved:
                if folder is None:
                    continue
                file = folder / f"{number}.pcap"
                solved[number] = {"case": number, **_intervals(file, case, accuracy)}
                append(solved[number])
            yield solved[number] | {"needed": seen[number]["needed"], "disturbed": seen[number]["disturbed"]}


def _intervals(file: Path, case: Case, accuracy: str) -> dict[str, Any]:
    video = Video(packet_rate=case.rate / case.load, duration=TEN_MINUTES)
    estimate = tcpstream.estimate(file)
    link = estimate.link
    fit = fit_regimes(estimate)
    return {
        "varied": link is not None and link.varied,
        "regimes": len(fit.regimes),
        "varying": _quantiles(fit, video, accuracy),
        "constant": _quantiles(estimate, video, accuracy),
    }


def _quantiles(measured: FittedRegimes | PathEstimate, video: Video, accuracy: str) -> list[float] | None:
    """Return the 5, 50 and 95% quantiles of the delay that the next video needs; None without an answer."""
    try:
        with time_limit(LIMIT):
            found = next_delay(measured, video, accuracy=accuracy)
    except AccuracyError:
        return None
    return [found.low, found.value, found.high]

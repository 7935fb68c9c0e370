"""Simulation runs of the settings: made in parallel, kept one by one, so that an interrupted study goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from ..errors import InputError, cause
from ..sim import Backlogged, Delivery, Steady, simulate
from ..sim.dumbbell import WARMUP
from ..system.log import appending, whole_lines
from ..system.threads import as_they_end, cores
from .settings import SETTINGS, Setting

KINDS = ("ahead", "live", "stored")
"""Runs that measure T, and those with a video."""

SEEN = ("loss", "loss_events", "rtt", "timeout_ratio", "throughput")
"""What each run saw of its path."""

NAMES = {setting.name for setting in SETTINGS}

SEED = 2004
"""Every run has its own generator, from this, its setting, its kind and its number."""

DELAYS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20.0])
"""Startup delays tau [s]."""

LIVE_SECONDS, STORED_SECONDS, VIDEO = 7000.0, 100.0, 80.0
"""Length of a live run, of a stored one, and of the stored video [s], as Section 4."""

AHEAD_SECONDS = 1000.0
"""Length of the runs that measure T for a live stream's place [s]."""

NO_LATE = {4: (51.0, 55.0, 60.0)}
"""Playback rates of Section 4.2's share of runs without a late packet, by stored setting; there T = 71.4 packets/s."""

NO_LATE_DELAY = 6.0
"""Their startup delay [s]."""

Record = dict[str, Any]


LENGTHS_OF, LENGTHS_DELAY = "live 2", 6.0
LENGTHS = np.array([500, 1000, 2000, 3000, 4000, 5000, 6000, 6900.0])
"""Figure 8a: late fraction over the length of the video [s], at a startup delay [s]."""

ROUNDS_OF, ROUNDS_DELAY, ROUNDS_RATE = "stored 4", 4.0, 51.0
ROUND = 0.2
"""Figure 8b: chance of a late packet in each piece of so long [s], at a startup delay [s] and a rate at T = 71.4."""


@dataclass(frozen=True)
class Scale:
    """How many runs a study makes of each setting.

    Parameters
    ----------
    ahead, live, stored : int
        Backlogged runs that measure T; live runs; stored runs.
    shorter : float
        Live runs are this many times shorter than the paper's.
    """

    ahead: int
    live: int
    stored: int
    shorter: float = 1.0


FULL = Scale(ahead=20, live=60, stored=1000)
QUICK = Scale(ahead=2, live=4, stored=20, shorter=20.0)


def size(scale: Scale) -> int:
    """Return the number of runs of a study."""
    return sum(map(len, _jobs(scale)))


def run_study(scale: Scale, file: FilePath, step: Callable[[], object] = int) -> None:
    """Make the runs that `file` does not hold yet, and append each when it is done.

    Parameters
    ----------
    scale : Scale
    file : path
        A line of JSON for each run, in the order in which they ended.
    step : callable
        Called for each run that is done, those in the file included.
    """
    have = {key(record): record for record in read(file)}
    for record in have.values():
        if record["shorter"] != scale.shorter:
            raise InputError(f"{file} holds runs of another length: give another file")
        step()
    first, then = _jobs(scale)

    def todo(jobs: Iterable[tuple[str, Setting, int]]) -> list[tuple[str, Setting, int]]:
        return [job for job in jobs if (job[0], job[1].name, job[2]) not in have]

    with appending(file) as append:
        for jobs in (first, then):
            rates = {s.name: achieved(have.values(), s) for s in SETTINGS} if jobs is then else {}
            for record in _made(todo(jobs), rates, scale):
                append(record)
                have[key(record)] = record
                step()


def _jobs(scale: Scale) -> tuple[list[tuple[str, Setting, int]], list[tuple[str, Setting, int]]]:
    """Return the runs that measure T, and then those with a video: kind, setting, number."""
    first = [
        ("ahead", s, i) for s in SETTINGS for i in range(scale.ahead if s.kind == "live" else max(1, scale.stored // 5))
    ]
    return first, [(s.kind, s, i) for s in SETTINGS for i in range(scale.live if s.kind == "live" else scale.stored)]


def read(file: FilePath) -> list[Record]:
    """Return the runs in a file; a last line that an interruption cut off is left out."""
    try:
        lines = whole_lines(file)
        if not lines and file.exists() and file.stat().st_size > 0:
            raise InputError(f"{file} holds no runs of a study: give another file")
    except OSError as error:
        raise InputError(f"cannot read {file}: {cause(error)}") from None
    return [_record(line, file, number) for number, line in enumerate(lines, 1)]


def _record(line: str, file: FilePath, number: int) -> Record:
    """Return the run in a line, or raise `InputError` for a line that no study wrote."""
    try:
        record = json.loads(line)
        video = record["kind"] != "ahead"
        if record["kind"] not in KINDS or record["setting"] not in NAMES:
            raise ValueError
        for name in (*SEEN, "run", "shorter", *(("rate",) if video else ())):
            float(record[name])
        if video and len([float(late) for late in record["late"]]) != len(DELAYS):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{file}, line {number}, is no run of a study: give another file, or leave it out") from None
    found: Record = record
    return found


def key(record: Record) -> tuple[str, str, int]:
    """Return what tells a run from all others."""
    return record["kind"], record["setting"], record["run"]


def achieved(records: Iterable[Record], setting: Setting) -> float:
    """Return T [packets/s], the mean throughput of a backlogged flow in the video's place."""
    found = {one["run"]: one["throughput"] for one in records if key(one)[:2] == ("ahead", setting.name)}
    return float(np.mean([found[run] for run in sorted(found)]))


def _made(jobs: list[tuple[str, Setting, int]], rates: dict[str, float], scale: Scale) -> Iterator[Record]:
    """Return runs as they end, from all cores: the event loop does not hold the interpreter's lock."""
    each = ((kind, s, i, rates.get(s.name), scale) for kind, s, i in jobs)
    return as_they_end(ThreadPoolExecutor(cores()), _one, each)


def _one(kind: str, setting: Setting, run: int, achieved: float | None, scale: Scale) -> Record:
    """Make one run; `achieved` is T, for runs with a video [packets/s]."""
    place = KINDS.index(kind)
    rng = np.random.default_rng((SEED, SETTINGS.index(setting), place, run))
    seconds = STORED_SECONDS
    if setting.kind == "live":
        seconds = (LIVE_SECONDS if kind == "live" else AHEAD_SECONDS) / scale.shorter
    rate = None if achieved is None else setting.load * achieved
    scenario = setting.network().scenario(rng, Steady(rate) if kind == "live" and rate else Backlogged())
    flow = simulate(scenario, WARMUP + seconds, rng).flows[0]
    record: Record = {"kind": kind, "setting": setting.name, "run": run, "shorter": scale.shorter} | _seen(flow)
    if kind == "live":
        record |= {"rate": rate, "late": _rounded(flow.late_fraction(DELAYS))}
        if setting.name == LENGTHS_OF:
            lengths = LENGTHS / scale.shorter
            record["late_by_length"] = _rounded([flow.late_fraction(LENGTHS_DELAY, duration=one) for one in lengths])
    elif achieved is not None:
        record |= {"rate": rate, "late": _rounded(flow.late_fraction(DELAYS, rate, VIDEO))}
        rates = [achieved * mu / setting.throughput for mu in NO_LATE.get(setting.number, ())]
        record["no_late"] = [flow.no_late(NO_LATE_DELAY, one, VIDEO) for one in rates]
        if setting.name == ROUNDS_OF:
            rate = achieved * ROUNDS_RATE / setting.throughput
            played = ROUNDS_DELAY + np.flatnonzero(flow.late(ROUNDS_DELAY, rate, VIDEO)) / rate
            record["late_rounds"] = np.unique((played / ROUND).astype(int)).tolist()
    return record


def _seen(flow: Delivery) -> Record:
    """Return what a flow saw of its path: p, loss-event rate, R [s], T_O, T [packets/s]."""
    return {
        "loss": round(flow.loss_rate, 7),
        "loss_events": round(flow.loss_event_rate, 7),
        "rtt": round(flow.rtt, 6),
        "timeout_ratio": round(flow.timeout_ratio, 5),
        "throughput": round(flow.throughput, 4),
    }


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.5g}") for value in np.ravel(values)]

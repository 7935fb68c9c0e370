"""What the correction of the long waves gains: epochs and seconds to the stationary backlog, by method and load.

Run ``python validation/solvers.py`` (about 5 minutes). Every method starts from the same entries, at the depth that the
solver takes, and stops at the same error bound:

- plain: one epoch after the other (power iteration);
- anderson: plain epochs, combined so that the last ten changes cancel best;
- boxes: aggregation and disaggregation (Koury, McAllister, Stewart 1984), 30 boxes of backlogs, with an epoch for each
  box to find the moves between them, and five plain epochs between;
- waves: `tcpstream.stationary.solve`.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray

from tcpstream import Path
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.burst import Backlog
from tcpstream.stationary.long_waves import LongWaves
from tcpstream.stationary.solve import drain_rounds
from tcpstream.tcp import reno

Floats = NDArray[np.float64]
Epoch = Callable[[Floats], Floats]

PATH = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.4, max_window=20, rounds_per_increase=2)
LOADS = (0.5, 0.74, 0.9, 0.95, 0.98, 0.99)
GOAL = 1e-10
"""Error bound at which a method is done."""
MOST = 1000
"""Epochs after which it is not."""


class DoneError(Exception):
    """The goal is reached, or the epochs are used up."""


class Case:
    """One load: counts the epochs, and ends a method when it is done."""

    def __init__(self, load: float) -> None:
        chain = reno(PATH)
        self.backlog = Backlog(chain, Lattice(round(5 * load * chain.packets_per_round), 5))
        self.packets_due = self.backlog.lattice.packets_due
        self.waves = LongWaves(self.backlog)
        per_packet, behind = drain_rounds(chain, self.packets_due)
        steps_per_packet = self.backlog.steps_per_packet
        self.depth = self.waves.depth(GOAL / 100 * steps_per_packet / per_packet, behind.max() * steps_per_packet)
        levels = np.arange(self.depth, -1, -1) / steps_per_packet
        self.weight = 2 * per_packet * (levels + behind[self.backlog.entered][:, np.newaxis])

    def measure(self, method: Callable[[Case], None]) -> dict[str, float]:
        """Run a method until it is done."""
        self.epochs, self.error = 0, np.inf
        self.rounds = 0.0
        begun = time.perf_counter()
        with contextlib.suppress(DoneError):
            method(self)
        return {"epochs": self.epochs, "seconds": round(time.perf_counter() - begun, 3), "error_bound": self.error}

    def epoch(self, entries: Floats) -> Floats:
        """Make an epoch that is only counted."""
        if self.epochs == MOST:
            raise DoneError
        self.epochs += 1
        return self.backlog.epoch(entries).entries

    def judged(self, entries: Floats) -> Floats:
        """Make an epoch, and end the method when it changes little."""
        epoch = self.backlog.epoch(entries)
        self.epochs += 1
        self.rounds = self.rounds or float(self.backlog.occupancy(epoch).sum())
        self.error = float((np.abs(epoch.entries - entries) * self.weight).sum() / self.rounds)
        if self.error < GOAL or self.epochs >= MOST:
            raise DoneError
        return epoch.entries


def plain(case: Case) -> None:
    entries = case.waves.start(case.depth)
    while True:
        entries = case.judged(entries)


def anderson(case: Case) -> None:
    entries = case.waves.start(case.depth)
    kept: list[tuple[Floats, Floats]] = []
    while True:
        following = case.judged(entries)
        kept = [*kept[-10:], (following, following - entries)]
        changes = np.array([change.ravel() for _, change in kept])
        steps = np.diff(changes, axis=0)
        mix = np.linalg.lstsq(steps @ steps.T, steps @ changes[-1], rcond=1e-12)[0] if len(kept) > 1 else []
        entries = following - sum(
            (share * (later[0] - earlier[0]) for share, earlier, later in zip(mix, kept, kept[1:])),
            np.zeros_like(following),
        )
        entries /= entries.sum()


def boxes(case: Case) -> None:
    entries = case.waves.start(case.depth)
    n = case.depth + 1
    first = np.unique(np.append(0, np.geomspace(20, n - case.waves.beyond, 31)[:-1].astype(int)))  # none is empty
    box = np.searchsorted(first, np.arange(n - 1, -1, -1), side="right") - 1
    while True:
        moves = np.zeros((len(first), len(first)))
        for i in range(len(first)):
            part = np.where(box == i, entries, 0.0)
            moves[i] = np.bincount(box, case.epoch(part).sum(axis=0), len(first)) / part.sum()
        balance = np.eye(len(first)) - moves.T
        balance[-1] = 1.0
        mass = np.linalg.solve(balance, np.eye(len(first))[-1])
        entries = entries * (mass / np.bincount(box, entries.sum(axis=0), len(first)))[box]
        for _ in range(5):
            entries = case.judged(entries / entries.sum())


def waves(case: Case) -> None:
    entries = case.waves.start(case.depth)
    while True:
        entries = case.waves.corrected(entries, case.judged(entries) - entries)


def main() -> None:
    """Run all methods at all loads, print and record them."""
    rows = []
    Case(0.5).measure(waves)  # compiles
    for load in LOADS:
        case = Case(load)
        for method in (plain, anderson, boxes, waves):
            row = {"load": load, "m": case.packets_due, "depth": case.depth, "method": method.__name__}
            rows.append(row | case.measure(method))
            print(rows[-1], flush=True)
    results = FilePath(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    record = {"goal": GOAL, "most_epochs": MOST, "rows": rows}
    (results / "solvers.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

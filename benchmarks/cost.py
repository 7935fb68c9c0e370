"""What a round of the transient costs, over the largest window and over the number of rounds.

The unit is a position of the window of A: time / (rounds x mean width), the width being the mean of those of the TCP
states. It may grow in proportion to W_max, since every position has b W_max states, and not with the number of rounds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tcpstream
from tcpstream import Path, Video

from .ours import varied
from .outcome import Outcome, timed

RTT = 0.1
ROUNDS = 400
"""Rounds of every largest window: from a window of 1 the largest ones are not reached, nor followed, in these."""

WINDOW = 24
"""Largest window of every number of rounds."""


def by_window(quick: bool, limit: float) -> Iterator[Outcome]:
    """W_max = 16, 32, ..., 2048, each at p = (1.5 / W_max)^2, where the mean window is near W_max; T/mu = 1.25."""
    sizes = (16, 32, 64) if quick else (16, 32, 64, 128, 256, 512, 1024, 2048)
    yield from _series("W_max", sizes, lambda W: (W, (1.5 / W) ** 2, 100 if quick else ROUNDS), limit)


def by_rounds(quick: bool, limit: float) -> Iterator[Outcome]:
    """500 to 8000 rounds at W_max = 24 and p = 0.014; T/mu = 1.25."""
    sizes = (125, 250, 500) if quick else (500, 1000, 2000, 4000, 8000)
    yield from _series("rounds", sizes, lambda rounds: (WINDOW, 0.014, rounds), limit)


def followed(solution: Any) -> tuple[int, int]:
    """Return the cells (TCP state x position) that a stored solution followed, over all rounds, and the rounds."""
    record = solution._arrivals.record
    return int(record.cells), int(record.rounds)


def _series(name: str, sizes: Any, setting: Any, limit: float) -> Iterator[Outcome]:
    begin, last = time.perf_counter(), 0.0
    for size in sizes:
        label = f"{name} = {size}"
        if time.perf_counter() - begin + 3 * last > limit:
            yield Outcome([], method=label, note="left out: no time", figures={"series": name, "size": size})
            continue
        W, loss, rounds = setting(size)
        path = Path(sender="classic", loss=loss, rtt=RTT, timeout_ratio=3, max_window=W, backoff="paper")
        video = Video(packet_rate=0.8 * tcpstream.throughput(path), duration=rounds * RTT)

        def work(repetition: int, path: Path = path, video: Video = video) -> Any:
            solution = tcpstream.stored(varied(path, repetition), video, horizon="paper", quantum=1)
            solution.late_fraction(2.0)
            return solution

        seconds, solution = timed(work, most=5, budget=2.0, warm=last < 3.0)
        last = max(seconds)
        cells, made = followed(solution)
        positions = cells / (W * made)
        per_position = float(np.median(seconds)) / (made * positions)
        yield Outcome(
            seconds,
            method=label,
            note=f"p = {loss:.2g}, {made} rounds x {positions:.0f} positions: {per_position * 1e9:.3g} ns each, "
            f"{per_position / W * 1e9:.3g} ns by state",
            figures={"series": name, "size": size, "width": positions, "seconds_per_position": per_position},
        )

"""Late fractions, and the probability of no late packet, from videos simulated one after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcpstream import Path, Video
from tcpstream.tcp import chain_of

from .arrays import Playback, Source, playback, source
from .rounds import FIELDS, begin, follow, videos

Floats = NDArray[np.float64]

THREADS = 2
"""Kernels that run at the same time, each with a generator of its own."""

BATCH = 100_000
"""Rounds of a batch of a stream without end."""

STEP = 2e6
"""Rounds of videos between two looks at the clock."""

WARM = 2
"""Batches that are not counted."""


@dataclass(frozen=True)
class Estimate:
    """What a simulation finds at each startup delay.

    Attributes
    ----------
    delays : (n,) array
        [s].
    late_fraction, late_error : (n,) arrays
        f and its standard error.
    no_late, no_late_error : (n,) arrays
        alpha and its standard error; of a stream without end nan.
    rounds : int
        That were simulated.
    seconds : float
        CPU of all threads together [s].
    """

    delays: Floats
    late_fraction: Floats
    late_error: Floats
    no_late: Floats
    no_late_error: Floats
    rounds: int
    seconds: float


def simulate(
    path: Path, video: Video, delays: ArrayLike, *, live: bool, seed: int, runs: int | None = None,
    seconds: float = math.inf, batch: int = BATCH,
) -> Estimate:  # fmt: skip
    """Simulate videos, or batches of a stream without end, until there are enough or the time is up.

    Parameters
    ----------
    path, video : Path, Video
        Of a chain of windows, and of constant rate; a live stream may have no duration.
    delays : (n,) array_like
        Startup delays, increasing [s].
    live : bool
    seed : int
    runs : int, optional
        Videos, or batches; as many as there is time for by default.
    seconds : float
        Of every thread at most; at least 2 videos are simulated each.
    batch : int
        Rounds of a batch.
    """
    chain = source(chain_of(path))
    shown = playback(path, video, delays, live=live)
    run = _endless(batch) if video.duration is None else _finite
    deadline = time.monotonic() + seconds
    shares = [None if runs is None else (runs + k) // THREADS for k in range(THREADS)]

    def work(share: int | None, one: np.random.SeedSequence) -> _Sums:
        return run(chain, shown, share, deadline, np.random.default_rng(one))

    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(work, shares, np.random.SeedSequence(seed).spawn(THREADS)))
    total = _Sums(*(sum(each) for each in zip(*(vars(part).values() for part in parts))))
    n = total.runs
    judged = shown.due * batch if video.duration is None else video.packets
    mean = total.late / n
    spread = np.sqrt(np.maximum(total.squares / n - mean**2, 0.0) / max(n - 1, 1))
    alpha = total.none_late / n if video.duration is not None else np.full(len(mean), math.nan)
    share = (n * alpha + 1) / (n + 2)  # Laplace's: what was never seen may still happen
    return Estimate(
        np.asarray(delays, dtype=np.float64),
        mean / judged,
        spread / judged,
        alpha,
        np.sqrt(share * (1 - share) / n),
        total.rounds,
        total.seconds,
    )


@dataclass(frozen=True)
class _Sums:
    runs: int
    rounds: int
    seconds: float
    late: Any
    squares: Any
    none_late: Any


def _finite(chain: Source, shown: Playback, runs: int | None, deadline: float, rng: np.random.Generator) -> _Sums:
    sums, squares, none_late = (np.zeros(len(shown.ahead)) for _ in range(3))
    made = rounds = 0
    step = 2
    start = time.thread_time()
    while made != runs and (made == 0 or time.monotonic() < deadline):
        now = step if runs is None else min(step, runs - made)
        rounds += videos(chain, shown, now, sums, squares, none_late, rng)
        made += now
        step = max(1, min(step * 2, int(STEP * made / rounds)))
    return _Sums(made, rounds, time.thread_time() - start, sums, squares, none_late)


def _endless(batch: int) -> Callable[[Source, Playback, int | None, float, np.random.Generator], _Sums]:
    def run(chain: Source, shown: Playback, runs: int | None, deadline: float, rng: np.random.Generator) -> _Sums:
        sums, squares = np.zeros(len(shown.ahead)), np.zeros(len(shown.ahead))
        tcp, place = begin(chain, rng), 0.0
        part = shown._replace(rounds=batch)
        made = -WARM
        start = time.thread_time()
        while made != runs and (made < 2 or time.monotonic() < deadline):
            late = np.zeros(len(shown.ahead))
            place = follow(chain, part, tcp, place, 0, -np.inf, np.inf, True, late, nothing(), 0, rng)[0]
            made += 1
            if made > 0:
                sums += late
                squares += late**2
        spent = time.thread_time() - start
        return _Sums(made, (made + WARM) * batch, spent, sums, squares, np.zeros(len(sums)))

    return run


def nothing() -> tuple[Any, Any, Any]:
    """Return room for no copies."""
    return np.zeros((0, FIELDS), dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)

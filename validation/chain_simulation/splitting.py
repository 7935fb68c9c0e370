"""Late fractions that are too small to be simulated directly, by multilevel splitting with fixed effort.

A stream is behind by the most packets that are late or will be when the wait that is under way is over. It comes to be
behind by a level L_1, and from there either back to L_0 or on to L_2, and so on. What reaches a level is kept, and
copies of it are followed, as many at each level. So late packets are those before L_1, and

    entries of L_1 x (late before L_2 + P_1 (late before L_3 + P_2 ...)),

each of them a mean over copies. Levels come from a run of its own; the standard error is that of independent
replications. Garvels, "The splitting method in rare event simulation", 2000, Sections 2.4 and 3.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tcpstream import Path, Video
from tcpstream.tcp import chain_of

from .arrays import Playback, Source, playback, source
from .direct import BATCH, THREADS, WARM, nothing
from .rounds import FIELDS, WAIT, begin, copies, follow

Floats = NDArray[np.float64]

REACHES = 0.8
"""Quantile of how far copies come that is the next level."""

MOST_LEVELS = 60

LEAST = 10
"""Copies that must reach a level, for a next one."""

BASE = 1_000_000
"""Rounds that are simulated from the start, at least, in a replication."""

VIDEOS = 30
"""Videos, at least."""

LOOKS = 2_000
"""Rounds after which a stream without end is looked at for its first levels."""


@dataclass(frozen=True)
class SplitEstimate:
    """Late fractions by splitting.

    Attributes
    ----------
    delays : (n,) array
        [s].
    late_fraction, late_error : (n,) arrays
        f and its standard error.
    levels : (k,) array
        L_0, L_1, ... [packets].
    replications : (r, n) array
        f of each.
    seconds : float
        CPU of all threads together [s].
    """

    delays: Floats
    late_fraction: Floats
    late_error: Floats
    levels: Floats
    replications: Floats
    seconds: float


def split(
    path: Path, video: Video, delays: ArrayLike, *, live: bool, seed: int, effort: int = 1000, replications: int = 16,
    base: int = BASE,
) -> SplitEstimate:  # fmt: skip
    """Estimate late fractions down to any size.

    Parameters
    ----------
    path, video, delays, live, seed
        As for `direct.simulate`.
    effort : int
        Copies at each level.
    replications : int
    base : int
        Rounds from the start, in each replication, at least.
    """
    chain = source(chain_of(path))
    shown = playback(path, video, delays, live=live)
    first, *others = np.random.SeedSequence(seed).spawn(1 + replications)
    begun = time.thread_time()
    levels = _levels(chain, shown, effort, base, np.random.default_rng(first))
    pilot = time.thread_time() - begun

    def work(one: np.random.SeedSequence) -> tuple[Floats, float]:
        start = time.thread_time()
        f = _replication(chain, shown, levels, effort, base, np.random.default_rng(one))
        return f, time.thread_time() - start

    with ThreadPoolExecutor(THREADS) as pool:
        found, spent = zip(*pool.map(work, others))
    each = np.array(found)
    return SplitEstimate(
        np.asarray(delays, dtype=np.float64),
        each.mean(axis=0),
        each.std(axis=0, ddof=1) / np.sqrt(len(each)),
        levels,
        each,
        pilot + sum(spent),
    )


def _levels(chain: Source, shown: Playback, effort: int, base: int, rng: np.random.Generator) -> Floats:
    """Return L_0, L_1, ...; the last is the largest delay at most."""
    top = float(shown.ahead[-1])
    low, high = np.quantile(_first_looks(chain, shown, effort, base, rng), (0.5, REACHES) if shown.live else (0.2, 0.5))
    if not low < high:
        high = low + shown.due
    levels = [float(low), float(high)]
    room, late = _room(effort), np.zeros(len(shown.ahead))
    found, _, _ = _from_start(chain, shown, levels[0], levels[1], base, late, room, rng)
    while levels[-1] < top and found >= LEAST and len(levels) < MOST_LEVELS:
        tops = np.zeros(effort)
        copies(chain, shown, room, min(found, effort), effort, levels[0], np.inf, late, nothing(), tops, rng)
        higher = max(float(np.quantile(tops, REACHES)), levels[-1] + 0.01 * (levels[-1] - levels[0]))
        more = _room(effort)
        found, _ = copies(chain, shown, room, min(found, effort), effort, levels[0], higher, late, more, tops, rng)
        levels.append(higher)
        room = more
    return np.array(levels if len(levels) < 3 else levels[:-1])


def _first_looks(chain: Source, shown: Playback, effort: int, base: int, rng: np.random.Generator) -> Floats:
    """Return how far behind a live stream is now and then, or the most that videos come to be."""
    late = np.zeros(len(shown.ahead))
    tops = []
    if shown.live:
        tcp, place, now, made = begin(chain, rng), 0.0, 0, 0
        while made < base:
            part = shown._replace(rounds=min(now + LOOKS, shown.rounds))
            place, now, _, _, _ = follow(chain, part, tcp, place, now, -np.inf, np.inf, True, late, nothing(), 0, rng)
            made += LOOKS
            tops.append(place + shown.due * tcp[WAIT])
            if now < part.rounds or now == shown.rounds:
                tcp, place, now = begin(chain, rng), 0.0, 0
    else:
        for _ in range(max(VIDEOS, min(effort, base // shown.rounds))):
            tcp = begin(chain, rng)
            tops.append(follow(chain, shown, tcp, 0.0, 0, -1e300, np.inf, True, late, nothing(), 0, rng)[-1])
    return np.array(tops)


def _from_start(
    chain: Source, shown: Playback, low: float, high: float, base: int, late: Floats, room: Any,
    rng: np.random.Generator,
) -> tuple[int, Any, float]:  # fmt: skip
    """Simulate from the start; return how often `high` was reached, and the packets that were judged."""
    entered = 0
    if shown.total == np.inf:
        tcp, place = begin(chain, rng), 0.0
        warm = shown._replace(rounds=WARM * BATCH)
        place = follow(chain, warm, tcp, place, 0, -np.inf, np.inf, True, late.copy(), nothing(), 0, rng)[0]
        part = shown._replace(rounds=base)
        _, _, entered, _, _ = follow(chain, part, tcp, place, 0, low, high, True, late, room, 0, rng)
        room[2][:] = 0
        return entered, late, shown.due * base
    runs = max(VIDEOS, base // shown.rounds)
    for _ in range(runs):
        tcp = begin(chain, rng)
        _, _, entered, _, _ = follow(chain, shown, tcp, 0.0, 0, low, high, True, late, room, entered, rng)
    return entered, late, shown.total * runs


def _replication(
    chain: Source, shown: Playback, levels: Floats, effort: int, base: int, rng: np.random.Generator
) -> Floats:  # fmt: skip
    room, late = _room(effort), np.zeros(len(shown.ahead))
    found, late, judged = _from_start(chain, shown, levels[0], levels[1], base, late, room, rng)
    weight = float(found)
    for higher in (*levels[2:], np.inf):
        if found == 0:
            break
        more, here = _room(effort), np.zeros(len(late))
        reached, _ = copies(
            chain, shown, room, min(found, effort), effort, levels[0], higher, here, more, np.zeros(effort), rng
        )
        late += weight * here / effort
        weight *= reached / effort
        found, room = reached, more
    return np.asarray(late / judged)


def _room(effort: int) -> tuple[Any, Any, Any]:
    """Return room for what reaches a level."""
    return np.zeros((effort, FIELDS), dtype=np.int64), np.zeros(effort), np.zeros(effort, dtype=np.int64)

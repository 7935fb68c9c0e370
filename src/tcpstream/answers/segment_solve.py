"""Sessions of a player that fetches segments, solved at two resolutions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.laguerre import laggauss
from numpy.typing import NDArray

from ..coarse.resolution import FACTOR
from ..errors import AccuracyError, InputError
from ..path import Path
from ..playout.segment_clock import Clock
from ..playout.segment_downloads import Downloads, downloads
from ..playout.segment_levels import Grid, grids_of, reaches
from ..playout.segment_sessions import ANY, DAMPED, FETCHING, IDLE, MEAN, STALLED, STALLS, SegmentPass
from ..playout.segment_start import join_rounds, points_at_start
from ..tcp import chain_of, cubic
from ..tcp.idle_restart import GUESSED, with_idle_restarts
from ..tcp.independent import IndependentChain
from ..tcp.line_restarts import with_line_restarts
from ..tcp.lines import ALPHA, BETA
from ..video import Video
from .quadrature import NODES, quadrature_error
from .segment_player import SegmentPlayer

Floats = NDArray[np.float64]

MOST_PACKETS = 100_000
"""Of a segment."""

MOST_LEVELS, MOST_CELLS = 512, 1.5e7
"""Levels of the buffer on one grid; and all these times the pairs of windows between which a segment leads: 1 GiB."""

LEAST_LEVELS, NEAREST = 16, 4
"""Levels on a grid, at least; and these over the steps of a segment, at least, where there are several grids."""

RISK = 1e-9
"""What is stated to be off at least."""

LINES_FACTOR = 1.0
"""`FACTOR` where lines of CUBIC stand for others: by the square of the logarithms of their ratios, the rough answers
are off by 3.5 times as much as the fine ones."""

FORGOTTEN, MORE, FRIENDLY = 0.03, 0.6, 1.3
"""Part of what players see that the line of a window may change, which the chain forgets between segments; and by how
much more for each time that CUBIC has of what a TCP-friendly sender has, from so many times on: its windows depend on
time most there. Beside simulated sessions whose sender remembers the line, 2.3% is the most that was seen up to 1.1
times; at 2.7 times it is three quarters of the number of stalls."""

KEPT = 4
"""Downloads that are kept for the next question, up to a hundred MiB each at 10 Mbit/s: two for a player, and the same
for players of other buffers."""

WHOLE = 1e-9
"""Distance from a whole number of round trips that is none."""


class Fineness(NamedTuple):
    """How finely sessions are followed.

    Attributes
    ----------
    quanta, steps : int
        Of a segment, and of its time.
    windows, thresholds : float
        Ratios of neighbouring windows between segments, and of thresholds after idle times.
    line_quanta : int
        Quanta of a segment over CUBIC.
    lines, slow_starts : float
        Ratios of windows at a loss that have lines of CUBIC, and of windows that have slow starts after idle times.
    """

    quanta: int
    steps: int
    windows: float
    thresholds: float
    line_quanta: int
    lines: float
    slow_starts: float


class Held(NamedTuple):
    """Levels of the buffer, and times in their steps."""

    clock: Clock
    grids: list[Grid]


FINE, ROUGH = Fineness(400, 64, 1.25, 1.25, 200, 1.15, 1.5), Fineness(200, 32, 1.5, 1.5, 100, 1.3, 2.0)


@dataclass(frozen=True, eq=False)
class Sessions:
    """What viewers see, by the segments with which playback starts: 1, 2, ...

    Attributes
    ----------
    answers, errors : (starts, columns) arrays
        P(N > 0), P(N = k) for k = 1 .. 3, E[N], E[S] [s], the rebuffering ratio, the mean download time [s], and the
        share of requests before which the connection was idle for longer than its timer.
    counted : bool
        Whether P(N = k) is known: not where a video is longer than sessions take to settle.
    unstalled : (starts, n) array
        Probability that none of the first 0, 1, ... segments after the start stalls.
    unstalled_errors : (starts,) array
        By how much any of these may be off.
    long_run, long_run_errors : (2,) arrays
        Stalls and stalled time [s] of a segment, in the long run.
    joined : array
        Chance that playback starts after 0, 1, 2, ... rounds.
    downloads : Downloads
        How long segments take.
    """

    answers: Floats
    errors: Floats
    counted: bool
    unstalled: Floats
    unstalled_errors: Floats
    long_run: Floats
    long_run_errors: Floats
    joined: Floats
    downloads: Downloads


def solve_sessions(path: Path, video: Video, player: SegmentPlayer) -> Sessions:
    """Return what viewers see.

    Raises
    ------
    InputError
        For a chain whose losses are not independent, a path with a bottleneck, a playback curve, segments of less than
        a packet or too many, and restarts without an initial window.
    AccuracyError
        Where it takes too long, or too much memory.
    """
    packets = packets_of(path, video, player)
    if not isinstance(chain_of(path), IndependentChain) or path.bottleneck is not None:
        raise InputError(
            f"segments are followed for independent losses, with tcp = cubic or reno-sack and no bottleneck, got tcp = "
            f"{path.tcp}" + ("" if path.bottleneck is None else " behind a bottleneck")
        )
    if player.idle == "restart" and path.initial_window is None:
        raise InputError(
            "an idle connection restarts from its initial window, which this sender has not: give an initial window, "
            "as 10, or idle = keep"
        )
    one, other = (_downloads(path, player.idle == "restart", packets, how) for how in (FINE, ROUGH))
    near, nearer = _levels(path, video, player, one.chance.shape[1])
    fine = _solved(one, path, video, player, near)
    rough = _solved(other, path, video, player, nearer)
    both = np.concatenate([fine.answers.ravel(), fine.long_run])
    if not np.isfinite(both).all():
        raise AccuracyError("the pass over the segments did not converge: give a segment that is a little different")
    known = min(fine.unstalled.shape[1], rough.unstalled.shape[1])
    apart = np.abs(fine.unstalled[:, :known] - rough.unstalled[:, :known]).max(axis=1)
    factor, forgotten = (LINES_FACTOR, _forgotten(path)) if path.tcp == "cubic" else (FACTOR, 0.0)
    guessed = np.maximum(GUESSED * (fine.answers[:, -1:] > 0), forgotten)  # where there are restarts
    size = np.abs(fine.answers)
    size[:, 1:STALLS] = size[:, :1]  # of any stall: some numbers take from others
    errors = fine.errors + factor * np.abs(fine.answers - rough.answers) + guessed * size
    long_run = factor * np.abs(fine.long_run - rough.long_run) + guessed.max() * np.abs(fine.long_run)
    return replace(
        fine,
        errors=errors,
        unstalled_errors=np.maximum(
            fine.unstalled_errors + factor * apart + guessed[:, 0] * fine.answers[:, 0], errors[:, 0]
        ),
        counted=fine.counted and rough.counted,
        long_run_errors=fine.long_run_errors + long_run,
    )


def _forgotten(path: Path) -> Floats:
    """Return the part of each answer that the line of a window may change, of times and restarts the least."""
    friendly = math.sqrt(ALPHA * (1 + BETA) / (1 - BETA) / 2 / path.loss)  # RFC 9438, Section 4.3
    times = chain_of(path).packets_per_round / friendly
    found = np.full(STALLS + 5, min(FORGOTTEN + MORE * max(0.0, times - FRIENDLY), 1.0))
    found[-2:] = FORGOTTEN
    return found


def packets_of(path: Path, video: Video, player: SegmentPlayer) -> int:
    """Return the packets of a segment, whole ones, or raise `InputError`."""
    if video.curve is not None:
        raise InputError("segments are followed at a constant rate, got a playback curve")
    packets = video.packet_rate * player.segment
    if not 1 <= packets <= MOST_PACKETS:
        raise InputError(
            f"a segment must have 1 to {MOST_PACKETS:,} packets, got {packets:g} in {player.segment:g} s at "
            f"{video.packet_rate:g} packets/s"
        )
    if player.segment < path.rtt:
        raise InputError(f"segment must be at least a round trip time of {path.rtt:g} s, got {player.segment:g} s")
    return math.ceil(packets - 1e-9)


@lru_cache(KEPT)
def _downloads(path: Path, restarts: bool, packets: int, how: Fineness) -> Downloads:
    """Return how long segments take, whatever the buffer holds."""
    if path.tcp == "cubic":
        few, slow = cubic(path, ratio=how.lines), path.initial_window
        after = with_line_restarts(few, slow, how.slow_starts) if restarts and slow is not None else None
        return downloads(few, after, packets, how.line_quanta, how.windows)
    chain = chain_of(path)
    assert isinstance(chain, IndependentChain)
    restarting = None
    if restarts:
        assert path.initial_window is not None
        restarting = with_idle_restarts(chain, path.initial_window, packets, how.thresholds)
    return downloads(chain, restarting, packets, how.quanta, how.windows)


def _solved(found: Downloads, path: Path, video: Video, player: SegmentPlayer, held: Held) -> Sessions:
    assert video.duration is not None
    segments, clock = segments_of(video, player), held.clock
    nodes, weights = laggauss(NODES)
    exponents = nodes * clock.step / video.duration
    begins, fetched = points_at_start(found, min(player.most_held, segments))
    ran = SegmentPass(found, clock, player.resumes_with, exponents, held.grids).run(segments - 1, begins)
    known = ran.seen.shape[1] - 1
    rows = []
    for k, (seen, rounds) in enumerate(zip(ran.seen, fetched), start=1):
        row = _longer(seen, segments - k, ran.gains)
        fetching, ratio = row[FETCHING] * clock.step + rounds * path.rtt, weights @ row[DAMPED:]
        rows.append([*row[: MEAN + 1], row[STALLED] * clock.step, ratio, fetching / segments, row[IDLE] / segments])
    answers = np.maximum(np.array(rows), 0.0)  # rounding may leave less than nothing
    most = np.array([segments] * (STALLS + 1) + [video.duration, 1, player.segment, 1])  # what is left out stalls
    errors = np.tile(found.left_out * most + RISK, (len(answers), 1))
    if segments - player.starts_with > known:
        more = segments - known
        errors[:, STALLS] += more * ran.apart[MEAN]
        errors[:, STALLS + 3] += more / segments * ran.apart[FETCHING] * clock.step
        errors[:, STALLS + 4] += more / segments * ran.apart[IDLE]
    for answer, error in zip(answers, errors):
        stalls = max(float(answer[0]), RISK)
        error[STALLS + 2] += stalls * quadrature_error(4 * answer[STALLS + 1] / stalls / video.duration)
    if player.most_held >= segments:  # it never waits for room
        answers[:, STALLS + 4] = errors[:, STALLS + 4] = 0.0
    off = found.left_out + (ran.apart[MEAN] if ran.settled else math.inf)
    return Sessions(
        answers, errors, segments - player.starts_with <= known, 1 - ran.seen[..., ANY], errors[:, ANY].copy(),
        np.maximum(ran.gains[[MEAN, STALLED]], 0.0) * [1, clock.step], off * np.array([1, player.segment]),
        join_rounds(found, min(player.starts_with, segments)), found,
    )  # fmt: skip


def segments_of(video: Video, player: SegmentPlayer) -> int:
    """Return the segments of a video, of which the last one may be shorter."""
    assert video.duration is not None
    return math.ceil(video.duration / player.segment - 1e-9)


def _levels(path: Path, video: Video, player: SegmentPlayer, points: int) -> tuple[Held, Held]:
    """Return levels of the buffer at two resolutions; no buffer is larger than the video.

    Near zero they are round trips apart where a segment has a few of them, and else so many to a segment; further apart
    above, where they would be too many.
    """
    room = min(player.client_buffer / player.segment, segments_of(video, player)) - 1
    cells = int(MOST_CELLS / points**2)
    fine = wanted = _steps(path, player, FINE.steps)
    most = MOST_LEVELS
    if room * fine > min(most, cells):
        most = max(LEAST_LEVELS, min(most, cells // 2))
        fine = min(fine, most // NEAREST)
    rough = _steps(path, player, ROUGH.steps)
    if fine < wanted:
        rough = max(1, min(rough, fine // 2))
    asked = reaches(room, fine, most)
    found = []
    for many, coarser in ((fine, 1.0), (rough, FINE.steps / ROUGH.steps)):
        clock = Clock(player.segment / many, many, room * many, path.rtt, path.rto)
        found.append(Held(clock, grids_of(asked, clock.room, many, coarser)))
    return found[0], found[1]


def _steps(path: Path, player: SegmentPlayer, steps: int) -> int:
    """Return the steps of a segment: its round trips, if they are whole and not more than so many, and else so many."""
    trips = player.segment / path.rtt
    return round(trips) if trips <= steps and abs(trips - round(trips)) < WHOLE else steps


def _longer(seen: Floats, segments: int, gains: Floats) -> Floats:
    """Return the row of so many segments, which may be more than were followed: those that settled go on alike."""
    known = len(seen) - 1
    row: Floats = seen[min(segments, known)].copy()
    more = segments - known
    if more > 0:
        row[MEAN:DAMPED] += more * gains[MEAN:DAMPED]
        for column in (ANY, *range(DAMPED, len(row))):
            left, before = 1 - row[column], 1 - seen[known - 1, column]
            row[column] = 1 - left * (left / before if before > 0 else 0.0) ** more
    return row

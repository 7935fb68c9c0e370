"""A stored video over a population of paths: the mean over sessions, and whether paths or chance decide."""

from __future__ import annotations

import numpy as np

from ..errors import InputError, instance
from ..path import Path
from ..system.threads import on_cores
from ..tcp import Varying
from ..video import Video
from .path_by_path import named
from .population_streaming import StoredPopulation
from .session_paths import Population
from .stored import stored
from .stored_streaming import StoredStreaming

__all__ = ["StoredPopulation", "stored_population"]


def stored_population(population: Population, video: Video, *, accuracy: str | None = None) -> StoredPopulation:
    """Solve stored-media streaming of a video over a population of paths: every answer is the mean over sessions.

    Parameters
    ----------
    population : Population
    video : Video
        Rate or playback curve, and duration; all sessions play it.
    accuracy : {"exact", "fine", "fast"}, optional
        As for `stored`, of each path.

    Returns
    -------
    StoredPopulation
        Answers for every startup delay.

    Raises
    ------
    InputError
        Without a duration, or with one shorter than a round of a path.
    AccuracyError
        When the pass of a path would need too much time or memory; the message names the path.

    Notes
    -----
    The answers of each path are those of Wang, Kurose, Shenoy and Towsley, Section 3.3.2. Different paths are solved on
    all cores, equal ones once.

    Examples
    --------
    >>> import tcpstream
    >>> good, bad = (tcpstream.Path(sender="classic", loss=p, rtt=0.1, rto=0.3, max_window=16) for p in (0.005, 0.04))
    >>> population = tcpstream.Population([good, bad], weights=[3, 1])
    >>> seen = tcpstream.stored_population(population, tcpstream.Video(packet_rate=40, duration=8))
    >>> round(seen.late_fraction(1.0), 3)
    0.115
    >>> chance, _ = seen.stalled([1.0])
    >>> print(f"{chance[0]:.1%} of the sessions stall")
    20.8% of the sessions stall
    >>> round(seen.between(1.0), 2)  # mostly those of one path
    0.73
    >>> round(seen.required_delay(no_late=0.9), 1)  # seconds, for nine sessions in ten
    2.9
    """
    instance("population", population, Population)
    instance("video", video, Video)
    if video.duration is None:
        raise InputError("a population needs the duration of the video [s]: only stored media are solved")

    def solve(case: tuple[Path | Varying, str]) -> tuple[StoredStreaming, float]:
        path, name = case
        result = named(name, lambda: stored(path, video, accuracy=accuracy))
        return result, result.throughput

    first = dict(zip(reversed(population.paths), reversed(population.names)))  # of equal paths the first name
    found = dict(zip(first, on_cores(solve, first.items())))
    results, throughput = zip(*(found[path] for path in population.paths))
    return StoredPopulation(population, video, results, np.array(throughput))

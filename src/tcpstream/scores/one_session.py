"""One session, solved: the answers that all others are inferred from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..answers.plan import is_coarse
from ..answers.stored import StoredStreaming, stored
from ..errors import TcpstreamError, unremarked
from ..numerics.curves import smallest_delay
from ..path import Path
from ..system.watch import time_limit
from ..tcp import throughput
from ..video import Video
from .question import Case, Question

PASSES = 10
"""Transients that both answers are worth, about."""

SETTLED = 1e-4
"""Half of what P(any stall) is known to by its bounds, where it is not solved."""

FINE = 0.05
"""Of a round trip, to which the error of a startup delay is searched."""

LATTICE = 0.5
"""Relative error of the probability that nothing is late in a round, on coarse lattices, at most."""


@dataclass(frozen=True)
class Solved:
    """The answers of a case.

    Attributes
    ----------
    loss : float
        p.
    throughput : float
        T [packets/s].
    delay, delay_error : float
        Required startup delay [s]; it may be too long by the error, never too short.
    stall, stall_error : float
        P(any stall), and how far it may be off.
    refused : str
        Why there are no answers; then they are nan.
    """

    loss: float = math.nan
    throughput: float = math.nan
    delay: float = math.nan
    delay_error: float = math.nan
    stall: float = math.nan
    stall_error: float = math.nan
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Whether there is nothing more to solve."""
        return bool(self.refused) or not math.isnan(self.delay)


def solve(case: Case, question: Question, *, all_of_it: bool = True) -> Solved:
    """Return the answers of a case, or loss rate and throughput alone; or why there are none.

    One session must not end a table of thousands.
    """
    try:
        with unremarked(), time_limit(question.time_limit):
            path = case.path(question)
            video = case.video(question)
            if not all_of_it:
                return Solved(path.loss, throughput(path))
            return _solved(path, video, question)
    except TcpstreamError as error:
        return Solved(refused=str(error))
    except Exception as error:
        return Solved(refused=f"{type(error).__name__}: {error}")


def _solved(path: Path, video: Video, question: Question) -> Solved:
    accuracy = question.accuracy or ("fast" if is_coarse([(path, video)], None, None, PASSES) else "exact")
    result = stored(path, video, accuracy=accuracy)
    delay = result.required_delay(question.target)
    shortest = _shortest(result, question.target, delay)
    return Solved(path.loss, throughput(path), delay, delay - shortest, *_stall(result, question.start))


def _shortest(result: StoredStreaming, target: float, delay: float) -> float:
    """Return a startup delay that does not suffice even if the late fraction is as small as its stated error allows."""
    if delay == 0:
        return 0.0

    def at_best(tau: float) -> float:
        off = result.relative_error(tau)
        late = result.late_fraction(tau)
        return max(late * (1 - off) if math.isfinite(off) else 0.0, 0.0)

    fine = FINE * result.path.rtt
    return max(min(smallest_delay(at_best, target, delay, tolerance=fine), delay) - 2 * fine, 0.0)


def _stall(result: StoredStreaming, start: float) -> tuple[float, float]:
    """Return P(any stall) and its error: from its bounds where they are close, else solved.

    A packet is late at most as probably as there are late packets on average, and at least as in the worst round.
    """
    most = min(result.late_at_worst(start) * result.timeline.judged, 1.0)
    if most <= 2 * SETTLED:
        return most / 2, most / 2
    least = float(result.late_probability_per_round(start).max(initial=0.0))
    least = max(least - LATTICE * (1 - least) - result.error_bound, 0.0)
    if least >= 1 - 2 * SETTLED:
        return (1 + least) / 2, (1 - least) / 2
    late, off = result.stalled(np.array([start]))
    return float(late[0]), float(off[0])

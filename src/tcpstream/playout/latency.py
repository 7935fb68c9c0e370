"""How long the backlog of a live stream stays below a level: passes back from the end of the stream."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.latency_passes import GENERATING, Later, Moves, back_in_stream
from ..system import watch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIRST, LATER = 32, 4
"""Rounds after which the hazard is looked at first, beyond those in which the level can be reached, and after which
part of a pass again."""

SETTLED, HALF = 1e-3, 0.5
"""Relative change of the hazard between two looks at which the rest of a stream is not followed, and how much less it
must be than the one before."""

FORGOTTEN = 10.0
"""Times the memory of the backlog, after which what is next to nothing stays so."""

ROUNDING = 1e-15
"""Probability that a round may lose or gain by rounding."""

NOISE = 1e-9
"""By which a probability may be off in a pass."""

NANOSECONDS, MOST_SECONDS = 0.6, 60.0
"""Of a product in a pass, about; and the time that it may take."""

MOST_BYTES = 4 * 2**30
"""Memory that a pass may take."""

CHUNK = 1e9
"""Products between two looks at the watch."""


@dataclass(frozen=True, eq=False)
class Below:
    """How probable it is that a level is not passed, by the rounds of a stream.

    Attributes
    ----------
    logs : (n + 1,) array
        Logarithms of the probability after 0 .. n rounds.
    hazard, off : float
        What a further round subtracts, and how much of it may be wrong.
    """

    logs: Floats
    hazard: float
    off: float

    def passed(self, rounds: float) -> tuple[float, float]:
        """Return minus the logarithm of the probability after some rounds, and its error."""
        known = len(self.logs) - 1
        if rounds <= known:
            return float(-np.interp(rounds, np.arange(known + 1), self.logs)), ROUNDING * rounds
        beyond = rounds - known
        return float(self.hazard * beyond - self.logs[-1]), self.off * beyond + ROUNDING * rounds


@dataclass(frozen=True, eq=False)
class Lattice:
    """A chain whose deliveries are quanta.

    Attributes
    ----------
    moves : Moves
    start : int
        State in which a video begins.
    memory : float
        Rounds in which the backlog forgets, about; infinite where TCP is slower than the video.
    drains : float
        Rounds in which a quantum of backlog is sent; infinite likewise.
    quantum : float
        [packets]
    """

    moves: Moves
    start: int
    memory: float
    drains: float
    quantum: float

    @property
    def depths(self) -> Ints:
        """Rounds of which values are needed, by state."""
        depths = np.full(len(self.moves.plain.starts) - 1, 2)
        for one in self.moves:
            np.maximum.at(depths, one.target, one.lasts + 2)
        return depths


@dataclass(frozen=True, eq=False)
class Latency(Lattice):
    """A chain with a live stream on a lattice; attributes as for `Lattice`, and

    Attributes
    ----------
    due : int
        Quanta generated in a round.
    """

    due: int

    @classmethod
    def on(cls, one: Lattice, due: int) -> Latency:
        """Return a chain with so many quanta generated in a round."""
        return cls(one.moves, one.start, one.memory, one.drains, one.quantum, due)

    @property
    def certain(self) -> int:
        """Quanta of startup delay below which every stream stalls: nothing is there after one round."""
        return self.due

    def below(self, level: int, rounds: int) -> Below:
        """Return how probable it is that the backlog does not pass a level [quanta] within so many rounds.

        Raises
        ------
        AccuracyError
            Where it takes too long, or too much memory.
        """
        return self._pass(level, GENERATING, rounds)

    def ended(self, level: int, length: float) -> tuple[float, float]:
        """Return minus the logarithm of the probability that no packet of a whole stream is late, and its error.

        Parameters
        ----------
        level : int
            Quanta of startup delay.
        length : float
            Of the stream [rounds].

        Raises
        ------
        AccuracyError
            As `below`.
        """
        generated = math.ceil(length * self.due - 1e-6)
        rounds = -(-(level + generated) // self.due)
        found = self._pass(level, rounds * self.due - generated, rounds)
        return found.passed(rounds)

    def _pass(self, level: int, floor: int, rounds: int) -> Below:
        """Go back from the end of a stream until its begin, or until the hazard has settled."""
        groups = sum(len(one.target) for one in self.moves)
        products = float(groups) * (min(level, rounds * self.due - max(floor, 0)) + self.due)
        reached = level / self.due + FIRST
        _check(products * min(rounds, reached + FORGOTTEN * self.memory), rounds)
        later, values = self._later(level), np.ones(rounds + 1)
        chunk, look, known, hazards = max(1, int(CHUNK / products)), int(reached), 0, [math.inf, math.inf]
        while known < rounds:
            until = min(rounds, look, known + chunk)
            watch.at(known, rounds, watch.SHORTER)
            back_in_stream(known, until, rounds, self.due, floor, self.moves, later, self.start, values)
            _check_law(values[known : until + 1])
            known = until
            if values[known] <= 0:
                break
            if known == look:
                look += look // LATER
                hazards.append(math.log(values[known - 1] / values[known]))
                if values[known] < 1 and self._settled(known - reached, hazards):
                    break
        with np.errstate(divide="ignore"):
            logs = np.log(np.clip(values[: known + 1], 0.0, 1.0))
        if known == rounds or values[known] <= 0:
            return Below(logs, 0.0, 0.0)
        return Below(logs, max(hazards[-1], 0.0), abs(hazards[-1] - hazards[-2]))

    def _settled(self, rounds: float, hazards: list[float]) -> bool:
        """Return whether the hazard changes no more, so many rounds after the level can be reached."""
        before, then, now = hazards[-3:]
        if now <= ROUNDING:
            return rounds > FORGOTTEN * self.memory
        change = abs(now - then)
        return change <= SETTLED * now and change <= HALF * abs(then - before)

    def _later(self, level: int) -> Later:
        """Return room for values, those of the end."""
        depths = self.depths
        size = 8 * int(depths.sum()) * (level + 1)
        if size > MOST_BYTES:
            raise AccuracyError(
                f"a live player would take {size / 2**30:.3g} GiB of memory to follow, more than the limit of "
                f"{MOST_BYTES / 2**30:g}: take a shorter startup delay, a smaller max_window or a shorter timer"
            )
        return Later(np.cumsum(depths) - depths, depths, np.ones((int(depths.sum()), level + 1)))


def _check_law(values: Floats) -> None:
    """Raise `AccuracyError` unless values are probabilities of longer and longer times."""
    if not (values.min() > -NOISE and values.max() < 1 + NOISE and np.diff(values).max(initial=0.0) < NOISE):
        raise AccuracyError(
            "the backlog of a live stream was followed by too few windows: its law grows, or is no probability; take a "
            "smaller max_window, or a rate that gives whole packets in a round"
        )


def _check(products: float, rounds: int) -> None:
    """Raise `AccuracyError` for a pass of too many products."""
    seconds = products * NANOSECONDS * 1e-9
    if seconds > MOST_SECONDS:
        raise AccuracyError(
            f"a live player would be followed through {rounds:,} round trips, again and again, each time for about "
            f"{seconds / 60:.2g} minutes, more than the limit of {MOST_SECONDS / 60:g}: take {watch.SHORTER} or a "
            "shorter startup delay"
        )

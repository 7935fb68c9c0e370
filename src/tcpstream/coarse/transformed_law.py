"""The distribution of the packets delivered after some losses: its transform is followed step by step."""

from __future__ import annotations

import math
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.transformed_steps import transformed_steps
from ..system import watch
from .in_moments import in_moments
from .long_law import FAR, PERIOD, TILT
from .outlook import stationary
from .steps import Steps
from .transforms import Transforms

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

REACH = 16.0
"""Of the transform, over one in the standard deviation at the begin: what single losses decide has sharp edges."""

TOGETHER = 2.0
"""Times a wait that all waits last of which each is twice as long as the one before."""

MOST = 512
"""Values of theta on a line, of which more are not worth it."""

AT_ONCE, STEPS = 32, 32
"""Values of theta that lie side by side in memory, and steps that are made at a time; the latter is even."""


class TransformedLaw:
    """E[(y - A)+] from E exp(-theta A) along vertical lines, at the ends of steps, made as far as it is asked for.

    As `coarse.long_law.LongLaw`, before there is one mode. No lattice blurs the law, and values of theta are far fewer
    than positions of a lattice.

    Parameters
    ----------
    steps : Steps
    begin, end : float
        Rounds from which on it is asked for, and up to which about.
    edge : float
        Packets up to which it is used.
    due : float
        m, packets due per round.
    decay : float
        Rate at which late packets become rarer with the lead, 0 where they do not [1 / packet].
    every : int
        Steps between times at which a sum over time is known well enough.
    quantum : float
        Packets between which a slope is.

    Raises
    ------
    AccuracyError
        Where long waits, or next to nothing, are random: that takes too many values of theta.
    """

    def __init__(
        self, steps: Steps, begin: float, end: float, edge: float, due: float, decay: float, every: int, quantum: float
    ) -> None:  # fmt: skip
        self.step, self.quantum, self.edge = float(steps.step * every), quantum, edge
        self._steps = steps
        rate = min(steps.chain.packets_per_round, due)
        known = in_moments(steps.chain)
        self._mean, self._variance = rate * steps.step, max(known.rates[1], 0.0)
        self._usual, self._first = known.rates[0], float(known.outlook[steps.chain.first_state])
        least, most = (math.sqrt(self._variance * rounds) for rounds in (begin, end))
        usual = min(TILT / most if most else math.inf, _tilt(steps, end / steps.step))
        self._tilts = [usual, *([decay] if decay > 2 * usual else [])]
        gap = 2 * math.pi * usual / (TILT * PERIOD)
        if not MOST * gap * least > REACH:
            raise AccuracyError("distribution of the packets delivered: waits are long, for what else varies")
        count = AT_ONCE * math.ceil(REACH / least / gap / AT_ONCE)
        self._theta: Complexes = np.array(self._tilts)[:, np.newaxis] + 1j * gap * np.arange(count)
        self._parts: list[_Part] | None = self._begun()
        self._factor: Complexes = np.asarray((gap / math.pi) / self._theta**2, dtype=np.complex128)
        self._factor[:, 0] /= 2
        self._rows = np.zeros((0, *self._theta.shape), dtype=np.complex128)
        self._lock = Lock()

    def until(self, rounds: float) -> int:
        """Make what is needed up to a round; return how many steps there are."""
        wanted = math.ceil(rounds / self._steps.step - 1e-9) + 1
        while len(self._rows) < wanted:
            watch.at(len(self._rows), wanted, watch.SHORTER)
            with self._lock:
                if len(self._rows) < wanted:
                    self._make()
        return len(self._rows)

    def _begun(self) -> list[_Part]:
        moves = Transforms(self._steps)
        return [_Part(self._steps, moves, theta, self._mean) for theta in self._theta.reshape(-1, AT_ONCE)]

    def _make(self) -> None:
        """Make some more steps. The parts are taken away meanwhile: after an interruption they are made again."""
        parts, self._parts = self._parts, None
        if parts is None:
            parts = self._begun()
            for number in range(0, len(self._rows), STEPS):
                for one in parts:
                    one.made(number)
        made = np.concatenate([one.made(len(self._rows)) for one in parts], axis=1)
        self._rows = np.concatenate([self._rows, made.reshape(STEPS, *self._theta.shape)])
        self._parts = parts

    def below(self, rounds: float) -> float:
        """Return a bound on the probability that A is below the edge after some rounds."""
        number = max(math.floor(rounds / self._steps.step + 1e-9), 1)
        self.until(number * self._steps.step)
        first = self._rows[number - 1, 0, 0].real
        return min(1.0, float(first) * math.exp(min(self._tilts[0] * (self.edge - self._mean * number), 700.0)))

    def missing(self, rounds: Floats, packets: Floats) -> Floats:
        """Return E[(y - A)+] for y = `packets` at the ends of `rounds`, real numbers, between the ends of steps."""
        self.until(float(rounds.max(initial=0.0)))
        x = rounds / self._steps.step
        low = np.floor(x + 1e-9).astype(np.int64)
        share = np.where(x - low < 1e-9, 0.0, x - low)
        after = self._after(low, packets - share * self._mean)
        between = share > 0
        if between.any():
            later = self._after(low[between] + 1, packets[between] + (1 - share[between]) * self._mean)
            after[between] = (1 - share[between]) * after[between] + share[between] * later
        return after

    def _after(self, n: NDArray[np.int64], y: Floats) -> Floats:
        """Return the same after some steps: along the line on which the integrand is least."""
        if len(n) == 0:
            return np.zeros(0)
        rounds, rows = n * self._steps.step, self._rows[np.maximum(n, 1) - 1]
        usual = self._first + self._usual * rounds
        far = np.maximum(y - usual - FAR * np.sqrt(self._variance * rounds), 0.0)  # the slope is 1
        ahead = y - far - self._mean * n
        tilts = np.array(self._tilts)
        with np.errstate(divide="ignore"):
            largest = np.log(np.abs(rows[:, :, 0])) + ahead[:, np.newaxis] * tilts - 2 * np.log(tilts)
        line = np.argmin(largest, axis=1)
        each = np.arange(len(n))
        sums = (np.exp(ahead[:, np.newaxis] * self._theta[line]) * rows[each, line] * self._factor[line]).sum(axis=1)
        return np.where(y > 0, np.maximum(sums.real, 0.0) + far, 0.0)


def _tilt(steps: Steps, number: float) -> float:
    """Return the largest tilt with which no wait in so many steps weighs more than all else, however rare."""
    visits = stationary(steps.source, steps.target, steps.weight, steps.entries)
    flow = np.abs(visits[steps.source] * steps.weight) * number
    with np.errstate(divide="ignore"):
        weight = np.clip(-np.log(flow), TILT, TILT * PERIOD)
    return float((weight / np.maximum(steps.elapsed, 1.0)).min()) / (TOGETHER * steps.chain.packets_per_round)


class _Part:
    """Some theta of a line: what each entry has, after the steps that were made."""

    def __init__(self, steps: Steps, moves: Transforms, theta: Complexes, mean: float) -> None:
        self.theta, lag = theta, moves.lag.astype(np.int64)
        late = np.flatnonzero(lag > 1)
        soon = np.flatnonzero(lag == 1)
        soon = soon[np.argsort(moves.target[soon], kind="stable")]
        self._begins = np.searchsorted(moves.target[soon], np.arange(steps.entries + 1))
        self._sources = moves.source[soon]
        self._targets, place = np.unique(moves.target[late], return_inverse=True)
        self._late = np.column_stack([moves.source[late], place.ravel(), lag[late]])
        line = complex(theta[0]), float(theta[1].imag - theta[0].imag), len(theta)
        self._soon = moves.along(soon, *line, mean * moves.lag)
        self._landing = moves.along(late, *line, mean * moves.lag)
        self._holding, self._held = moves.not_in_order(*line, mean)
        size = int(lag.max(initial=1)) + 1
        earlier = np.exp(-mean * np.arange(size)[:, np.newaxis] * theta)
        self._earlier = np.stack([earlier.real, earlier.imag], axis=1)
        self._x, self._new = np.zeros((2, 2, steps.entries, len(theta)))
        self._x[0, steps.start] = 1.0
        self._ring = np.zeros((size, 2, len(self._targets), len(theta)))
        self._landed = np.zeros((size, 2, len(theta)))

    def made(self, number: int) -> Complexes:
        """Make steps after so many, and return the transform after each of them."""
        found = np.zeros((STEPS, 2, len(self.theta)))
        transformed_steps(
            self._begins, self._sources, self._soon, self._late, self._landing, self._targets, self._holding,
            self._held, self._earlier, self._x, self._new, self._ring, self._landed, number, found,
        )  # fmt: skip
        return found[:, 0] + 1j * found[:, 1]

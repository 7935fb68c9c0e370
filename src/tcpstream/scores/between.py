"""What solved sessions say of all others: a better path does no worse, and what lies between them is inferred."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from .carried import Carried, timers, varying
from .distinct import Sessions
from .one_session import Solved
from .surface import Surface, fit, nearest

Floats = NDArray[np.float64]

LEAST = 1e-4
"""P(any stall) below this, and above 1 less this, is not told apart between solved sessions."""

OFFSET = 0.3
"""Seconds of delay below which differences count by themselves, above which by their ratio."""

CORNER = 0.03
"""Of mu/T around 1, where a video that TCP just carries needs a delay all the same."""

MOST = 20.0
"""Logarithm of a ratio of delays, at most."""

NARROW = 0.1
"""Of ln T/mu around 0: there answers change the most."""

OTHERS = 0.7
"""Weight of the logarithms of R, R_TO, rate and duration beside that of T/mu."""

SAME = 1e-9
"""Relative difference of values that are the same."""


@dataclass(frozen=True)
class Bounds:
    """Between which values answers lie, by case: lows and highs of P(any stall) and of the required delay [s]."""

    stall_low: Floats
    stall_high: Floats
    delay_low: Floats
    delay_high: Floats

    @property
    def unknown(self) -> Floats:
        """How much is not known, by case: 0 where answers are settled."""
        low, high = np.log(self.delay_low + OFFSET), np.log(np.minimum(self.delay_high, 1e8) + OFFSET)
        return np.asarray(self.stall_high - self.stall_low + 0.2 * np.minimum(high - low, 1.0))


def badness(cases: Sessions, paths: Carried) -> tuple[Floats, Floats]:
    """Return coordinates in which less is no worse, with the error of p off it and on it; (n, 5) each."""
    numbers = cases.numbers
    rest = [numbers[:, 1], timers(numbers), numbers[:, 3], numbers[:, 4]]
    best, worst = (paths.loss * (1 + sign * paths.loss_error) for sign in (-1, 1))
    return np.column_stack([best, *rest]), np.column_stack([worst, *rest])


def bounds(cases: Sessions, paths: Carried, known: dict[int, Solved]) -> Bounds:
    """Return what solved cases say of all by order alone.

    Less loss, a shorter round trip and timer, a lower rate and a shorter video make no stall more probable, and but for
    the length of the video, no required delay longer.
    """
    best, worst = badness(cases, paths)
    count = len(cases)
    found = Bounds(np.zeros(count), np.ones(count), np.zeros(count), np.full(count, np.inf))
    for i, one in known.items():
        if one.refused:
            continue
        no_better = np.all(best >= worst[i] * (1 - SAME), axis=1)
        no_worse = np.all(worst <= best[i] * (1 + SAME), axis=1)
        no_better[i] = no_worse[i] = True
        as_long = np.abs(best[:, 4] / best[i, 4] - 1) < SAME
        _raise(found.stall_low, no_better, max(one.stall - one.stall_error, 0.0))
        _lower(found.stall_high, no_worse, min(one.stall + one.stall_error, 1.0))
        _raise(found.delay_low, no_better & as_long, one.delay - one.delay_error)
        _lower(found.delay_high, no_worse & as_long, one.delay)
    return found


def _raise(low: Floats, where: NDArray[np.bool_], value: float) -> None:
    low[where] = np.maximum(low[where], value)


def _lower(high: Floats, where: NDArray[np.bool_], value: float) -> None:
    high[where] = np.minimum(high[where], value)


@dataclass(frozen=True)
class Told:
    """Answers of all cases, and what they were told by."""

    stall: Floats
    stall_error: Floats
    delay: Floats
    delay_error: Floats
    coverage: float


def told(cases: Sessions, paths: Carried, known: dict[int, Solved], checks: list[int]) -> Told:
    """Return the answers of all cases: solved ones as they are, others between those within their bounds.

    Surfaces leave `checks` out, which are solved cases drawn at random: by them their errors are calibrated.
    """
    solved = [i for i, one in known.items() if not one.refused]
    checks = [i for i in checks if i in solved]
    good = [i for i in solved if i not in checks]
    by_order = bounds(cases, paths, known)
    if len(good) < 2:
        stall = (by_order.stall_low + by_order.stall_high) / 2, (by_order.stall_high - by_order.stall_low) / 2
        delay = by_order.delay_high, by_order.delay_high - by_order.delay_low
        found = Told(*stall, *delay, 0.0)
    else:
        where = _places(cases, paths)
        stalls = np.array([known[i].stall for i in good])
        delays = np.array([known[i].delay for i in good])
        fluid = _fluid(cases, paths)
        seen = fit(where[good], _normal(stalls))
        wait = fit(where[good], np.log((delays + OFFSET) / fluid[good]))
        if checks:
            seen = seen.held(where[checks], _normal(np.array([known[i].stall for i in checks])))
            wait = wait.held(
                where[checks], np.log((np.array([known[i].delay for i in checks]) + OFFSET) / fluid[checks])
            )
        closest = nearest(where[good], where)[1]
        off = np.array([known[i].stall_error for i in good])[closest]
        stall_at, *stalls_told = _stalls(seen, where, off)
        share = np.array([known[i].delay_error / (known[i].delay + OFFSET) for i in good])[closest]
        delay_at, *delays_told = _delays(wait, where, share, fluid)
        stall = _within(stall_at, stalls_told, by_order.stall_low, by_order.stall_high)
        delay = _within(delay_at, delays_told, by_order.delay_low, by_order.delay_high)
        found = Told(*stall, *delay, min(seen.coverage, wait.coverage))
    for i in solved:
        one = known[i]
        found.stall[i], found.stall_error[i] = one.stall, one.stall_error
        found.delay[i], found.delay_error[i] = one.delay, one.delay_error
    return found


def _places(cases: Sessions, paths: Carried) -> Floats:
    """Return where cases lie for surfaces: T/mu, stretched where it is 1, and logarithms of the others that vary."""
    numbers = cases.numbers
    load = np.arcsinh(np.log(paths.throughput / numbers[:, 3]) / NARROW)
    rest = [numbers[:, 1], numbers[:, 3], numbers[:, 4]]
    if not np.isnan(numbers[:, 2]).all():
        rest.append(timers(numbers))
    where = np.column_stack([load, OTHERS * np.log(np.column_stack(rest))])
    where = np.where(np.isfinite(where), where, 0.0)  # of what has no answer
    return where[:, varying(where)]


def _normal(stalls: Floats) -> Floats:
    """Return probabilities as the normal deviates that have them."""
    return np.asarray(ndtri(np.clip(stalls, LEAST, 1 - LEAST)), dtype=np.float64)


def _stalls(surface: Surface, where: Floats, off: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(any stall), and from where to where it may be."""
    value, error = surface.at(where)
    low, high = ndtr(value - error) - off, ndtr(value + error) + off
    low[low < LEAST] = 0.0
    high[high > 1 - LEAST] = 1.0
    return ndtr(value), low, np.maximum(high, LEAST)


def _delays(surface: Surface, where: Floats, share: Floats, fluid: Floats) -> tuple[Floats, Floats, Floats]:
    """Return required delays [s], and from where to where they may be."""
    value, error = surface.at(where)
    low, high = (fluid * np.exp(np.minimum(value + sign * error, MOST)) - OFFSET for sign in (-1, 1))
    low -= share * (low + OFFSET)
    at = fluid * np.exp(np.minimum(value, MOST)) - OFFSET
    return np.maximum(at, 0.0), np.maximum(low, 0.0), np.maximum(high, 0.0)


def _fluid(cases: Sessions, paths: Carried) -> Floats:
    """Return what delays are held against [s]: that of steady rates, D (mu/T - 1)+, with its corner smoothed."""
    rate, duration = cases.numbers[:, 3], cases.numbers[:, 4]
    spare = (rate / paths.throughput - 1) / CORNER
    found = duration * CORNER * np.logaddexp(0.0, np.where(np.isfinite(spare), spare, 0.0))
    return np.asarray(found + OFFSET)


def _within(value: Floats, told: list[Floats], least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Return values and errors of which nothing is left outside of bounds."""
    low, high = np.clip(told, least, most)
    value = np.clip(value, low, high)
    return value, np.maximum(high - value, value - low)

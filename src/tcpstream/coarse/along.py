"""Modes along a vertical line: some are solved for, the others lie between them."""

from __future__ import annotations

import cmath
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..numerics.weights import lagrange
from .modes import Mode, Modes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

MANY = 4.0
"""Times the frequencies of a normal distribution, at most."""

KNOWN = 12
"""Frequencies from which it is known about where the mode of the next one is."""

FIRST = 6
"""Modes that are solved for at first, about."""

ORDER = 8
"""Of them, between which others lie on a polynomial."""

OFF = 1e-6
"""Of the transform, over its largest value, by which polynomials may miss those that are solved for next: what lies
between twice as many is hundreds of times as exact."""


class Line(NamedTuple):
    """Modes along a vertical line.

    Attributes
    ----------
    theta : (k,) complex array
        From the real axis upwards, in equal steps.
    value, factor, slope : (k,) complex arrays
        See `coarse.modes.Mode`.
    """

    theta: Complexes
    value: Complexes
    factor: Complexes
    slope: Complexes


def along(modes: Modes, tilt: float, gap: float, begin: float, vanished: float) -> Line:
    """Return the modes at theta = `tilt` and upwards, so far apart, as far as they matter after some rounds.

    Parameters
    ----------
    modes : Modes
    tilt, gap : float
        [1 / packet]
    begin : float
        Rounds.
    vanished : float
        Of the transform then, where it is no longer followed.

    Raises
    ------
    AccuracyError
        Where there is more than one mode.
    """
    steps = begin / modes.rounds
    usually = 8 + math.sqrt(-2 * math.log(vanished) / (steps * modes.variance)) / gap
    apart = 2 ** max(0, math.floor(math.log2(usually / FIRST)))
    found = _first(modes, _Places(modes, tilt, gap * apart), steps, vanished, usually / apart)
    missed = math.inf
    while apart > 1 and missed > OFF:
        apart //= 2
        told = _Places(modes, tilt, 2 * gap * apart).between(found, 2)
        both = found
        found = [
            both[i // 2] if i % 2 == 0 else modes.at(theta, value, both[i // 2])
            for i, (theta, value) in enumerate(zip(told.theta.tolist(), told.value.tolist()))
        ]
        missed = _missed(told, _line(told.theta, found), steps)
    return _Places(modes, tilt, gap * apart).between(found, apart)


class _Places:
    """Places on a line, so far `apart`."""

    def __init__(self, modes: Modes, tilt: float, apart: float) -> None:
        self._modes, self._tilt, self._apart = modes, tilt, apart

    def at(self, numbers: Floats) -> Complexes:
        """Return theta at numbers of places."""
        return np.asarray(self._tilt + 1j * self._apart * numbers)

    def between(self, found: list[Mode], parts: int) -> Line:
        """Return what lies between modes at all places, so many parts from one to the next."""
        line = _line(self.at(np.arange(len(found), dtype=np.float64)), found)
        if parts == 1:
            return line
        below = min(ORDER // 2, len(found) - 1)  # the values of a conjugate are conjugate
        nodes = np.arange(-below, len(found))
        numbers: Floats = np.arange((len(found) - 1) * parts + 1) / parts
        count = min(ORDER, len(nodes))
        first = np.clip(np.floor(numbers).astype(np.int64) - ORDER // 2 + 1, -below, len(found) - count)
        near = first[:, np.newaxis] + np.arange(count)
        weights = lagrange(near.astype(np.float64), numbers)
        theta = self.at(numbers)
        usual, told = self._modes.about(line.theta), self._modes.about(theta)

        def smooth(values: Complexes) -> Complexes:
            return np.asarray((weights * np.append(values[below:0:-1].conj(), values)[near + below]).sum(axis=1))

        return Line(
            theta,
            told * np.exp(smooth(_logarithm(line.value / usual))),
            np.exp(smooth(_logarithm(line.factor))),
            smooth(line.slope),
        )


def _first(modes: Modes, places: _Places, steps: float, vanished: float, usually: float) -> list[Mode]:
    """Return the modes from the real axis upwards, until they have vanished after so many steps."""
    found: list[Mode] = []
    wrong: list[complex] = []
    decayed = 0.0
    while not found or decayed >= math.log(vanished):
        if len(found) > usually and decayed * usually * MANY > math.log(vanished) * len(found):  # at this pace too many
            raise AccuracyError("distribution of the packets delivered: more than one mode matters")
        one = complex(places.at(np.array([float(len(found))]))[0])
        with np.errstate(over="ignore"):
            usual = complex(modes.about(one))
        if not cmath.isfinite(usual):
            raise AccuracyError("distribution of the packets delivered: it is far from a normal one")
        found.append(modes.at(one, usual * np.exp(_continued(wrong)), found[-1] if found else None))
        decayed = steps * math.log(abs(found[-1].value / found[0].value))
        wrong.append(complex(np.log(found[-1].value / usual)))
    return found


def _continued(values: list[complex]) -> complex:
    """Return the next one of a smooth sequence."""
    last = values[-KNOWN:]
    if not last:
        return 0j
    line = np.polynomial.polynomial.polyfit(np.arange(-len(last), 0), np.array(last), min(3, len(last) - 1))
    return complex(line[0])


def _line(theta: Complexes, found: list[Mode]) -> Line:
    value, factor, slope = (np.array(column) for column in list(zip(*found))[:3])
    return Line(theta, value, factor, slope)


def _logarithm(values: Complexes) -> Complexes:
    """Return the logarithm, without jumps by a turn."""
    return np.asarray(np.log(np.abs(values)) + 1j * np.unwrap(np.angle(values)))


def _missed(told: Line, solved: Line, steps: float) -> float:
    """Return by how much of its largest value the transform is missed, after so many steps or later."""
    decay = np.maximum(-np.log(np.abs(solved.value / solved.value[0])), 1e-300)
    n = np.maximum(steps, 1 / decay)  # when what is wrong with the value matters most
    wrong = n * np.abs(np.log(told.value / solved.value)) + np.abs(np.log(told.factor / solved.factor))
    return float((np.exp(-n * decay) * wrong)[1:].max(initial=0.0))

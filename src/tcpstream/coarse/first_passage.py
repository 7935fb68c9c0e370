"""The probability that a lead over playback ends within a video of many losses: its transform has one mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from .along import along
from .long_law import PERIOD, TILT
from .modes import Modes

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

APART = 9.0
"""Standard deviations times the distance of two poles, from where on lines are laid between them."""

NEARER = 1.0, 1 / 2, 1 / 3
"""Of the distance of a line from a pole: sums along it are right to 1e-5 with the last."""

NEARBY, BENT = 0.03, 1e-3
"""Of phi, and of the slope of log lambda: a second difference above which another mode is near. Waits that follow each
other have modes of their own, which are the larger ones far on the right."""

CROSSED = "first passage: more than one mode matters"

LOOKED_AT, ALIKE = (0.25, 0.5, 1.0, 2.0), 1e-4
"""Standard deviations, above the mean lead that ends, at which lines are compared, and their difference, over one and
what is summed, of the same."""

SUNK = 1e9
"""Size of what is integrated right of 0 where hardly any lead does not end: less is left of that than rounding."""

VANISHED = 1e-8
"""Of what is integrated, where it is no longer followed."""

ROOTS, ROOT = 60, 1e-6
"""Steps of Newton's method for a pole, and the change that ends them, relative and over one in the longest wait."""

NEAR, FAR, LEADS = 0.25, 3.0, 12
"""Standard deviations between which leads are looked at, and how many."""

FITS, WORST = 30, 8e-3
"""Steps of a fit at most, and the relative residual above which it is none."""

SURE = 1e-12
"""Probability that no lead ends which is none."""

STEEP, LEAST = 1e-6, 1e-300
"""Of a parameter, over its scale, for slopes, and the smallest probability that has a logarithm."""


class FirstPassage:
    """P(min N < -x in the first n rounds) = int exp(-phi x) b(phi) exp(n psi) psi' / psi dphi / (2 pi i).

    N = A - m n is the lead over playback, and psi(phi) = log lambda(phi) / h + phi m per round, in steps of h. The line
    of integration lies right of both zeros of psi; other lines pass a pole or two. b(phi) is c(phi), what the start is
    ahead of the long run, times exp(-phi r - phi^2 s / 2), what happens where the lead ends: `fitted` finds r and s.

    Parameters
    ----------
    modes : Modes
    due : float
        m [packets].
    begin, end : float
        Rounds from which on, and up to which, it is asked for.

    Attributes
    ----------
    variance : float
        Of the packets of a round, in the long run.

    Raises
    ------
    AccuracyError
        Where there is more than one mode, or none is found.
    """

    def __init__(self, modes: Modes, due: float, begin: float, end: float) -> None:
        spread = math.sqrt(modes.variance * end / modes.rounds) + modes.longest
        gap, t = 2 * math.pi / (PERIOD * spread), TILT / spread
        self._modes, self._due, self.variance = modes, due, modes.variance / modes.rounds
        root = -math.inf if _falls_fast(modes, due, APART / spread) else _root(modes, due)
        if root is None:
            tilts = [_right(modes, 0.0, t)]
        elif root * spread < APART:
            tilts = [_right(modes, max(0.0, root), t), -t if root * spread < -APART else min(0.0, root) - t]
        elif _is_single(modes, root):
            tilts = [t, -t, root - t]
        else:
            raise AccuracyError(CROSSED)
        zeros = [0.0] if root is None else [0.0, root]
        right = self._line(tilts[0], gap, begin, zeros)
        others = []
        for tilt in tilts[1:]:
            try:
                others.append(self._line(tilt, gap, begin, zeros))
            except AccuracyError:
                if modes.mean >= due * modes.rounds:
                    raise
        fall = max(0.0, due - modes.mean / modes.rounds) * begin
        leads = fall + math.sqrt(modes.variance * begin / modes.rounds) * np.array(LOOKED_AT)
        self._lines = [right, *(one for one in others if _agree(right, one, leads, begin))]

    def _line(self, tilt: float, gap: float, begin: float, zeros: Sequence[float]) -> _Line:
        return _Line(self._modes, self._due, tilt, gap, begin, [x for x in zeros if x > tilt])

    def late(self, leads: Floats, rounds: float, near: Floats) -> Floats:
        """Return the probability for some leads at the start [packets] within so many rounds, with r and s."""
        found = [one.values(leads, rounds, *near) for one in self._lines]
        best = np.argmin([size for size, _ in found], axis=0)
        sizes, chosen = (np.choose(best, one) for one in zip(*found))
        return np.clip(np.where(sizes < SUNK, chosen, 1.0), 0.0, 1.0)

    def later(self, known: float, lead: float, begin: float, rounds: Floats, near: Floats) -> Floats:
        """Return the probability for a lead [packets] within some rounds, where it is `known` within those of `begin`.

        Of what has not ended by then as much ends later as r and s tell.
        """
        leads = np.array([lead])
        then, *told = (float(self.late(leads, x, near)[0]) for x in [begin, *rounds.tolist()])
        found: Floats = 1 - (1 - known) * (1 - np.array(told)) / max(1 - then, SURE)
        return np.clip(found, known, 1.0)


def fitted(passage: FirstPassage, leads: Floats, rounds: float, late: Floats, worst: float = WORST) -> Floats:
    """Return r and s that explain what is known for some leads within so many rounds, to a part `worst` of it.

    Raises
    ------
    AccuracyError
        Where there are none.
    """
    near, wrong = np.zeros(2), math.inf
    variance = passage.variance * rounds
    scale = np.array([math.sqrt(variance), variance])
    for _ in range(FITS):
        one, first, second = (
            np.log(np.maximum(passage.late(leads, rounds, near + np.array(more) * scale), LEAST))
            for more in ((0.0, 0.0), (STEEP, 0.0), (0.0, STEEP))
        )
        before, wrong = wrong, float(np.abs(one - np.log(late)).max())
        if abs(before - wrong) < WORST / 100:
            break
        slopes = np.column_stack([first - one, second - one]) / STEEP
        near = near + np.linalg.lstsq(slopes, np.log(late) - one, rcond=None)[0] * scale
    if not wrong <= worst:
        raise AccuracyError(f"first passage: off by {wrong:.2g}")
    return near


def that_end(fall: float, sigma: float) -> Floats:
    """Return leads of which some end in a time and others do not, where they fall by so much [packets].

    Parameters
    ----------
    fall, sigma : float
        By how much a lead falls in that time on average, 0 if it grows, and the standard deviation of its change
        [packets].
    """
    return np.linspace(max(NEAR * sigma, fall - FAR * sigma), fall + FAR * sigma, LEADS)


def _agree(right: _Line, other: _Line, leads: Floats, rounds: float) -> bool:
    """Return whether two lines say the same.

    Left of 0 a slow start without loss may weigh more than all else: then sums along a line have no accuracy.
    """
    (size, late), (other_size, other_late) = (one.values(leads, rounds, 0.0, 0.0) for one in (right, other))
    return bool(np.all(np.abs(late - other_late) <= ALIKE * (1 + size + other_size)))


class _Line:
    """What is integrated, on a vertical line, and the poles that were passed."""

    def __init__(self, modes: Modes, due: float, tilt: float, gap: float, begin: float, passed: list[float]) -> None:
        line = along(modes, tilt, gap, begin, VANISHED)
        self._phi = line.theta
        usual = modes.variance * self._phi**2 / 2 - modes.mean * self._phi
        self._psi: Complexes = (usual + np.log(line.value * np.exp(-usual))) / modes.rounds + self._phi * due
        self._factor: Complexes = line.factor * (line.slope / modes.rounds + due) / self._psi * gap / math.pi
        self._factor[0] /= 2
        self._poles = [(pole, modes.at(complex(pole), modes.about(complex(pole))).factor.real) for pole in passed]

    def values(self, leads: Floats, rounds: float, r: Any, s: Any) -> tuple[Floats, Floats]:
        """Return the size of what is integrated, and the probability."""
        phi = self._phi
        inner = rounds * self._psi - phi * r - phi**2 * s / 2
        poles = np.zeros_like(leads)
        for pole, start in self._poles:
            poles += start * np.exp(-pole * (leads + r) - pole**2 * s / 2)
        with np.errstate(over="ignore", invalid="ignore"):
            size: Floats = np.abs(self._factor[0]) * np.exp(inner[0].real - leads * phi[0].real)
            poles += (np.exp(inner - np.outer(leads, phi)) @ self._factor).real
        return size, poles


def _right(modes: Modes, pole: float, apart: float) -> float:
    """Return where a line lies right of a pole: so far apart, or less where waits have a larger mode there."""
    for part in NEARER:
        if _is_single(modes, pole + part * apart):
            return pole + part * apart
    raise AccuracyError(CROSSED)


def _is_single(modes: Modes, phi: float) -> bool:
    """Return whether no mode is larger on the right of 0, nor nearly as large: its slope would change there."""
    slopes = []
    for near in (phi * (1 - NEARBY), phi, phi * (1 + NEARBY)):
        mode = modes.at(complex(near), modes.about(complex(near)))
        if mode.right.real[modes.visited].min() <= 0:
            return False
        slopes.append(mode.slope.real)
    low, middle, high = slopes
    return abs(low - 2 * middle + high) <= BENT * abs(middle)


def _falls_fast(modes: Modes, due: float, apart: float) -> bool:
    """Return whether the zero of psi other than 0 is negative, and farther from it than `apart`."""
    if modes.mean >= due * modes.rounds:
        return False
    try:
        value = modes.at(complex(-apart), modes.about(complex(-apart))).value.real
    except AccuracyError:
        return False
    return value > 0 and math.log(value) / modes.rounds < apart * due


def _root(modes: Modes, due: float) -> float | None:
    """Return the zero of psi other than 0.

    Where T is below mu it is None if there is none near 0: far left of 0 the transform does not exist.
    """
    root, nothing = 2 * (modes.mean - due * modes.rounds) / modes.variance, ROOT / modes.longest
    with suppress(AccuracyError):
        for _ in range(ROOTS):
            if abs(root) <= nothing:
                return root
            mode = modes.at(complex(root), modes.about(complex(root)))
            if mode.value.real <= 0:
                break
            psi = math.log(mode.value.real) / modes.rounds + root * due
            step = psi / (mode.slope.real / modes.rounds + due - psi / root)  # of psi / phi, which is not 0 at 0
            root -= step
            if abs(step) <= ROOT * abs(root) + nothing:
                return root
    if modes.mean < due * modes.rounds:
        return None
    raise AccuracyError("first passage: no pole is found")

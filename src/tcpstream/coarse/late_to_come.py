"""The mean number of late packets of a video from some time on, over the startup delay."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, TimeLimitError
from .late_for_ever import LateForEver, of_a_round
from .law import Law
from .lead import decay, late_after
from .long_law import along
from .modes import Modes
from .resolution import Scale
from .steps import Steps

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

LOSSES, ROWS = 48.0, 8
"""After which it begins, and rows of the lattice until then."""

LONG = 4.0
"""Times as long as until then, and as the longest wait, that videos are in which it is known."""

LEFT = 1e-13
"""Part of the packets that may be late after the end without being looked at."""

FAR = 20.0
"""Logarithm of the late packets at a delay of 0 over those at the longest delay, at first."""


class LateToCome:
    """What comes after `begin`, at a constant rate, where TCP delivers more than is due.

    It is that of a video without end less what would come after the end, of which one mode is left.

    Parameters
    ----------
    law : Law
        Of what arrives until then, as far as it may ever be late; with `ROWS` rows.
    step : int
        Rounds of a step of the chain.
    rate, spread : float
        Decay rate [1 / packet], and about the standard deviation of what has arrived then [packets].
    modes : Modes or None
        None where nothing is late after the end.
    length, longest : float
        Of the video, and the longest startup delay [rounds].

    Attributes
    ----------
    begin : float
        The end of the last row [rounds].

    Raises
    ------
    AccuracyError
        Where transforms do not vanish, or more than one mode matters at the end.
    """

    def __init__(
        self, law: Law, step: int, rate: float, spread: float, modes: Modes | None, length: float, longest: float
    ) -> None:  # fmt: skip
        self.begin, self.longest = float(ROWS * law.step), longest
        self._law, self._step, self._due = law, step, law.due
        self._for_ever = self._after = None
        if law.until(self.begin) == ROWS and not law.complete:
            self._for_ever = LateForEver(law.take(), law.due, rate, spread, longest)
            if modes is not None:
                self._after = _AfterTheEnd(modes, law.due, self._for_ever, length)

    def late(self, delay: float, end: float) -> float:
        """Return it for a startup delay, until some time [rounds]."""
        if self._for_ever is None:  # nothing is late any more
            return 0.0
        m, h, row = self._due, self._step, self._law.step
        t = np.array([self.begin - row, self.begin])
        due = m * np.maximum(t - delay, 0.0)
        before, now = self._law.missing(t, due) - self._law.missing(t, np.maximum(due - m, 0.0))
        late = h * (self._for_ever.late(delay) + now / 2 + h / row * (now - before) / 12)  # a sum for an integral
        return float(late - (0.0 if self._after is None else self._after.late(delay, end)))


def late_to_come(
    whole: Steps, due: float, length: float, delay: float, modes: Modes | None, scale: Scale, first: float,
    on: Callable[[float], tuple[Steps, float]],
) -> LateToCome | None:  # fmt: skip
    """Return what comes after some losses; None where the end of the video decides, or TCP delivers no more than due.

    Parameters
    ----------
    whole : Steps
    due, length, delay : float
        m [packets], the length of the video and a startup delay [rounds].
    modes : Modes or None
        Of these steps.
    scale : Scale
    first : float
        Packets at least before it begins.
    on : callable
        Chain in steps and quantum for a lattice that begins with so many packets.
    """
    found = decay(whole, due)
    if found is None:
        return None
    mean = whole.chain.packets_per_round
    rounds = max(LOSSES * scale.rounds, first / mean)
    if length < LONG * rounds:
        return None
    left = late_after(whole, due, found.rate, length / whole.step)
    if left > LEFT and (modes is None or length < LONG * modes.longest / mean):
        return None
    steps, quantum = on(mean * rounds)
    every = math.ceil(rounds / steps.step / ROWS)
    law = Law(steps, quantum, due * ROWS * every * steps.step + found.safe, due, found.safe, every)
    longest = max(FAR / (found.rate * due), 2 * delay)
    try:
        return LateToCome(
            law, steps.step, found.rate, scale.spread(mean * rounds), modes if left > LEFT else None, length, longest
        )
    except TimeLimitError:
        raise
    except AccuracyError:
        return None


class _AfterTheEnd:
    """What would be late after the end of a video without end."""

    def __init__(self, modes: Modes, due: float, for_ever: LateForEver, length: float) -> None:
        self._theta, found = along(modes, for_ever.tilt, for_ever.gap, length)
        value, factor = (np.array(one) for one in list(zip(*found))[:2])
        self._due = due
        self._growth = self._theta * due + np.log(value) / modes.rounds
        self._values = factor * np.array([of_a_round(one, due) for one in self._theta.tolist()])
        self._values *= for_ever.gap / math.pi / -self._growth
        self._values[0] /= 2

    def late(self, delay: float, end: float) -> float:
        """Return it for a startup delay and the end, in rounds."""
        return float((np.exp(self._growth * end - self._theta * self._due * delay) @ self._values).real)

"""Fast recovery of a live stream: two rounds that lead from the window of a loss to its half."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .playback import Playback

Ints = NDArray[np.int64]


class Recovery:
    """Fast recovery of all windows with the same half.

    A window that loses leads to its half in two rounds that deliver s = i + j packets, with the distribution
    ``g^2 / 2 + (1 - p/2) E`` of `tcpstream.kernels.recovery`, where ``g = p (q^3 z^3 - q^w z^w) / (1 - qz)`` and
    ``E = p (q^6 z^6 - q^2w z^2w) / (1 - q^2 z^2)``: the numerators of all windows with the same half are added up
    first. Near the ceiling only j < v packets fit in the round of the loss, and v stands for w.

    Parameters
    ----------
    playback : Playback
    loss : float
        p.
    longest : int
        Largest window.
    at_ceiling : int
        Value that gets the mass of short rounds at the ceiling.
    """

    def __init__(self, playback: Playback, loss: float, longest: int, at_ceiling: int) -> None:
        program = playback.program
        self._playback, self._program, self._p, self._at_ceiling = playback, program, loss, at_ceiling
        self._longest = longest
        self._width = playback.n + (longest + 1) * playback.steps_per_packet
        self._numerator, self._diagonal, self._scratch = (program.room(self._width) for _ in range(3))
        self._all = program.room(playback.n)
        self._frozen, self._later, self._stopped = (program.room(longest + 1) for _ in range(3))  # frozen: last j first
        self._begin()

    def _begin(self) -> None:
        self._program.clear(self._numerator, self._width)
        self._program.clear(self._diagonal, self._width)
        self._program.clear(self._all, self._playback.n)
        self._program.clear(self._frozen, self._longest)

    def lose(self, sending: int, w: int) -> None:
        """Add a window's mass, by position at the start of its round of loss, after the round of playback."""
        program, steps_per_packet, cap = self._program, self._playback.steps_per_packet, self._playback.n - 1
        program.add(self._all, sending, cap - 3 * steps_per_packet)
        self._leave(sending, 0, max(0, cap - (w - 1) * steps_per_packet), w)
        v = np.arange(1, w)
        start, end = np.maximum(cap - v * steps_per_packet, 0), cap - (v - 1) * steps_per_packet
        self._leave(sending, start[3:], (end - start)[3:], v[3:])
        program.clear(self._stopped, w)
        program.total(self._stopped + v, sending + start, end - start)
        program.add(self._stopped + 1, self._stopped, w - 1)
        j = v[2:]
        program.add(self._frozen + self._longest - 1 - j, self._stopped + j, 1, self._p * (1 - self._p) ** j)

    def _leave(self, sending: int, first: int | Ints, count: int | Ints, w: int | Ints) -> None:
        """Add the terms of g^2 / 2 and (1 - p/2) E with w, for `count` positions from `first` on."""
        p, q, steps_per_packet = self._p, 1 - self._p, self._playback.steps_per_packet
        source, three, two = sending + first, first + (3 + w) * steps_per_packet, first + 2 * w * steps_per_packet
        self._program.add(self._numerator + three, source, count, -p * p * q ** (3 + w))
        self._program.add(self._numerator + two, source, count, 0.5 * p * p * q ** (2 * w))
        self._program.add(self._diagonal + two, source, count, -(1 - 0.5 * p) * p * q ** (2 * w))

    def end(self, following: int, largest: int) -> None:
        """Write the row that all windows since the last end, up to the largest of them, have recovered to."""
        program, steps_per_packet, cap = self._program, self._playback.steps_per_packet, self._playback.n - 1
        p, q, width = self._p, 1 - self._p, self._width
        six, inside = 6 * steps_per_packet, cap - 3 * steps_per_packet
        program.add(self._numerator + six, self._all, inside, 0.5 * p * p * q**6)
        program.add(self._diagonal + six, self._all, inside, (1 - 0.5 * p) * p * q**6)
        numerator, scratch = self._numerator, self._scratch
        for _ in range(2):
            numerator, scratch = program.recur(numerator, scratch, width, q, steps_per_packet)
        diagonal, scratch = program.recur(self._diagonal, scratch, width, q * q, 2 * steps_per_packet)
        program.add(numerator, diagonal, width)
        self._numerator, self._diagonal, self._scratch = numerator, diagonal, scratch
        self._resume(largest)
        self._playback.lower(following, numerator, count=width)
        self._begin()

    def _resume(self, largest: int) -> None:
        """Short rounds that paused at the ceiling go on, one round of playback lower, to their fast retransmit."""
        program, p, longest = self._program, self._p, self._longest
        program.total(self._at_ceiling, self._frozen, longest)
        program.clear(self._later, 1)
        program.set(self._later + 1, self._frozen, longest - 1)
        program.add(self._later + 1, self._later, longest - 1)
        j = np.arange(3, largest)
        target, pmf = self._numerator + self._playback.paused + j * self._playback.steps_per_packet, (1 - p) ** j
        program.add(target, self._later + longest - 1 - j, 1, p * pmf)
        program.add(target, self._frozen + longest - 1 - j, 1, pmf)

"""Answers of which whole sessions can be drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from .drawn_sessions import DrawnSessions


class Drawing(ABC):
    """An answer about viewers that draws some, one by one."""

    def sessions(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        """Return independent sessions, drawn from the chain of TCP; of segments, from the law of downloads.

        Parameters
        ----------
        size : int
        rng : numpy.random.Generator

        Raises
        ------
        InputError
            For a size below 1, or sessions of too many round trips together; for a player with a client buffer without
            segments.
        AccuracyError
            For a chain of a live stream that is too large to be written out.
        """
        return self._draw(size, rng)

    @abstractmethod
    def _draw(self, size: int, rng: np.random.Generator) -> DrawnSessions:
        """Return sessions."""

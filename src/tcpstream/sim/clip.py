"""Content of several rates."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from ..errors import InputError, positive, real, shown


@dataclass(frozen=True)
class Clip:
    """A clip that is encoded at several rates: its levels, from 0, the lowest one, on.

    Parameters
    ----------
    duration : float
        [s].
    rates : tuple of float
        Of each level [bit/s], audio included; increasing.
    audio : tuple of float
        What of each is audio [bit/s]; none by default.
    """

    duration: float
    rates: tuple[float, ...]
    audio: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        positive("duration of a clip", self.duration, "s")
        for name in ("rates", "audio"):
            if not isinstance(getattr(self, name), tuple | list):
                raise InputError(f"{name} of a clip must be numbers in bit/s, got {shown(getattr(self, name))}")
        rates = tuple(positive("rate of a level", rate, "bit/s") for rate in self.rates)
        if not rates or any(below >= above for below, above in pairwise(rates)):
            raise InputError(f"rates of a clip must increase, one at least, got {shown(self.rates)}")
        audio = tuple(real("audio of a level", rate, "bit/s") for rate in self.audio or (0.0,) * len(rates))
        if len(audio) != len(rates) or not all(0 <= part <= rate for part, rate in zip(audio, rates)):
            raise InputError(f"audio of a clip must be 0 bit/s to the rate, for each level, got {shown(self.audio)}")
        object.__setattr__(self, "rates", rates)
        object.__setattr__(self, "audio", audio)

    @property
    def video(self) -> tuple[float, ...]:
        """What of each level is video [bit/s]."""
        return tuple(rate - part for rate, part in zip(self.rates, self.audio))

    def level(self, rate: float) -> int:
        """Return the highest level with at most a rate [bit/s]; the lowest one if none has."""
        return max(0, bisect_right(self.rates, rate) - 1)

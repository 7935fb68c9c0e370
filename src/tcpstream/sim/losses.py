"""Loss processes of a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, real
from .engine import records


def probability(name: str, value: Any) -> float:
    """Return a probability in 0..1, or raise `InputError` naming it."""
    number = real(name, value)
    if not 0 <= number <= 1:
        raise InputError(f"{name} must be in 0..1, got {number:g}")
    return number


@dataclass(frozen=True)
class Bernoulli:
    """Every packet is lost with probability `p`, independently.

    Parameters
    ----------
    p : float
        0..1.
    """

    p: float
    kind = records.INDEPENDENT

    def __post_init__(self) -> None:
        probability("loss probability p", self.p)


@dataclass(frozen=True)
class RoundLoss:
    """The loss process of the Markov model (Section 3.2): a loss takes the rest of its round with it.

    Each data packet that is not lost already is, with probability `p`, the first loss of its round; all that its
    sender sends after it in the same round is lost too. A round ends when the acknowledgement of its first packet
    reaches the sender, or at a timeout.

    Parameters
    ----------
    p : float
        0..1.
    """

    p: float
    kind = records.ROUND

    def __post_init__(self) -> None:
        probability("loss probability p", self.p)


@dataclass(frozen=True)
class GilbertElliott:
    """Losses in a good and a bad state, between which every packet may change.

    Parameters
    ----------
    to_bad, to_good : float
        Probability to change from good to bad, and back, before each packet.
    bad : float
        Loss probability in the bad state.
    good : float
        Loss probability in the good state.

    Notes
    -----
    E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", Bell System Technical Journal 42,
    1963.
    """

    to_bad: float
    to_good: float
    bad: float = 1.0
    good: float = 0.0
    kind = records.GILBERT_ELLIOTT

    def __post_init__(self) -> None:
        for name in ("to_bad", "to_good", "bad", "good"):
            probability(f"Gilbert-Elliott {name}", getattr(self, name))

    @property
    def p(self) -> float:
        """Loss probability in the good state, which a link's changes may replace."""
        return self.good


@dataclass(frozen=True)
class LossTrace:
    """What happened to packets one after the other; starts over at its end.

    Parameters
    ----------
    lost : (n,) array of bool
        Whether each packet is lost.
    """

    lost: NDArray[np.bool_]
    p = 0.0
    kind = records.RECORDED

    def __post_init__(self) -> None:
        lost = np.asarray(self.lost)
        if lost.ndim != 1 or not len(lost) or not np.isin(lost, (0, 1)).all():
            raise InputError("a loss trace is a row of at least one 0 (arrived) or 1 (lost)")
        object.__setattr__(self, "lost", lost.astype(bool))


Loss = Bernoulli | RoundLoss | GilbertElliott | LossTrace

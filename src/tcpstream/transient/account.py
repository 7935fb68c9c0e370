"""Where the probability of a transient has gone that is followed no longer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Account:
    """The account of a transient: what is followed and what stands here sum to 1.

    Attributes
    ----------
    done : float
        Probability that all packets, or safely many, are delivered.
    killed : float
        Probability removed below a floor.
    neglected : float
        Probability dropped because it was negligible.
    residual : float
        Largest departure of the total probability from 1 so far.
    """

    done: float = 0.0
    killed: float = 0.0
    neglected: float = 0.0
    residual: float = 0.0

    def close(self, followed: float) -> None:
        """Compare the total with 1, at the end of a round.

        Parameters
        ----------
        followed : float
            Probability that is still followed.
        """
        self.residual = max(self.residual, abs(followed + self.done + self.killed + self.neglected - 1))

    @property
    def unaccounted(self) -> float:
        """Probability dropped, and departure of the total from 1."""
        return self.neglected + self.residual

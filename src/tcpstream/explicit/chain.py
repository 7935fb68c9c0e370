"""A labelled sparse Markov chain on the one-round clock."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import AccuracyError, MissingExtraError
from . import export
from .rounds import RoundChain
from .stationary import stationary

if TYPE_CHECKING:
    import pandas as pd

Matrix = sparse.csr_array[np.float64, tuple[int, int]]

#: A chain with more nonzero probabilities than this (about 2.4 GB) is refused.
MAX_NONZEROS = 200_000_000
#: A table of more states than this is refused.
MAX_TABLE = 1_000_000

FIELDS = [("w", "i4"), ("c", "i4"), ("l", "i4"), ("e", "i4"), ("r", "i4"), ("waiting", "i4"), ("n", "f8")]


@dataclass(frozen=True, eq=False)
class ExplicitChain:
    """A Markov chain with every state and every probability written out, one round a step.

    Attributes
    ----------
    matrix : csr_array, shape (states, states)
        Row-stochastic.
    states : structured NDArray, shape (states,)
        Fields w, c, l, e, r (the TCP source, Section 3.2), waiting (rounds left to wait before TCP is in that
        state [rounds]) and n (live: early packets N; stored: delivered packets A [packets]).
    initial : int
        The state at time 0.
    labels : dict of str to bool NDArray, shape (states,)
        Sets of states with a name; exports carry them.
    """

    matrix: Matrix
    states: NDArray[np.void]
    initial: int
    labels: dict[str, NDArray[np.bool_]]

    @property
    def start(self) -> NDArray[np.float64]:
        """The distribution at time 0."""
        distribution = np.zeros(len(self.states))
        distribution[self.initial] = 1.0
        return distribution

    def stationary(self, *, accuracy: float = 1e-12) -> NDArray[np.float64]:
        """Return the stationary distribution, shape (states,).

        Parameters
        ----------
        accuracy : float
            Accepted error, the sum of absolute differences.

        Raises
        ------
        AccuracyError
            When it did not converge to that accuracy.
        """
        return stationary(self.matrix, self.initial, accuracy)

    def to_pandas(self) -> pd.DataFrame:
        """Return the states as a table, one column a field and one a label.

        Raises
        ------
        AccuracyError
            Above 1,000,000 states.
        MissingExtraError
            Without pandas.
        """
        if len(self.states) > MAX_TABLE:
            raise AccuracyError(f"a table of {len(self.states):,} states is refused, at most {MAX_TABLE:,}")
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("a table of states", "pandas", "tables") from None
        table = pd.DataFrame({name: self.states[name] for name, _ in FIELDS})
        return table.assign(**self.labels)

    def write_matrix_market(self, path: str | PathLike[str]) -> None:
        """Write the matrix as a Matrix Market file, which scipy, MATLAB and Julia read."""
        export.write_matrix_market(path, self.matrix)

    def write_drn(self, path: str | PathLike[str]) -> None:
        """Write matrix, initial state and labels in Storm's explicit format (DRN)."""
        export.write_drn(path, self.matrix, self.initial, self.labels)


def label(tcp: RoundChain, n: NDArray[np.float64]) -> NDArray[np.void]:
    """Return the labels of all states: for each n in turn, every state of the source."""
    source = np.array([(*state, waiting, 0.0) for state, waiting in tcp.states], dtype=FIELDS)
    states = np.tile(source, len(n))
    states["n"] = np.repeat(n, len(source))
    return states


def check_size(nonzeros: int, what: str) -> None:
    """Raise `AccuracyError` when a chain would not fit."""
    if nonzeros > MAX_NONZEROS:
        raise AccuracyError(
            f"this explicit chain would have {nonzeros:,} nonzero probabilities, more than {MAX_NONZEROS:,}: {what}"
        )

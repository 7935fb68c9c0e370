"""A labelled sparse Markov chain on the one-round clock."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import AccuracyError, MissingExtraError
from . import export
from .rounds import RoundChain
from .stationary import stationary

if TYPE_CHECKING:
    import pandas as pd

Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"

#: A chain with more nonzero probabilities than this (about 2.4 GB) is refused.
MAX_NONZEROS = 200_000_000
#: A table of more states than this is refused.
MAX_TABLE = 1_000_000


@dataclass(frozen=True, eq=False)
class Part:
    """The moves of one round that put as many packets in order.

    Attributes
    ----------
    matrix : csr_array, shape (states, states)
        From row to column; those of all parts sum to the chain's.
    in_order : NDArray, shape (states,)
        What is in order after the move from each state [packets]: of a live stream, what is not, the backlog.
    """

    matrix: Matrix
    in_order: NDArray[np.float64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Probability of these moves from each state."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64).ravel()


@dataclass(frozen=True, eq=False)
class ExplicitChain:
    """A Markov chain with every state and every probability written out, one round a step.

    Attributes
    ----------
    matrix : csr_array, shape (states, states)
        Row-stochastic.
    states : structured NDArray, shape (states,)
        Fields of the TCP state (w, c, l, e, r of Section 3.2), waiting (rounds left to wait before TCP is in that
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
        table = pd.DataFrame({name: self.states[name] for name in self.states.dtype.names or ()})
        return table.assign(**self.labels)

    def write_matrix_market(self, path: str | PathLike[str]) -> None:
        """Write the matrix as a Matrix Market file, which scipy, MATLAB and Julia read."""
        export.write_matrix_market(path, self.matrix)

    def write_drn(self, path: str | PathLike[str]) -> None:
        """Write matrix, initial state and labels in Storm's explicit format (DRN)."""
        export.write_drn(path, self.matrix, self.initial, self.labels)


def label(tcp: RoundChain, n: NDArray[np.float64]) -> NDArray[np.void]:
    """Return the labels of all states: for each n in turn, every state of the TCP chain."""
    fields = [*((name, "i4") for name in tcp.fields), ("waiting", "i4"), ("n", "f8")]
    once = np.array([(*state, waiting, 0.0) for state, waiting in tcp.states], dtype=fields)
    states = np.tile(once, len(n))
    states["n"] = np.repeat(n, len(once))
    return states


def check_size(nonzeros: int, what: str) -> None:
    """Raise `AccuracyError` when a chain would not fit."""
    if nonzeros > MAX_NONZEROS:
        raise AccuracyError(
            f"this explicit chain would have {nonzeros:,} nonzero probabilities, more than {MAX_NONZEROS:,}: {what}"
        )

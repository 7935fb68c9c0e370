"""Explicit chains in the formats of other tools."""

from __future__ import annotations

from os import PathLike
from pathlib import Path as FilePath
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


def write_matrix_market(path: str | PathLike[str], matrix: Matrix) -> None:
    """Write `matrix` as a Matrix Market coordinate file, 17 digits, row i = from state i."""
    with FilePath(path).open("wb") as file:
        io.mmwrite(file, matrix.tocoo(), precision=17)


def write_drn(path: str | PathLike[str], matrix: Matrix, initial: int, labels: dict[str, NDArray[np.bool_]]) -> None:
    """Write a chain in Storm's explicit format DRN, which Storm and stormpy read as a DTMC.

    Parameters
    ----------
    path : path-like
        The file; by convention it ends in ``.drn``.
    matrix : csr_array, shape (states, states)
        Row-stochastic.
    initial : int
        The state at time 0; it gets Storm's label "init".
    labels : dict of str to bool NDArray, shape (states,)
        Named sets of states.
    """
    count = matrix.shape[0]
    with FilePath(path).open("w", encoding="utf-8") as file:
        file.write("@type: DTMC\n@parameters\n\n@reward_models\n\n")
        file.write(f"@nr_states\n{count}\n@nr_choices\n{count}\n@model\n")
        for state in range(count):
            names = [name for name, members in labels.items() if members[state]]
            if state == initial:
                names.insert(0, "init")
            file.write(" ".join([f"state {state}", *names]) + "\n\taction 0\n")
            row = slice(matrix.indptr[state], matrix.indptr[state + 1])
            for target, probability in zip(matrix.indices[row].tolist(), matrix.data[row].tolist()):
                file.write(f"\t\t{target} : {probability!r}\n")

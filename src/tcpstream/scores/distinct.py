"""From a table to sessions: distinct cases, which rows have which, and why others have none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .headers import check, find, values
from .question import Case, Question

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAMES = ("carries", "rtt", "rto", "rate", "duration")
"""Numbers of a case, in their order; rto is nan where it is Linux's."""

ABSENT = -1.0
"""In place of nan, which is not equal to itself."""


@dataclass(frozen=True)
class Sessions:
    """The sessions of a table.

    Attributes
    ----------
    given : {"loss", "throughput"}
        What the first number of a case is.
    numbers : (n, 5) array
        Of each distinct case, as `NAMES`.
    case : (rows,) int array
        The case of each row, -1 where it has none.
    reasons : list of str
        Why a row has none, or nothing.
    """

    given: str
    numbers: Floats
    case: Ints
    reasons: list[str]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def digest(self) -> str:
        """What tells the cases from those of other tables."""
        return hashlib.sha256(self.given.encode() + self.numbers.tobytes()).hexdigest()[:16]

    def one(self, number: int) -> Case:
        """Return a case by its number."""
        carries, rtt, rto, rate, duration = self.numbers[number].tolist()
        return Case(self.given, carries, rtt, None if np.isnan(rto) else rto, rate, duration)


def sessions(
    table: DataFrame, question: Question, mapped: Mapping[str, str], rate: float | None, duration: float | None
) -> Sessions:
    """Return the sessions of a table; a rate [packets/s] or a duration [s] that is given replaces its column.

    Raises
    ------
    InputError
        For columns that are missing, twice there, or in another unit than they say.
    """
    found = find([str(name) for name in table.columns], mapped)
    replaced = {"rate": rate, "duration": duration}
    carries = check(found, replaced)
    columns, reasons = [], [""] * len(table)
    for name in (carries, *NAMES[1:]):
        fixed = replaced.get(name)
        if name == "rto" and {"rto", "timeout_ratio"} & question.sender.keys():
            fixed = np.nan
        if fixed is not None or name not in found:
            columns.append(np.full(len(table), np.nan if fixed is None else fixed))
            continue
        column, wrong = values(table, found[name], question.packet_size)
        if name == "rto":
            wrong = ["" if reason.endswith("is missing") else reason for reason in wrong]
        columns.append(column)
        reasons = [before or reason for before, reason in zip(reasons, wrong)]
    numbers = np.column_stack(columns)
    for i in np.flatnonzero(numbers[:, 2] < numbers[:, 1] * (1 - 1e-12)).tolist():
        reasons[i] = (
            reasons[i] or f"rto of {numbers[i, 2]:g} s is shorter than the round trip time of {numbers[i, 1]:g} s"
        )
    for i in np.flatnonzero(numbers[:, 4] < numbers[:, 1]).tolist():
        reasons[i] = (
            reasons[i] or f"duration of {numbers[i, 4]:g} s is shorter than a round trip of {numbers[i, 1]:g} s"
        )
    good = np.array([not reason for reason in reasons], dtype=bool)
    case = np.full(len(table), -1)
    distinct, case[good] = np.unique(np.nan_to_num(numbers[good], nan=ABSENT), axis=0, return_inverse=True)
    distinct[distinct == ABSENT] = np.nan
    return Sessions("throughput" if carries == "throughput" else "loss", distinct, case, reasons)

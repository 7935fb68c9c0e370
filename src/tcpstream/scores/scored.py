"""The answers of a table of sessions, by row and by group."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..explore.frames import pandas
from ..numerics.confidence import student
from .table_files import write

if TYPE_CHECKING:
    from pandas import DataFrame, Series

QUANTILES = (0.5, 0.9, 0.99)
"""Of the required delay."""

ANSWERS = (
    "p", "p_error", "T_over_mu", "T_over_mu_error", "required_delay_s", "required_delay_error_s", "stall_probability",
    "stall_probability_error", "answered_by", "no_answer",
)  # fmt: skip
"""Columns that are appended."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """What the sessions of a group see.

    Attributes
    ----------
    group : str
        Its value; empty for all sessions.
    sessions, answered : int
        How many there are, and how many of them have an answer.
    stalled_share : float
        Mean P(any stall), the share of sessions expected to stall.
    stalled_share_interval : tuple of float
        95% for sessions like these, with the mean error of the answers at each end.
    required_delay_s : dict
        Quantiles of the required delay [s].
    required_delay_interval_s : dict
        The same quantiles, all answers at the lower and at the upper end of their errors [s].
    """

    group: str
    sessions: int
    answered: int
    stalled_share: float
    stalled_share_interval: tuple[float, float]
    required_delay_s: dict[str, float]
    required_delay_interval_s: dict[str, tuple[float, float]]


def summarise(group: str, answers: DataFrame) -> Group:
    """Return what some rows of answers say together."""
    good = answers[answers["no_answer"] == ""]
    stall, off = (good[name].to_numpy(dtype=np.float64) for name in ("stall_probability", "stall_probability_error"))
    delay, late = (good[name].to_numpy(dtype=np.float64) for name in ("required_delay_s", "required_delay_error_s"))
    if not len(good):
        none = {str(u): math.nan for u in QUANTILES}
        nothing = {str(u): (math.nan, math.nan) for u in QUANTILES}
        return Group(group, len(answers), 0, math.nan, (math.nan, math.nan), none, nothing)
    mean = float(stall.mean())
    sampling = float(student(stall)) if len(stall) > 1 else 1.0
    half = float(off.mean()) + sampling
    low, high = np.quantile(np.maximum(delay - late, 0.0), QUANTILES), np.quantile(delay + late, QUANTILES)
    return Group(
        group, len(answers), len(good), mean, (max(mean - half, 0.0), min(mean + half, 1.0)),
        dict(zip(map(str, QUANTILES), np.quantile(delay, QUANTILES).tolist())),
        dict(zip(map(str, QUANTILES), zip(low.tolist(), high.tolist()))),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scores:
    """The answers of a table of sessions; made by `score`.

    Attributes
    ----------
    table : pandas.DataFrame
        The sessions with all their columns, and the answers.
    groups : list of Group
        All sessions first, then each group by its value.
    solved, cases : int
        Distinct sessions that were solved, and that there are.
    coverage : float
        Part of the solved sessions, each inferred from the others alone, whose error is within the stated one: 1 where
        all are solved.
    parameters : dict
        What was asked.

    Examples
    --------
    >>> import pandas as pd
    >>> import tcpstream
    >>> table = pd.DataFrame({"isp": ["A", "B"], "rtt_ms": [100, 100], "loss_percent": [2, 4]})
    >>> scores = tcpstream.score(table, packet_rate=40, duration=8, sender="classic", group_by="isp")
    >>> scores
    <Scores: 2 sessions, 2 of 2 distinct ones solved>
    >>> [(one.group, round(one.stalled_share, 2)) for one in scores.groups]
    [('', 0.32), ('A', 0.05), ('B', 0.59)]
    """

    table: DataFrame
    groups: list[Group]
    solved: int
    cases: int
    coverage: float
    parameters: dict[str, Any] = field(default_factory=dict)

    def to_pandas(self) -> DataFrame:
        """Return the table of sessions and answers."""
        return self.table

    def write(self, file: str | PathLike[str]) -> None:
        """Write the table as .csv or .parquet.

        Raises
        ------
        InputError, WriteError
            For another name, and where it cannot be written.
        """
        write(self.table, file)

    def to_dict(self) -> dict[str, Any]:
        """Return groups and how they were found, ready for JSON; rows are in the table."""
        return {
            "parameters": self.parameters,
            "cases": self.cases,
            "solved": self.solved,
            "coverage": self.coverage,
            "groups": [vars(one) | {"stalled_share_interval": list(one.stalled_share_interval)} for one in self.groups],
        }

    def summary(self) -> str:
        """Return a line for each group."""
        return "\n".join(map(_line, self.groups))

    def __repr__(self) -> str:
        return f"<Scores: {len(self.table)} sessions, {self.solved} of {self.cases} distinct ones solved>"


def _line(one: Group) -> str:
    answered = f"{one.group or 'all'}: {one.answered} of {one.sessions} sessions answered"
    if not one.answered:
        return answered
    low, high = one.stalled_share_interval
    return f"{answered}, {one.stalled_share:.2%} of them expected to stall ({low:.2%} to {high:.2%})"


def grouped(table: DataFrame, answers: DataFrame, by: str | None) -> list[Group]:
    """Return what all rows say, and those of each value of a column; missing values are a group of their own."""
    found = [summarise("", answers)]
    if by is not None:
        pd = pandas("scores")
        column: Series[Any] = table[by]
        names = np.array(["(missing)" if pd.isna(value) is True else str(value) or "(missing)" for value in column])
        found += [summarise(str(name), answers[names == name]) for name in sorted(set(names.tolist()))]
    return found

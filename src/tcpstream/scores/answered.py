"""Every session of a table, answered: some are solved, the others are inferred from these, each with its error."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.answer import late_target
from ..answers.plan import ACCURACIES
from ..answers.player import Player
from ..errors import InputError, choice, positive, unremarked, whole, within
from ..explore.cluster import check_client
from ..explore.frames import pandas
from ..path import Path
from ..sender import DEFAULT_SENDER, Sender
from ..video import LENGTHS, RATES, SIZES
from .between import Told, told
from .carried import Carried
from .choose import Solver, Step
from .distinct import Sessions, sessions
from .headers import column_called
from .in_memory import Table, in_memory
from .kept import Store
from .one_session import Solved
from .question import Question
from .scored import ANSWERS, Scores, grouped

if TYPE_CHECKING:
    from pandas import DataFrame

SOLVES = 32
"""Sessions that are solved at most."""


def score(
    table: Table,
    rng: np.random.Generator | None = None,
    *,
    packet_rate: float | None = None,
    bitrate: float | None = None,
    duration: float | None = None,
    start: float = 2.0,
    target: float = 1e-4,
    columns: Mapping[str, str] | None = None,
    group_by: str | None = None,
    sender: str = DEFAULT_SENDER,
    packet_size: float = 1500,
    solves: int = SOLVES,
    accuracy: str | None = None,
    time_limit: float = 120.0,
    store: str | PathLike[str] | None = None,
    client: Any = None,
    step: Step | None = None,
    **chosen: Any,
) -> Scores:
    """Answer for each session of a table whether a stored video would stall, and how long the player must wait.

    Parameters
    ----------
    table : pandas.DataFrame, dask.dataframe.DataFrame or path-like
        A row a session, or a file .csv or .parquet. Columns ``rtt_ms`` (or ``rtt_s``; ``rtt`` is seconds); one of
        ``loss``, ``retransmit_share`` and ``throughput_mbps``; and, unless given for all, ``rate_mbps`` and
        ``duration_s``; ``rto_ms`` if it is known. Endings of names are units: us, ms, s, min; percent; bps, kbps, mbps,
        gbps, pps. A Dask frame is computed, and comes back in pandas.
    rng : numpy.random.Generator, optional
        Chooses which sessions are solved; by default ``numpy.random.default_rng(1)``.
    packet_rate, bitrate, duration : float, optional
        Of the video [packets/s], [bit/s], [s]; one that is given replaces the column.
    start : float
        Startup delay of the player, which waits for what is missing [s], 0 or more.
    target : float
        Late fraction whose startup delay is wanted, between 0 and 1.
    columns : mapping, optional
        From a name as above to the column that holds it.
    group_by : str, optional
        Column by whose values sessions are summarised.
    sender, **chosen
        As `Path` takes them, for all sessions; an ``rto`` or ``timeout_ratio`` replaces the column.
    packet_size : float
        [bytes], 1 to 1e6.
    solves : int
        Distinct sessions that are solved at most, 1 or more: all of them if there are no more.
    accuracy : {"exact", "fine", "fast"}, optional
        As `stored` takes it; by default exact where that is quick, else fast.
    time_limit : float
        Of one solve [s]; a session that takes longer has no answer.
    store : path-like, optional
        File in which solved sessions are kept as they come. A call that finds some there goes on after them.
    client : distributed.Client, optional
        Dask cluster whose workers solve, eight sessions at a time; by default this machine's cores. The answers are the
        same.
    step : callable, optional
        Called after each solve.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        For columns that are missing, not known or twice there, and values out of range. What is wrong with a single
        session is its ``no_answer``.
    MissingExtraError
        Without pandas or threadpoolctl; without pyarrow for Parquet; without distributed for a client.

    Examples
    --------
    >>> import pandas as pd
    >>> import tcpstream
    >>> table = pd.DataFrame({"rtt_ms": [100, 100, -1], "loss_percent": [2, 4, 2]})
    >>> scores = tcpstream.score(table, packet_rate=40, duration=8, sender="classic")
    >>> scores.to_pandas()["stall_probability"].round(2).tolist()
    [0.05, 0.59, nan]
    >>> scores.to_pandas()["no_answer"].tolist()
    ['', '', 'rtt must be 1e-06 to 1000 s, got -0.001 s, from rtt_ms -1']
    """
    pd = pandas("scores")
    if client is not None:
        check_client(client)
    table = in_memory(table, client)
    if taken := [name for name in ANSWERS if name in table.columns]:
        raise InputError(f"the table has a column {taken[0]} already, where an answer would be: rename it")
    group_by = None if group_by is None else column_called(group_by, table.columns)
    solves = whole("solves", solves)
    size = within("packet size", packet_size, *SIZES, "bytes")
    question = _question(start, target, {"sender": sender, **chosen}, size, accuracy, time_limit)
    rate = _rate(packet_rate, bitrate, size)
    if duration is not None:
        duration = within("duration", duration, *LENGTHS, "s")
    found = sessions(table, question, columns or {}, rate, duration)
    solver = Solver(found, question, Store(question, found.digest, store), step or (lambda: None), client)
    known, paths, answers = _answers(found, solver, solves, rng or np.random.default_rng(1))
    rows = _rows(pd, table, found, known, paths, answers)
    solved = sum(not one.refused for one in known.values())
    parameters = question.to_dict() | {"packet_rate": rate, "duration": duration, "columns": dict(columns or {})}
    parameters |= {"group_by": group_by, "solves": solves}
    return Scores(
        pd.concat([table, rows], axis=1), grouped(table, rows, group_by), solved, len(found),
        1.0 if len(known) == len(found) else answers.coverage, parameters,
    )  # fmt: skip


def _question(
    start: float, target: float, sender: dict[str, Any], size: float, accuracy: str | None, time_limit: float
) -> Question:
    """Return what is asked of all sessions, checked."""
    if isinstance(sender["sender"], Sender):
        raise InputError(
            "the sender of a table of sessions is the name of one: give what differs beside it, as tcp=..."
        )
    if other := [name for name in ("loss", "rtt", "throughput") if name in sender]:
        raise InputError(f"{other[0]} is a column of the table, not one value for all sessions")
    with unremarked():
        Path(loss=0.01, rtt=1e-3, **sender)
    begin = Player(start=start).start
    assert begin is not None
    if accuracy is not None:
        choice("accuracy", accuracy, ACCURACIES)
    return Question(begin, late_target(target), sender, size, accuracy, positive("time limit", time_limit, "s"))


def _rate(packet_rate: float | None, bitrate: float | None, size: float) -> float | None:
    """Return the rate of all sessions [packets/s], or None."""
    if packet_rate is not None and bitrate is not None:
        raise InputError("give packet_rate or bitrate, not both")
    if bitrate is not None:
        packet_rate = within("bit rate", bitrate, RATES[0] * 8 * size, RATES[1] * 8 * size, "bit/s") / (8 * size)
    return None if packet_rate is None else within("playback rate", packet_rate, *RATES, "packets/s")


def _answers(
    cases: Sessions, solver: Solver, solves: int, rng: np.random.Generator
) -> tuple[dict[int, Solved], Carried, Told]:
    """Return what is solved, what paths carry, and what all are told."""
    paths = solver.paths(rng)
    known, checks = (solver.every(), []) if len(cases) <= solves else solver.some(paths, solves, rng)
    return known, paths, told(cases, paths, known, checks)


def _rows(
    pd: Any, table: DataFrame, cases: Sessions, known: dict[int, Solved], paths: Carried, answers: Told
) -> DataFrame:
    """Return the answers of all rows."""
    reasons = np.array([*paths.refused, ""], dtype=object)
    how = np.array(["inferred"] * len(cases) + [""], dtype=object)
    for i, one in known.items():
        reasons[i] = one.refused
        how[i] = "solved"
    if not any(not one.refused for one in known.values()):
        reasons[:-1] = [reason or "no session could be solved" for reason in reasons[:-1]]
    how[reasons != ""] = ""

    def of_rows(values: Any) -> Any:
        """Return a value for each row; that of -1, after the last case, for rows without one."""
        column = np.where(reasons[:-1] != "", np.nan, np.asarray(values, dtype=np.float64))
        return np.append(column, np.nan)[cases.case]

    load = paths.throughput / cases.numbers[:, 3]
    rows: DataFrame = pd.DataFrame(
        {
            "p": of_rows(paths.loss),
            "p_error": of_rows(paths.loss * paths.loss_error),
            "T_over_mu": of_rows(load),
            "T_over_mu_error": of_rows(load * paths.throughput_error),
            "required_delay_s": of_rows(answers.delay),
            "required_delay_error_s": of_rows(answers.delay_error),
            "stall_probability": of_rows(answers.stall),
            "stall_probability_error": of_rows(answers.stall_error),
            "answered_by": how[cases.case],
            "no_answer": [one or two for one, two in zip(cases.reasons, reasons[cases.case])],
        },
        index=table.index,
    )
    return rows

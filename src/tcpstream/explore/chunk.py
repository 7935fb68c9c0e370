"""One chunk of points, solved: arrays and tables in, a table out, nothing shared, wherever it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from ..answers.answer import Streaming
from ..answers.joined import Joined
from ..answers.live import LiveStreaming, backlog_key, live, with_backlogs
from ..answers.pausing_player import PausingPlayer
from ..answers.play import play
from ..answers.player import Player
from ..answers.segment_player import SegmentPlayer
from ..answers.stored import StoredStreaming, stored, stored_many
from ..errors import TcpstreamError, TimeLimitError
from ..path import Path
from ..tcp import throughput
from ..video import Video
from .cases import Row, case, known
from .columns import FILLED, JOIN, LOAD, PLAYER, QUESTIONS, SEEN, VIEWERS, answers, check
from .frames import pandas

if TYPE_CHECKING:
    from pandas import DataFrame

Case = tuple[Path, Video]


def solve(points: DataFrame, kind: str, alpha: bool) -> DataFrame:
    """Return the answers of some points, with their index; what went wrong with a point is its ``error``.

    Parameters
    ----------
    points : DataFrame
        Columns as `columns.check` accepts them.
    kind : {"live", "stored"}
    alpha : bool
        Stored: the exact probability of no late packet as well.
    """
    pd = pandas("a sweep")
    question = check(points.columns, kind)
    names = [*FILLED, *answers(kind, question, alpha)]
    found = [dict.fromkeys(names, math.nan) | {"error": ""} for _ in range(len(points))]
    rows = known(points)
    cases = _cases(rows, found)
    if question in VIEWERS:
        for i, one in cases.items():
            found[i].update(_try(found[i], _seen, *one, rows[i], question, kind == "live") or {})
        return _table(pd, found, points, names)
    results = (_live if kind == "live" else _stored)(cases, found)
    while results:  # each is let go once it has answered: some hold lattices
        i, result = results.popitem()
        if question not in rows[i]:
            found[i]["error"] = f"give {question}"
            continue
        found[i].update(_try(found[i], _answer, result, question, rows[i][question], alpha) or {})
    return _table(pd, found, points, names)


def _table(pd: Any, found: list[dict[str, Any]], points: DataFrame, names: list[str]) -> DataFrame:
    table: DataFrame = pd.DataFrame(found, index=points.index, columns=names)
    return table.astype({name: "string" if name == "error" else "float64" for name in names})


def _seen(path: Path, video: Video, row: Row, question: str, live: bool) -> dict[str, Any]:
    """Return what a viewer sees with a startup delay, or with a start buffer."""
    if question not in row and "segment" not in row:
        return {"error": f"give {question}"}
    settings = {name: row[name] for name in (question, *PLAYER) if name in row}
    made = SegmentPlayer if "segment" in row else PausingPlayer if "client_buffer" in row else Player
    result = play(path, video, made(**settings), live=live)
    join = {JOIN: result.mean_join_time} if isinstance(result, Joined) else {}
    errors = {f"{name}_error": result.errors[name] for name in SEEN}
    return join | {name: getattr(result, name) for name in SEEN} | errors


def _try(answer: dict[str, Any], work: Callable[..., Any], *given: Any) -> Any:
    """Return what some work returns; its failure is recorded, and None returned."""
    try:
        return work(*given)
    except TimeLimitError:
        raise
    except TcpstreamError as error:
        answer["error"] = str(error)
    except Exception as error:  # one point must not end a sweep of thousands
        answer["error"] = f"{type(error).__name__}: {error}"
    return None


def _cases(rows: list[dict[str, Any]], found: list[dict[str, Any]]) -> dict[int, Case]:
    """Return the path and the video of each row that has them, made once for rows that ask several questions."""
    made: dict[Hashable, tuple[Case | None, dict[str, Any]]] = {}
    cases: dict[int, Case] = {}
    for i, row in enumerate(rows):
        key = tuple(item for item in row.items() if item[0] not in (*QUESTIONS, *PLAYER))
        if key not in made:
            filled: dict[str, Any] = {}
            one = _try(filled, case, row)
            if one is not None:
                filled |= _try(filled, _filled, row, *one) or {}
            made[key] = one, filled
        one, filled = made[key]
        found[i].update(filled)
        if one is not None and not filled.get("error"):
            cases[i] = one
    return cases


def _filled(row: Row, path: Path, video: Video) -> dict[str, float]:
    T = throughput(path)
    return {
        "rtt": path.rtt,
        "packet_rate": video.packet_rate,
        LOAD: row.get(LOAD, T / video.packet_rate),
        "throughput": T,
    }


def _live(cases: dict[int, Case], found: list[dict[str, Any]]) -> dict[int, Streaming]:
    """Solve each backlog once."""
    solved: dict[Hashable, LiveStreaming | None] = {}
    results: dict[int, Streaming] = {}
    for i, (path, video) in cases.items():
        key = _try(found[i], backlog_key, path, video)
        if key is None:
            continue
        first = solved.get(key)
        if first is None:
            first = solved[key] = _try(found[i], live, path, video)
        result = None if first is None else _try(found[i], with_backlogs, first, path, video)
        if result is not None:
            results[i] = result
    return results


def _stored(cases: dict[int, Case], found: list[dict[str, Any]]) -> dict[int, Streaming]:
    """Solve all together, so that they share transients; those that cannot be solved alone are left out."""
    try:
        return dict(zip(cases, stored_many(cases.values())))
    except Exception:  # of one of them: each is asked alone
        alone = {i: _try(found[i], stored, *one) for i, one in cases.items()}
    good = {i: cases[i] for i, result in alone.items() if result is not None}
    try:
        return dict(zip(good, stored_many(good.values())))
    except Exception:
        return {i: alone[i] for i in good}


def _answer(result: Streaming, question: str, value: Any, alpha: bool) -> dict[str, Any]:
    """Return the answer to a row's question, and how far it can be trusted."""
    answer: dict[str, Any] = {}
    if question == "no_late":
        assert isinstance(result, StoredStreaming)
        answer["required_delay"] = result.required_delay(no_late=value)
    elif question == "target":
        answer["required_delay"] = result.required_delay(value)
    else:
        answer["late_fraction"] = result.late_fraction(value)
        if isinstance(result, StoredStreaming):
            answer["no_late_lower_bound"] = result.no_late_lower_bound(value)
            if alpha:
                answer["no_late_probability"] = result.no_late_probability(value)
    if isinstance(result, StoredStreaming):
        error = (
            result.quantum_error if result.quantum == 1 else result.relative_error(answer.get("required_delay", value))
        )
        answer |= {"quantum": result.quantum, "quantum_error": error}
    else:
        assert isinstance(result, LiveStreaming)
        answer["lattice_error"] = result.lattice_error(answer.get("required_delay", value))
    return answer | {"error_bound": result.error_bound}

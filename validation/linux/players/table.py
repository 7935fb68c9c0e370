"""The tables of docs/kernel.md, and the share of quantities whose intervals meet."""

from __future__ import annotations

from typing import Any

from .cases import Case
from .prediction import ENDS, Values, known
from .verdict import FACTORS, Interval, counted, measured, predicted, within

Record = dict[str, Any]

TITLES = {"start": "start [s]", "stall_probability": "P(any stall)", "stalls": "stalls", "stalled": "stalled [s]"}


def table(records: list[Record], captures: list[Record], solved: list[Record]) -> str:
    """Return the tables in Markdown.

    Parameters
    ----------
    records, captures, solved : list of dict
        The lines of linux_viewers.jsonl, linux_viewers_captures.jsonl and linux_viewers_solved.jsonl.
    """
    rows = [(record, answers(record["case"], captures, solved)) for record in records]
    played = [row for row in rows if not row[0]["case"]["segment"]]
    fetched = [row for row in rows if row[0]["case"]["segment"]]
    return "\n\n".join([_players(played), _segments(fetched)])


def answers(case: Record, captures: list[Record], solved: list[Record]) -> dict[str, Values]:
    """Return what the capture over its path, the ends of its intervals, and the path itself say of a case."""
    captured = next(one["paths"] for one in captures if one["path"] == Case(**case).path)
    paths = {end: captured[end] for end in ENDS} | {"known": known(Case(**case))}
    found = {}
    for name, path in paths.items():
        found[name] = next(one["answers"] for one in solved if (one["case"], one["path"]) == (case, path))
    return found


def _players(rows: list[tuple[Record, dict[str, Values]]]) -> str:
    lines = [
        "| server | p | R [s] | mu [packets/s] | sessions | quantity | measured | by the capture | by the path "
        "| inside |",
        "|---|--:|--:|--:|--:|---|--:|--:|--:|---|",
    ]
    inside, near = [], []
    for record, said_by in rows:
        case, seen, said = record["case"], measured(record), predicted(said_by)
        place = f"{case['tcp']} | {case['p']} | {case['rtt']} | {case['packet_rate']:g} | {_sessions(record)}"
        for name, interval in said.items():
            path = said_by["known"][name]["value"]
            meets = seen[name].meets(interval)
            inside.append(meets)
            near.append(seen[name].low <= path <= seen[name].high)
            lines.append(
                f"| {place} | {TITLES[name]} | {_shown(seen[name])} | {_shown(interval)} | {path:.2f} "
                f"| {'yes' if meets else 'no'} |"
            )
            place = "| | | |"
    lines += [
        "",
        f"Intervals meet in {sum(inside)} of {len(inside)} ({sum(inside) / len(inside):.0%}); what the path itself "
        f"predicts lies in the interval of the measurement in {sum(near)} ({sum(near) / len(near):.0%}).",
    ]
    return "\n".join(lines)


def _segments(rows: list[tuple[Record, dict[str, Values]]]) -> str:
    lines = [
        "| p | R [s] | segment, held [s] | sessions | quantity | measured | by the capture | by the path | "
        "capture over measured | within |",
        "|--:|--:|--:|--:|---|--:|--:|--:|--:|---|",
    ]
    for record, said_by in rows:
        case, seen, said = record["case"], measured(record), predicted(said_by)
        place = f"{case['p']} | {case['rtt']} | {case['segment']:g}, {case['held']:g} | {_sessions(record)}"
        for name, title in (("stalls_per_hour", "stalls per hour"), ("download", "mean download [s]")):
            path, one = said_by["known"][name]["value"], seen[name]
            good = within(name, one.value, said[name].value)
            lines.append(
                f"| {place} | {title} | {_shown(one)} | {_shown(said[name])} | {path:.3g} "
                f"| {said[name].value / one.value:.2f} | {FACTORS[name]:g}: {'yes' if good else 'no'} |"
            )
            place = "| | |"
    return "\n".join(lines)


def _sessions(record: Record) -> str:
    return f"{len(counted(record))} of {len(record['sessions'])}"


def _shown(one: Interval) -> str:
    digits = 2 if one.value < 10 else 1
    return f"{one.value:.{digits}f} ({one.low:.{digits}f} to {one.high:.{digits}f})"

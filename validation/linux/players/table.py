"""The tables of docs/kernel.md, and the share of quantities whose intervals meet."""

from __future__ import annotations

from typing import Any

from .cases import Case
from .prediction import FOUND, Values, known, path_throughput
from .verdict import FACTORS, Interval, counted, measured, predicted, within

Record = dict[str, Any]

POINTS = {"estimate": "by the capture", "throughput": "with the p for its T", "known": "by the path"}
"""What predicts, by the names of `answers`."""

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
    return "\n\n".join([_players(played), _segments(fetched), _throughputs(captures)])


def answers(case: Record, captures: list[Record], solved: list[Record]) -> dict[str, Values]:
    """Return what a case comes to by the capture over its path, its ends, its throughput, and by the path itself."""
    captured = next(one["paths"] for one in captures if one["path"] == Case(**case).path)
    paths = {name: captured[name] for name in FOUND} | {"known": known(Case(**case))}
    found = {}
    for name, path in paths.items():
        found[name] = next(one["answers"] for one in solved if (one["case"], one["path"]) == (case, path))
    return found


def _players(rows: list[tuple[Record, dict[str, Values]]]) -> str:
    lines = [
        "| server | p | R [s] | mu [packets/s] | sessions | quantity "
        "| measured | by the capture | p for its T | by the path | inside |",
        "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|---|",
    ]
    inside: list[bool] = []
    points: dict[str, list[bool]] = {name: [] for name in POINTS}
    for record, said_by in rows:
        case, seen, said = record["case"], measured(record), predicted(said_by)
        place = f"{case['tcp']} | {case['p']} | {case['rtt']} | {case['packet_rate']:g} | {_sessions(record)}"
        for name, interval in said.items():
            value = {by: said_by[by][name]["value"] for by in POINTS}
            inside.append(seen[name].meets(interval))
            for by, hits in points.items():
                hits.append(seen[name].low <= value[by] <= seen[name].high)
            lines.append(
                f"| {place} | {TITLES[name]} | {_shown(seen[name])} | {_shown(interval)} | {value['throughput']:.2f} "
                f"| {value['known']:.2f} | {'yes' if inside[-1] else 'no'} |"
            )
            place = "| | | |"
    counts = ", ".join(f"{POINTS[by]} {sum(hits)}" for by, hits in points.items())
    lines += [
        "",
        f"The intervals overlap in {sum(inside)} of {len(inside)} ({sum(inside) / len(inside):.0%}). "
        f"The prediction lies inside the interval of the measurement: {counts}.",
    ]
    return "\n".join(lines)


def _segments(rows: list[tuple[Record, dict[str, Values]]]) -> str:
    lines = [
        "| p | R [s] | segment, held [s] | sessions | quantity "
        "| measured | by the capture | p for its T | by the path | capture over measured | within |",
        "|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|---|",
    ]
    for record, said_by in rows:
        case, seen, said = record["case"], measured(record), predicted(said_by)
        place = f"{case['p']} | {case['rtt']} | {case['segment']:g}, {case['held']:g} | {_sessions(record)}"
        for name, title in (("stalls_per_hour", "stalls per hour"), ("download", "mean download [s]")):
            path, fitted = (said_by[by][name]["value"] for by in ("known", "throughput"))
            one = seen[name]
            good = within(name, one.value, said[name].value)
            lines.append(
                f"| {place} | {title} | {_shown(one)} | {_shown(said[name])} | {fitted:.3g} "
                f"| {path:.3g} | {said[name].value / one.value:.2f} | {FACTORS[name]:g}: {'yes' if good else 'no'} |"
            )
            place = "| | |"
    return "\n".join(lines)


def _sessions(record: Record) -> str:
    return f"{len(counted(record))} of {len(record['sessions'])}"


def _shown(one: Interval) -> str:
    digits = 2 if one.value < 10 else 1
    return f"{one.value:.{digits}f} ({one.low:.{digits}f} to {one.high:.{digits}f})"


def _throughputs(captures: list[Record]) -> str:
    lines = [
        "| server | p | R [s] | T of the capture [packets/s] | chain by the capture over it | by the path |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for one in captures:
        path, shown = one["path"], one["paths"]["measured"]
        T = shown["throughput_pps"]
        seen = Interval(T, *shown["intervals"]["throughput_pps"])
        given = known(Case(**path, packet_rate=1.0, seconds=1.0))
        lines.append(
            f"| {path['tcp']} | {path['p']} | {path['rtt']} | {_shown(seen)} "
            f"| {path_throughput(one['paths']['estimate']) / T:.3f} | {path_throughput(given) / T:.3f} |"
        )
    return "\n".join(lines)

"""The tables of docs/kernel.md, and the share of quantities whose intervals meet."""

from __future__ import annotations

from typing import Any

from .verdict import FACTORS, Interval, counted, measured, predicted, within

TITLES = {"start": "start [s]", "stall_probability": "P(any stall)", "stalls": "stalls", "stalled": "stalled [s]"}


def table(records: list[dict[str, Any]], solved: list[dict[str, Any]]) -> str:
    """Return the tables in Markdown.

    Parameters
    ----------
    records, solved : list of dict
        The lines of linux_viewers.jsonl and linux_viewers_solved.jsonl.
    """
    answers = {str(one["case"]): one["answers"] for one in solved}
    rows = [(record, answers[str(record["case"])]) for record in records]
    played = [row for row in rows if not row[0]["case"]["segment"]]
    fetched = [row for row in rows if row[0]["case"]["segment"]]
    return "\n\n".join([_players(played), _segments(fetched)])


def _players(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    lines = [
        "| server | p | R [s] | mu [packets/s] | sessions | quantity | measured | by the capture | by the path "
        "| inside |",
        "|---|--:|--:|--:|--:|---|--:|--:|--:|---|",
    ]
    inside, near = [], []
    for record, answers in rows:
        case, seen, said = record["case"], measured(record), predicted(answers)
        place = f"{case['tcp']} | {case['p']} | {case['rtt']} | {case['packet_rate']:g} | {_sessions(record)}"
        for name, interval in said.items():
            path = answers["known"][name]["value"]
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


def _segments(rows: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    lines = [
        "| p | R [s] | segment, held [s] | sessions | quantity | measured | by the capture | by the path | "
        "capture over measured | within |",
        "|--:|--:|--:|--:|---|--:|--:|--:|--:|---|",
    ]
    for record, answers in rows:
        case, seen, said = record["case"], measured(record), predicted(answers)
        place = f"{case['p']} | {case['rtt']} | {case['segment']:g}, {case['held']:g} | {_sessions(record)}"
        for name, title in (("stalls_per_hour", "stalls per hour"), ("download", "mean download [s]")):
            path, one = answers["known"][name]["value"], seen[name]
            good = within(name, one.value, said[name].value)
            lines.append(
                f"| {place} | {title} | {_shown(one)} | {_shown(said[name])} | {path:.3g} "
                f"| {said[name].value / one.value:.2f} | {FACTORS[name]:g}: {'yes' if good else 'no'} |"
            )
            place = "| | |"
    return "\n".join(lines)


def _sessions(record: dict[str, Any]) -> str:
    return f"{len(counted(record))} of {len(record['sessions'])}"


def _shown(one: Interval) -> str:
    digits = 2 if one.value < 10 else 1
    return f"{one.value:.{digits}f} ({one.low:.{digits}f} to {one.high:.{digits}f})"

"""What was found of TFRC, in tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from witness import columns

Cases = Sequence[tuple[Any, dict[str, Any]]]


def equation(cases: Cases) -> str:
    """Return the rate over that of the equation: at the loss events seen, at the mean p reported, at the losses."""
    rows: list[list[object]] = [
        ["p of losses", "R ms", "events/packets", "p", "rate/eq", "+-", "at p", "at losses", "15%"]
    ]
    for case, found in cases:
        rows.append(
            [case.loss, f"{1e3 * case.rtt:g}", f"{found['events']:.5f}", f"{found['p']:.5f}", f"{found['ratio']:.3f}",
             found["margin"]["ratio"], f"{found['ratio_p']:.3f}", f"{found['ratio_loss']:.3f}",
             _yes(abs(found["ratio"] - 1) <= 0.15)]
        )  # fmt: skip
    return columns(rows)


def alone(cases: Cases) -> str:
    """Return which part of a link is used."""
    rows: list[list[object]] = [["Mbit/s", "R ms", "queue", "used", "with options", "95%"]]
    for case, found in cases:
        rows.append(
            [case.rate / 1e6, f"{1e3 * case.rtt:g}", case.queue, f"{found['plain']:.4f}",
             f"{found['options']:.4f}", _yes(found["plain"] >= 0.95)]
        )  # fmt: skip
    return columns(rows)


def ns2(cases: Cases) -> str:
    """Return p, R and X in ns-2, and here over ns-2: older weights, those of the RFC, and all options."""
    rows: list[list[object]] = [
        ["condition", "options", "p ns-2", "here", "R ns-2", "here", "kbit/s ns-2", "here", "10%"]
    ]
    for case, found in cases:
        for there_with, here_with in (("none", "none"), ("weights", "none"), ("all", "all")):
            there, here = found[f"ns2 {there_with}"], found[f"sim {here_with}"]
            ratios = {name: here[name] / there[name] for name in ("p", "R", "X")}
            rows.append(
                [case.key if there_with == "none" else "", there_with, f"{there['p']:.5f}", f"{ratios['p']:.3f}",
                 f"{there['R']:.4f}", f"{ratios['R']:.3f}", f"{there['X'] / 1e3:.1f}", f"{ratios['X']:.3f}",
                 _yes(all(abs(one - 1) <= 0.1 for one in ratios.values()))]
            )  # fmt: skip
    return columns(rows)


def tcp(cases: Cases) -> str:
    """Return what flows of TFRC and TCP get on average."""
    rows: list[list[object]] = [["condition", "TFRC kbit/s", "TCP", "TFRC/TCP", "+-", "link used", ".5 to 2"]]
    for case, found in cases:
        rows.append(
            [case.key, f"{found['tfrc'] / 1e3:.1f}", f"{found['tcp'] / 1e3:.1f}", f"{found['ratio']:.3f}",
             found["margin"]["ratio"], f"{found['used']:.3f}", _yes(0.5 <= found["ratio"] <= 2)]
        )  # fmt: skip
    return columns(rows)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


TABLES: dict[str, Callable[[Cases], str]] = {"equation": equation, "alone": alone, "ns2": ns2, "tcp": tcp}

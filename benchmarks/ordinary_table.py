"""The table of the ordinary inputs: a row each, with what simulating its chain would take."""

from __future__ import annotations

from typing import Any

from .ordinary import METHODS
from .outcome import duration

Record = dict[str, Any]

QUICK, ALL, AT_CAPACITY = 2.0, 10.0, 60.0
"""CPU seconds in which 90% of the inputs are to be answered, and all; and those of short round trips near T/mu = 1."""

MEMORY = 2**30
"""Bytes that an answer may take."""


def table(rows: list[Record]) -> list[str]:
    """Return the lines of the table, and what they come to."""
    ours = [row for row in rows if row["method"] in METHODS]
    peers = {row["method"][-2:]: row for row in rows if row["method"].startswith("Monte Carlo")}
    lines = [
        "",
        "| | T/mu | CPU, warm | whole command | memory | f within | required delay | Monte Carlo, 1% at f = 1e-4 | |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
        *("| " + " | ".join(_cells(row, peers.get(row["method"][:2]))) + " |" for row in ours),
    ]
    others = [row for row in rows if row["method"] not in METHODS and not row["method"].startswith("Monte Carlo")]
    lines += [""] * bool(others) + [_other(row, ours) for row in others]
    return [*lines, "", summary(ours)]


def summary(ours: list[Record]) -> str:
    """Say how many inputs are answered in what time."""
    done = [row for row in ours if row.get("figures", {}).get("verdict") == "answered"]
    spent = [row["seconds"][0] for row in done]
    within = [sum(one <= limit for one in spent) for limit in (QUICK, ALL, AT_CAPACITY)]
    large = sum((row.get("memory_bytes") or 0) > MEMORY for row in done)
    return (
        f"{len(done)} of {len(ours)} answered: {within[0]} in {QUICK:g} s of CPU, {within[1]} in {ALL:g} s, "
        f"{within[2]} in {AT_CAPACITY:g} s; {large} of them with more than 1 GiB."
    )


def _other(row: Record, ours: list[Record]) -> str:
    """Return a line about a simulator of packets."""
    base = next((one for one in ours if one["method"][:2] == row["method"][-2:]), None)
    line = f"- {row['method']}: {row.get('note', '')}"
    if not row["seconds"]:
        return line
    line += f", {duration(row['seconds'][0])}"
    if base and base.get("figures", {}).get("verdict") == "answered":
        line += f", {row['seconds'][0] / base['seconds'][0]:.3g} times ours"
    return line


def _cells(row: Record, peer: Record | None) -> list[str]:
    found = row.get("figures", {})
    memory = f"{row['memory_bytes'] / 2**20:,.0f} MiB" if row.get("memory_bytes") else ""
    cells = [f"{row['method'][:2]} `{row['method'][3:]}`"]
    simulated, note = "", row.get("note", "")
    if peer:
        simulated = duration(peer["seconds"][0]) if peer["seconds"] else peer.get("note", "")
    if found.get("verdict") != "answered":
        wait = f"stopped after {duration(row['seconds'][0])}" if row["seconds"] else ""
        return [*cells, "", wait, "", memory, "", "", simulated, note]
    if peer and peer["seconds"]:
        simulated += f", {peer['seconds'][0] / row['seconds'][0]:.3g} times ours"
    command = found.get("command_seconds")
    cells += [f"{found['T/mu']:.3g}", duration(row["seconds"][0]), duration(command) if command else "stopped", memory]
    cells += ["" if found["relative_error"] is None else f"{found['relative_error']:.1g}"]
    return [*cells, f"{found['required']:.4g} s", simulated, f"mu = {found['rate']:.4g}/s" if "rate" in found else ""]

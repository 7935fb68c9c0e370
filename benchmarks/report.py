"""From outcomes to a table: compared with the reference of each case, in Markdown and JSON, with a plot of the cost."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import ordinary_table
from .machine import machine, versions
from .outcome import duration
from .rows import ROWS, TITLES

Record = dict[str, Any]

FINISHED = "finished.txt"


def read(folder: Path) -> list[Record]:
    """Return the outcomes so far, without those of rows that were measured again later."""
    file = folder / "outcomes.jsonl"
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def finished(folder: Path) -> list[str]:
    """Return the names of the rows that are done: where one failed before, it counts no more."""
    file = folder / FINISHED
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def collect(folder: Path, mode: str) -> Record:
    """Return everything for the table: machine, versions, and the rows with ratios and errors."""
    latest = {(record["case"], record["method"]): record for record in read(folder)}
    done = finished(folder)
    records = [record for record in latest.values() if not (record.get("failed") and record["row"] in done)]
    order = {row.name: number for number, row in enumerate(ROWS)}
    records.sort(key=lambda record: order.get(record["row"], len(order)))
    for record in records:
        compare(record, records, folder)
    return {"mode": mode, "machine": machine(), "versions": versions(), "rows": records}


def compare(record: Record, records: list[Record], folder: Path) -> None:
    """Add the ratio of times and the largest difference of answers to what the row is compared with."""
    row = next(one for one in ROWS if one.name == record["row"])
    reference = next((one for one in ROWS if one.reference and one.case == row.case), None)
    name = row.against.get(record["method"], reference.method if reference else "")
    base = next((one for one in records if one["case"] == row.case and one["method"] == name), None)
    if base is None or base is record:
        return
    if base["seconds"] and record["seconds"] and (reference is None or not row.reference):
        record["ratio"] = float(f"{median(record['seconds']) / median(base['seconds']):.4g}")
        record["ratio_to"] = name
    if "answer" in record and "answer" in base:
        with np.load(folder / record["answer"]) as mine, np.load(folder / base["answer"]) as its:
            shared = [key for key in mine.files if key in its.files and mine[key].shape == its[key].shape]
            if shared:
                record["difference"] = float(f"{max(np.abs(mine[key] - its[key]).max() for key in shared):.3g}")
                relative = max(np.abs(mine[key] / np.maximum(its[key], 1e-300) - 1).max() for key in shared)
                record["relative_difference"] = float(f"{relative:.3g}")


def write(results: Record, folder: Path, stem: str) -> str:
    """Write JSON, Markdown and the plot; return the Markdown."""
    text = markdown(results)
    (folder / f"{stem}.md").write_text(text, encoding="utf-8")
    kept = [{key: value for key, value in row.items() if value not in (None, "", {}, [], False) and key != "answer"}
            for row in results["rows"]]  # fmt: skip
    head = {key: results[key] for key in ("mode", "machine", "versions")}
    lines = ",\n".join("  " + json.dumps(row) for row in kept)
    (folder / f"{stem}.json").write_text(f'{json.dumps(head)[:-1]}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    plot_cost(results["rows"], folder / f"{stem}-cost.png")
    return text


def markdown(results: Record) -> str:
    """Return the tables, one a case."""
    m, v = results["machine"], results["versions"]
    lines = [
        f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['system']}. "
        + ", ".join(f"{name} {version}" for name, version in v.items())
        + f". Mode: {results['mode']}.",
        "",
        "One thread each, kernels warm"
        + (". " if results["mode"] == "quick" else ", a process for each measurement. ")
        + "*difference*: largest absolute difference of the answers from tcpstream's. *ratio*: median time over that "
        "of tcpstream, or of what is named.",
    ]
    for case, title in TITLES.items():
        rows = [row for row in results["rows"] if row["case"] == case]
        if not rows:
            continue
        lines += ["", f"### {title}" + (" (small sizes)" if results["mode"] == "quick" else ""), ""]
        if case == "ordinary":
            lines = lines[:-1] + ordinary_table.table(rows)
            continue
        lines += ["| method | states | median | min..max (n) | ratio | difference | says itself | memory | |"]
        lines += ["|---|--:|--:|--:|--:|--:|---|--:|---|"]
        lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cells(row: Record) -> list[str]:
    """Return a row of the table as text."""
    seconds = row["seconds"]
    states = f"{row['states']:,}" if row.get("states") else ""
    middle = spread = ratio = ""
    if seconds:
        middle = duration(median(seconds))
        if row.get("stopped"):
            middle = f"stopped after {middle}"
        elif row.get("extrapolated"):
            middle = f"{middle} (extrapolated)"
        if len(seconds) > 1:
            spread = f"{duration(min(seconds))}..{duration(max(seconds))} ({len(seconds)})"
        else:
            spread = "(1)"
    if "ratio" in row:
        ratio = f"{row['ratio']:.3g}" + ("" if row["ratio_to"] == "tcpstream" else f" ({row['ratio_to']})")
        ratio = f"> {ratio}" if row.get("stopped") else ratio
    difference = f"{row['difference']:.1e}" if "difference" in row else ""
    memory = f"{row['memory_bytes'] / 2**20:,.0f} MiB" if row.get("memory_bytes") else ""
    return [row["method"], states, middle, spread, ratio, difference, row.get("claimed", ""), memory,
            row.get("note", "")]  # fmt: skip


def plot_cost(rows: list[Record], file: Path) -> None:
    """Plot what a position of the window costs, over the largest window and over the number of rounds."""
    series: dict[str, list[tuple[float, float]]] = {"W_max": [], "rounds": []}
    for row in rows:
        figures = row.get("figures") or {}
        if "seconds_per_position" in figures:
            series[figures["series"]].append((figures["size"], 1e9 * figures["seconds_per_position"]))
    if not any(series.values()):
        return
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=False)
    for axis, (name, points) in zip(axes, series.items()):
        if points:
            x, y = np.array(points).T
            guide = y[0] * x / x[0] if name == "W_max" else np.full(len(x), np.median(y))
            axis.loglog(x, guide, "--", color="0.6", label="in proportion" if name == "W_max" else "constant")
            axis.loglog(x, y, "o-", label="measured")
            axis.set_xticks(x, [f"{value:.0f}" for value in x])
            axis.minorticks_off()
            axis.set_ylim(y.min() / 3, y.max() * 3)
            axis.legend()
        axis.set_xlabel("largest window W_max [packets]" if name == "W_max" else "rounds")
        axis.set_ylabel("time / (rounds x positions) [ns]")
    figure.savefig(file, dpi=120)
    plt.close(figure)

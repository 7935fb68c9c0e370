"""Late fractions of the chains beside the kernel's: ``python validation/linux/late.py``."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from conditions import RATIOS
from records import RECORDED, Record, chain, kind, measured_path, place, recorded, run_name, together, with_throughput
from rich.console import Console
from rich.progress import track
from run import DELAYS

from tcpstream import Path, TcpstreamError, Video, live, stored, throughput
from tcpstream.system.log import appending, read

SOLVED = RECORDED.with_name("linux_late.jsonl")
"""The chains' answers, a run a line: cubic's take minutes each."""

VISIBLE = 1e-3
"""Late fractions from here on are judged."""

LOADS = ((1.3, np.inf), (1.0, 1.3))
"""Ranges of T / mu."""

LIMITED = ("reno-sack", "cubic")
"""Chains whose live streams are solved for application-limited senders in the first of these ranges: after timeouts,
which the paper's chain has, and where T is hardly more than mu, a stream falls further behind than
`Path.application_limited` allows for."""


def model(path: Path, kind: str, mu: float, video: float) -> list[float]:
    """Return the chain's late fraction for every delay; nan where it has no answer.

    A packet travels for R/2, and a connection is there after R: in the chain a live packet takes nothing and the first
    stored ones R. So the delay that is left for TCP is R/2 shorter.
    """
    delays = np.maximum(np.array(DELAYS) - path.rtt / 2, 0.0)
    try:
        if kind == "live":
            ample = path.tcp in LIMITED and throughput(path) >= LOADS[0][0] * mu
            limited = path.application_limited(mu) if ample else path
            return list(live(limited, Video(packet_rate=mu)).late_fraction(delays))
        return list(stored(path, Video(packet_rate=mu, duration=video)).late_fraction(delays))
    except TcpstreamError:
        return [np.nan] * len(DELAYS)


def streams(record: Record) -> list[tuple[float, Any]]:
    """Return (mu [packets/s], late shares by delay) of the streams of a run."""
    rate = record["condition"]["packet_rate"]
    if kind(record) == "live":
        return [(rate, record["late"])]
    return [(rate * RATIOS[0] / ratio, late) for ratio, late in zip(RATIOS, record["late"])]


def compared(record: Record, download: Record) -> list[dict[str, Any]]:
    """Return the points of a run that are judged.

    `download` is a backlogged run over the same path: T is its throughput, and its capture is the estimate for stored
    videos, of which each connection is short. A live stream is its own estimate.
    """
    condition, found = record["condition"], []
    T, path = download["throughput"], measured_path(record if kind(record) == "live" else download)
    for mu, late in streams(record):
        judged = [k for k, (share, _) in enumerate(late) if share >= VISIBLE]
        if not judged:
            continue
        given = {"estimate": path, "throughput": with_throughput(path, T)}
        fractions = {name: model(one, kind(record), mu, condition["video"]) for name, one in given.items()}
        for k in judged:
            found.append(
                {
                    "chain": chain(record), "kind": kind(record), "p": condition["p"], "rtt": condition["rtt"],
                    "load": T / mu, "delay": DELAYS[k], "late": late[k][0], "error": late[k][1],
                    **{name: values[k] for name, values in fractions.items()},
                }
            )  # fmt: skip
    return found


@cache
def rows() -> list[dict[str, Any]]:
    """Return every point of a path with a chain and a measured T; what is solved once is kept in `SOLVED`."""
    records = recorded()
    downloads = {place(one): one for one in together([one for one in records if kind(one) == "file" and chain(one)])}
    videos = [
        *(one for one in records if kind(one) == "live"),
        *together([one for one in records if kind(one) == "stored"]),
    ]
    judged = [one for one in videos if chain(one) and place(one) in downloads]
    judged.sort(key=lambda one: (chain(one) == "cubic", -one["condition"]["p"]))  # those that take long come last
    solved = {line["run"]: line["points"] for line in read(SOLVED)}
    missing = [one for one in judged if run_name(one) not in solved]
    if missing:
        solved |= solve(missing, downloads)
    return [row for one in judged for row in solved[run_name(one)] if possible(row)]


def solve(missing: list[Record], downloads: dict[tuple[Any, ...], Record]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of runs by their name, and keep each as soon as it is there."""
    solved = {}
    with ProcessPoolExecutor() as pool, appending(SOLVED) as append:
        futures = {pool.submit(compared, one, downloads[place(one)]): run_name(one) for one in missing}
        for future in track(as_completed(futures), "runs", len(futures), console=Console(stderr=True)):
            solved[futures[future]] = future.result()
            append({"run": futures[future], "points": future.result()})
    return solved


def possible(row: dict[str, Any]) -> bool:
    """Return whether a delay is long enough for the first packet, which is there 1.5 R after a connection is begun."""
    return bool(row["kind"] == "live" or row["delay"] >= 1.5 * row["rtt"])


def within(row: dict[str, Any], given: str, factor: float) -> bool:
    """Return whether the chain's late fraction is within a factor of the kernel's."""
    return bool(1 / factor <= row[given] / row["late"] <= factor)


def share(chosen: list[dict[str, Any]], given: str) -> str:
    """Return how many are within 2, and within 5."""
    if not chosen:
        return "-"
    two, five = (sum(within(row, given, factor) for row in chosen) / len(chosen) for factor in (2, 5))
    return f"{two:.0%} / {five:.0%} of {len(chosen)}"


def scatter(axes: Any, points: list[dict[str, Any]], given: str) -> None:
    """Draw the chain's late fractions over the kernel's, with lines at factors of 1, 2 and 5."""
    from tcpstream.plots.style import COLORS, MARKERS

    ends = np.array([VISIBLE / 10, 1])
    for factor, dashes in ((1, "-"), (2, "--"), (5, ":")):
        for side in {factor, 1 / factor}:
            axes.plot(ends, side * ends, color="black", linestyle=dashes, lw=0.7)
    for k, name in enumerate(("reno", "reno-sack", "cubic")):
        mine = [point for point in points if point["chain"] == name]
        axes.plot(
            [point["late"] for point in mine], [point[given] for point in mine],
            MARKERS[k], color=COLORS[k], label=name, markersize=4, fillstyle="none",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="late, kernel", ylabel="late, model")
    axes.legend(fontsize="small")


def draw(folder: FilePath) -> None:
    """Draw the scatter plots of live and of stored videos."""
    from matplotlib import pyplot

    from tcpstream.plots.style import save

    table = rows()
    for what in ("live", "stored"):
        panels = pyplot.subplots(1, 2, figsize=(9, 4.6), layout="constrained")[1]
        for axes, given, title in zip(panels, ("estimate", "throughput"), ("fed by estimate", "with the p for T")):
            chosen = [row for row in table if row["kind"] == what and row["load"] >= LOADS[0][0]]
            scatter(axes, chosen, given)
            axes.set_title(title, fontsize="medium")
        save(panels[0], folder / f"kernel-{what}.png")


def main() -> None:
    """Print the tables in Markdown."""
    table = rows()
    print("| chain | video | T/mu | fed by `estimate`: within 2 / 5 | with the p for the measured T |")
    print("|---|---|---|---|---|")
    for name in ("reno", "reno-sack", "cubic"):
        for what in ("live", "stored"):
            for low, high in LOADS:
                chosen = [r for r in table if (r["chain"], r["kind"]) == (name, what) and low <= r["load"] < high]
                load = f"{low} and above" if high == np.inf else f"{low} to {high}"
                print(f"| `{name}` | {what} | {load} | {share(chosen, 'estimate')} | {share(chosen, 'throughput')} |")
    print("\nPoints that are off by more than a factor of 2, with the estimated path, T/mu of 1.3 and above:\n")
    print("| chain | video | p | R [s] | T/mu | delay [s] | kernel | fed by `estimate` | p for T |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in table:
        if r["load"] >= LOADS[0][0] and not within(r, "estimate", 2):
            print(
                f"| `{r['chain']}` | {r['kind']} | {r['p']} | {r['rtt']} | {r['load']:.2f} | {r['delay']} "
                f"| {r['late']:.2g} ± {r['error']:.1g} | {r['estimate']:.2g} | {r['throughput']:.2g} |"
            )


if __name__ == "__main__":
    main()

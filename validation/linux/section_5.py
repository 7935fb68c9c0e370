"""Section 5 with kernel TCP in place of the Internet: ``python validation/linux/section_5.py``.

Figure 6: the throughput of an experiment every 10 seconds. Figure 7(a): late fractions of live videos of 1000 s, model
over measurement, delays of 4 to 10 s. Figure 7(b): pieces of 100 s of eight connections as stored videos. The model
knows what `tcpstream estimate` finds in the capture, and nothing else.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from late import VISIBLE, model, scatter
from records import Record, chain, kind, measured_path, recorded
from run import DELAYS, PIECE

from tcpstream import Path, Video, stored

SERIES = 10.0
"""Average of a point of Figure 6 [s]."""

LENGTH = 1000.0
"""Of the live videos [s]."""

CHOSEN = [k for k, tau in enumerate(DELAYS) if 4 <= tau <= 10]
"""Delays of Figure 7(a)."""

EPSILON = 0.15
"""Pieces count whose loss rate is this near the mean one (Section 4)."""


@cache
def live_points() -> list[dict[str, Any]]:
    """Return the points of Figure 7(a)."""
    found = []
    for record in recorded():
        condition = record["condition"]
        if kind(record) != "live" or condition["seconds"] != LENGTH or chain(record) is None:
            continue
        fractions = model(measured_path(record), "live", condition["packet_rate"], 0.0)
        found += [
            {"chain": chain(record), "delay": DELAYS[k], "late": record["late"][k][0], "model": fractions[k]}
            for k in CHOSEN
        ]
    return found


@cache
def stored_curves() -> dict[str, dict[str, Any]]:
    """Return what Figure 7(b) shows, by chain."""
    found = {}
    by_chain: dict[str, list[Record]] = {}
    for record in recorded():
        if kind(record) == "pieces" and (name := chain(record)):
            by_chain.setdefault(name, []).append(record)
    for name, records in by_chain.items():
        rate = "loss_event_rate" if name == "reno" else "loss"
        pieces = [
            (segment, late)
            for record in records
            for number, (segment, late) in enumerate(zip(record["segments"], record["late"]))
            if "loss" in segment and number not in record["disturbed_pieces"]
        ]
        p = float(np.mean([segment[rate][0] for segment, _ in pieces]))
        near = [pair for pair in pieces if abs(pair[0][rate][0] / p - 1) < EPSILON]
        rtt, rto, T = (
            float(np.mean([segment[key][0] for segment, _ in near])) for key in ("rtt_s", "rto_s", "throughput_pps")
        )
        late = np.array([shares for _, shares in near])
        path: Path = measured_path(records[0], loss=p, rtt=rtt, rto=max(rto, rtt))
        condition = records[0]["condition"]
        video = Video(packet_rate=condition["packet_rate"], duration=condition["piece"])
        found[name] = {
            "pieces": len(near), "all": len(pieces), "p": p, "rtt": rtt, "timeout_ratio": rto / rtt, "T": T,
            "mu": condition["packet_rate"], "late": late.mean(axis=0),
            "model": stored(path, video).late_fraction(DELAYS), "error": late.std(axis=0, ddof=1) / np.sqrt(len(late)),
        }  # fmt: skip
    return found


def series() -> tuple[Record, np.ndarray]:
    """Return the run of Figure 6, the longest live one on the path with the longest round trip, and its throughput."""
    runs = [one for one in recorded() if kind(one) == "live" and chain(one) == "reno"]
    record = max(runs, key=lambda one: (one["condition"]["seconds"], one["condition"]["rtt"], one["throughput"]))
    counts = np.array(record["series"])
    step = int(SERIES / PIECE)
    return record, counts[: len(counts) // step * step].reshape(-1, step).sum(axis=1) / SERIES


def draw(folder: FilePath) -> None:
    """Draw the three figures."""
    from matplotlib import pyplot

    from tcpstream.plots.style import COLORS, MARKERS, save

    record, throughputs = series()
    axes = pyplot.subplots(figsize=(6, 3), layout="constrained")[1]
    axes.plot((np.arange(len(throughputs)) + 0.5) * SERIES, throughputs, lw=0.8)
    axes.set(xlabel="time [s]", ylabel="throughput [packets/s]", ylim=(0, None))
    axes.set_title(f"p = {record['condition']['p']}, R = {record['condition']['rtt']} s", fontsize="medium")
    save(axes, folder / "kernel-figure-6.png")
    axes = pyplot.subplots(figsize=(5, 4.6), layout="constrained")[1]
    scatter(axes, live_points(), "model")
    save(axes, folder / "kernel-figure-7a.png")
    axes = pyplot.subplots(figsize=(6, 4), layout="constrained")[1]
    for k, (name, seen) in enumerate(stored_curves().items()):
        axes.errorbar(
            DELAYS, seen["late"], 1.96 * seen["error"], fmt=MARKERS[k], color=COLORS[k], label=f"kernel, {name}"
        )
        axes.plot(DELAYS, seen["model"], color=COLORS[k], label=f"model, {name}")
    axes.set(xlabel="startup delay [s]", ylabel="fraction of late packets", yscale="log", ylim=(1e-4, 1))
    axes.legend(fontsize="small")
    save(axes, folder / "kernel-figure-7b.png")


def main() -> None:
    """Print the figures as tables in Markdown."""
    points = [point for point in live_points() if point["late"] >= VISIBLE]
    print(f"Figure 7(a): {len(points)} points with a late fraction from {VISIBLE:g} on;")
    for name in dict.fromkeys(point["chain"] for point in points):
        ratios = np.array([point["model"] / point["late"] for point in points if point["chain"] == name])
        two, five = (float(np.mean((ratios <= factor) & (ratios >= 1 / factor))) for factor in (2, 5))
        print(f"- `{name}`: {len(ratios)}, {two:.0%} within 2, {five:.0%} within 5")
    for name, seen in stored_curves().items():
        print(
            f"\nFigure 7(b), `{name}`: {seen['pieces']} of {seen['all']} pieces, p = {seen['p']:.4f}, "
            f"R = {seen['rtt']:.3f} s, T_O = {seen['timeout_ratio']:.2f}, T/mu = {seen['T'] / seen['mu']:.2f}"
        )
        print("\n| delay [s] | kernel | model |\n|---|---|---|")
        for tau, late, error, fraction in zip(DELAYS, seen["late"], seen["error"], seen["model"]):
            print(f"| {tau} | {late:.2g} ± {error:.1g} | {fraction:.2g} |")


if __name__ == "__main__":
    main()

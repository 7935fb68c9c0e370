"""Figures 4, 5 and 8 with the simulation, and all settings at a glance."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from .. import live_model, plots, stored_model
from ..path import Path
from ..video import Video
from .compare import INPUTS, Comparison, interval, selected, wilson
from .settings import WINDOW
from .study import LENGTHS, LENGTHS_DELAY, LENGTHS_OF, ROUND, ROUNDS_DELAY, ROUNDS_OF, ROUNDS_RATE, VIDEO, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {"events": "model, p = loss events", "dropped": "model, p = dropped/sent", "throughput": "model, p for T"}


def draw(compared: list[Comparison], runs: list[Record], folder: FilePath) -> None:
    """Draw everything into a folder; Figure 8 needs the runs themselves.

    Parameters
    ----------
    compared : list of Comparison
    runs : list of dict
        As `study.read` returns them; may be empty.
    folder : path
        Made if there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {one.setting.name: one for one in compared}
    for name, one in by_name.items():
        title = {"live 2": "figure-4", "stored 4": "figure-5"}.get(name, name.replace(" ", "-"))
        plots.save(late_fraction(one), folder / f"{title}.png")
    for given in INPUTS:
        points = [(point.simulated, point.model[given], one.setting.name) for one in compared for point in one.judged]
        simulated, model, names = map(np.array, zip(*points))
        plots.save(plots.scatter_of_runs(simulated, model, names), folder / f"all-{given}.png")
    if runs:
        plots.save(by_length(by_name[LENGTHS_OF], runs), folder / "figure-8a.png")
        plots.save(by_round(by_name[ROUNDS_OF], runs), folder / "figure-8b.png")


def late_fraction(one: Comparison) -> Axes:
    """Draw the late fraction over the startup delay (Figures 4 and 5)."""
    delays, f, low, high = (
        [getattr(point, name) for point in one.points] for name in ("delay", "simulated", "low", "high")
    )
    model = {LABELS[given]: [point.model[given] for point in one.points] for given in INPUTS}
    axes = plots.beside_runs(delays, f, low, high, model)
    axes.set_title(f"{one.setting.name}: T/mu = {one.throughput / one.packet_rate:.2f}", fontsize="medium")
    return axes


def by_length(one: Comparison, runs: list[Record]) -> Axes:
    """Draw the late fraction over the length of a live video (Figure 8a).

    The model is the transient of the shortest video. What an empty backlog at the start saves is the same number of
    late packets in every longer one.
    """
    found = selected([run for run in runs if run["setting"] == LENGTHS_OF and run["kind"] == "live"])
    late = np.array([run["late_by_length"] for run in found])
    half, f, lengths = interval(late), late.mean(axis=0), LENGTHS / found[0]["shorter"]
    path, mu = _path(one, "throughput"), one.packet_rate
    endless = live_model.live(path, Video(packet_rate=mu)).late_fraction(LENGTHS_DELAY)
    shortest = live_model.live(path, Video(packet_rate=mu, duration=lengths[0])).late_fraction(LENGTHS_DELAY)
    model = {LABELS["throughput"]: endless - (endless - shortest) * lengths[0] / lengths}
    return plots.beside_runs(lengths, f, f - half, f + half, model, xlabel="length of the video (s)")


def by_round(one: Comparison, runs: list[Record]) -> Axes:
    """Draw the chance of a late packet over a stored video (Figure 8b)."""
    chosen = selected([run for run in runs if run["setting"] == ROUNDS_OF and run["kind"] == "stored"])
    found = [run["late_rounds"] for run in chosen]
    pieces = int((VIDEO + ROUNDS_DELAY) / ROUND)
    share = np.bincount(np.concatenate([np.array(one, dtype=int) for one in found]), minlength=pieces) / len(found)
    every = slice(int(ROUNDS_DELAY / ROUND), pieces, 10)
    low, high = np.array([wilson(value, len(found)) for value in share[every]]).T
    times = ROUND * (np.arange(pieces)[every] + 0.5)
    rate = one.throughput * ROUNDS_RATE / one.setting.throughput
    model = {}
    for given in INPUTS:
        path = _path(one, given)
        P = stored_model.stored(path, Video(packet_rate=rate, duration=VIDEO)).late_probability_per_round(ROUNDS_DELAY)
        model[LABELS[given]] = np.interp(times, path.rtt * np.arange(1, len(P) + 1), P)
    return plots.beside_runs(
        times, share[every], low, high, model,
        xlabel="time since the video was requested (s)", ylabel="probability of a late packet in the round",
    )  # fmt: skip


def _path(one: Comparison, given: str) -> Path:
    return Path(loss=one.model_loss[given], rtt=one.rtt, timeout_ratio=max(1.0, one.timeout_ratio), max_window=WINDOW)

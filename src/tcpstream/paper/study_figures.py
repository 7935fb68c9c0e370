"""Figures 4, 5 and 8 with the simulation, and all settings at a glance."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plots
from ..answers import stored as stored_model
from ..answers.live import live
from ..numerics.confidence import wilson
from ..path import Path
from ..video import Video
from .compare import INPUTS, Comparison, interval, selected
from .late_fractions import solve_live
from .study import LENGTHS, LENGTHS_DELAY, LENGTHS_OF, ROUND, ROUNDS_DELAY, ROUNDS_OF, ROUNDS_RATE, VIDEO, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Columns = dict[str, list[float]]

SETTLED = 200.0
"""Seconds after which what an empty backlog saved is final: in setting 2 within 1%, which is 0.1% of f at 500 s."""

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
        plots.save(by_length(by_name[LENGTHS_OF], over_length(runs)), folder / "figure-8a.png")
        plots.save(by_round(by_name[ROUNDS_OF], over_rounds(runs)), folder / "figure-8b.png")


def late_fraction(one: Comparison) -> Axes:
    """Draw the late fraction over the startup delay (Figures 4 and 5)."""
    delays, f, low, high = (
        [getattr(point, name) for point in one.points] for name in ("delay", "simulated", "low", "high")
    )
    model = {LABELS[given]: [point.model[given] for point in one.points] for given in INPUTS}
    axes = plots.beside_runs(delays, f, low, high, model)
    axes.set_title(f"{one.setting.name}: T/mu = {one.throughput / one.packet_rate:.2f}", fontsize="medium")
    return axes


def by_length(one: Comparison, seen: Columns) -> Axes:
    """Draw the late fraction over the length of a live video (Figure 8a), as `over_length` returns it."""
    lengths = np.array(seen["length_s"])
    model = {LABELS["throughput"]: model_by_length(one.path("throughput"), one.packet_rate, lengths)}
    return plots.beside_runs(
        lengths, seen["late_fraction"], seen["low_95"], seen["high_95"], model, xlabel="length of the video (s)"
    )


def model_by_length(path: Path, packet_rate: float, lengths: Floats) -> Floats:
    """Return the late fraction of live videos of some lengths [s], the shortest first.

    Solved is the transient of one of `SETTLED` seconds, or of the shortest: what an empty backlog at the start saves
    is the same number of late packets in every longer one.
    """
    length = min(SETTLED, float(lengths[0]))
    endless = solve_live([(path, Video(packet_rate=packet_rate))])[0].late_fraction(LENGTHS_DELAY)
    settled = _of_length(path, packet_rate, length)
    return np.asarray(endless - (endless - settled) * length / lengths)


@lru_cache
def _of_length(path: Path, packet_rate: float, length: float) -> float:
    """Return the late fraction of a live video of a length [s]: Figure 8a and a claim both ask for it."""
    return float(live(path, Video(packet_rate=packet_rate, duration=length)).late_fraction(LENGTHS_DELAY))


def over_length(runs: list[Record]) -> Columns:
    """Return what live runs saw over the length of the video: lengths [s], late fraction and its 95% interval."""
    found = selected([run for run in runs if run["setting"] == LENGTHS_OF and run["kind"] == "live"])
    late = np.array([run["late_by_length"] for run in found])
    half, f, lengths = interval(late), late.mean(axis=0), LENGTHS / found[0]["shorter"]
    return _columns(length_s=lengths, late_fraction=f, low_95=f - half, high_95=f + half)


def by_round(one: Comparison, seen: Columns) -> Axes:
    """Draw the chance of a late packet over a stored video (Figure 8b), as `over_rounds` returns it."""
    times = np.array(seen["time_s"])
    rate = one.throughput * ROUNDS_RATE / one.setting.throughput
    model = {}
    for given in INPUTS:
        path = one.path(given)
        P = stored_model.stored(path, Video(packet_rate=rate, duration=VIDEO)).late_probability_per_round(ROUNDS_DELAY)
        model[LABELS[given]] = np.interp(times, path.rtt * np.arange(1, len(P) + 1), P)
    return plots.beside_runs(
        times, seen["late_probability"], seen["low_95"], seen["high_95"], model,
        xlabel="time since the video was requested (s)", ylabel="probability of a late packet in the round",
    )  # fmt: skip


def over_rounds(runs: list[Record]) -> Columns:
    """Return what stored runs saw over the video: times [s], share with a late packet and its 95% interval."""
    chosen = selected([run for run in runs if run["setting"] == ROUNDS_OF and run["kind"] == "stored"])
    found = [run["late_rounds"] for run in chosen]
    pieces = int((VIDEO + ROUNDS_DELAY) / ROUND)
    share = np.bincount(np.concatenate([np.array(one, dtype=int) for one in found]), minlength=pieces) / len(found)
    every = slice(int(ROUNDS_DELAY / ROUND), pieces, 10)
    low, high = np.array([wilson(value * len(found), len(found)) for value in share[every]]).T
    return _columns(
        time_s=ROUND * (np.arange(pieces)[every] + 0.5), late_probability=share[every], low_95=low, high_95=high
    )


def _columns(**columns: NDArray[np.floating[Any]]) -> Columns:
    return {name: [float(f"{value:.6g}") for value in values] for name, values in columns.items()}

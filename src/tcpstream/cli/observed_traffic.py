"""Traffic of a simulated network without a video, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .blocks import Table
from .words import number_of_runs, spanned

if TYPE_CHECKING:
    from ..sim import Observation, Run

_HEAD = ("flow", "sent [kbit/s]", "received [kbit/s]", "95% interval", "lost of sent packets", "95% interval")


def blocks(observation: Observation, data: dict[str, Any]) -> list[Table]:
    """Return tables of all flows, and of what their applications say."""
    rows = [
        (
            flow["name"],
            f"{flow['sent_bps'] / 1000:.4g}",
            f"{flow['received_bps'] / 1000:.4g}",
            spanned(flow["intervals"]["received_bps"], 1000),
            f"{flow['loss']:.4g}",
            spanned(flow["intervals"]["loss"]),
        )
        for flow in data["flows"]
    ]
    figures = [
        (flow["name"], name, f"{value:.4g}", spanned(flow["intervals"]["figures"][name]))
        for flow in data["flows"]
        for name, value in flow["figures"].items()
    ]
    told = f"{number_of_runs(observation.runs)} of {observation.seconds:g} s, seed {observation.seed}"
    said = [Table(figures, ("flow", "figure", "mean", "95% interval"))] if figures else []
    return [Table(rows, _HEAD), *said, Table([("simulated", told)])]


def parameters(observation: Observation, file: str | None, run: Run) -> dict[str, Any]:
    """Return what was simulated."""
    from ..sim.files import plain

    return {
        "file": file,
        "simulated_s": observation.seconds,
        "runs": observation.runs,
        "seed": observation.seed,
        "scenario": plain(run.scenario),
    }

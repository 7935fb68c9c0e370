"""``tcpstream validate``: the model beside the bundled simulator."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, unwritable
from . import options as opt
from .blocks import Table
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from ..paper.compare import Comparison

RUNS = "tcpstream-validation.jsonl"


@click.command(cls=Sectioned)
@click.option("--quick", is_flag=True, help="Few and short runs: a minute or two.")
@click.option("--recorded", is_flag=True, help="The whole study as recorded with this version: no runs.")
@click.option("--runs", metavar="FILE", help=f"Where runs are kept, and continued from.  [default: {RUNS}]")
@click.option("--plots", metavar="FOLDER", help="Draw Figures 4, 5 and 8 and all settings into a folder.")
@click.option("--save", metavar="FILE", help="Write everything that was compared, as JSON.")
@opt.json_option
def validate(
    as_json: bool, quick: bool, recorded: bool, runs: str | None, plots: str | None, save: str | None
) -> Report:
    """Model beside simulation in the paper's ten settings (Tables II to V).

    Simulates all settings packet by packet, 60 live runs of 7000 s and 1000 stored runs of 100 s each: some 15
    minutes on two cores. An interrupted study continues where it was.
    """
    from ..paper import record
    from ..paper.compare import compare
    from ..paper.settings import SETTINGS
    from ..paper.study import FULL, QUICK, read, run_study, size
    from .progress import progress

    if recorded and (quick or runs):
        raise InputError("give --recorded, or --quick or --runs for new runs, not both")
    for name, out in (("--save", save), ("--plots", plots)):
        if out and not os.path.isdir(FilePath(out).parent):  # noqa: PTH112
            raise InputError(f"{name} {out}: no such folder to write into")
    kept: list[dict[str, Any]] = []
    if recorded:
        compared = record.recorded()
    else:
        scale = QUICK if quick else FULL
        file = FilePath(runs or (f"quick-{RUNS}" if quick else RUNS))
        with progress(size(scale), "simulating") as step:
            run_study(scale, file, step)
        kept = read(file)
        compared = [compare(setting, kept) for setting in SETTINGS]
    if save:
        try:
            record.save(compared, FilePath(save))
        except OSError as error:
            raise unwritable(f"write {save}", error) from None
    if plots:
        from ..paper.study_figures import draw

        draw(compared, kept, FilePath(plots))
    data = {"settings": record.to_data(compared), "shares": {p: record.shares(compared, p) for p in PS}}
    return Report(_provenance() | data, _blocks(compared), as_json)


PS = {"events": "loss events", "dropped": "dropped/sent", "throughput": "p for T"}
"""What the model gets as p, as a heading."""


def _provenance() -> dict[str, Any]:
    from .._version import __version__

    return {"schema": 1, "version": __version__, "parameters": {}}


def _blocks(compared: list[Comparison]) -> list[str | Table]:
    from ..paper import record
    from ..paper.compare import VISIBLE

    rows = [_setting(one) for one in compared]
    header = ("setting", "runs", "p", "events", "R ms", "T_O", "T", "T/mu", "T chain/T: events", "dropped")
    shares = {name: record.shares(compared, given) for given, name in PS.items()}
    blocks: list[str | Table] = [
        "What the runs saw, with the paper's values in brackets (T in packets/s):",
        Table(rows, header),
        f"Late fractions of {VISIBLE:g} and more, model beside simulation, by what the model gets as p:",
        Table(
            [
                (name, f"{one['points']:.0f}", *(f"{one[key]:.0%}" for key in ("inside", "within_2", "within_5")))
                for name, one in shares.items()
            ],
            ("p", "points", "inside 95% interval", "or within 2", "or within 5"),
        ),
    ]
    no_late = [
        (one.setting.name, f"{mu:.1f}", f"{share:.3f}", f"{low:.3f}..{high:.3f}", f"{alpha:.3f}")
        for one in compared
        for mu, share, low, high, alpha in one.no_late
    ]
    if no_late:
        blocks += ["No late packet in a video, startup delay 6 s:",
                   Table(no_late, ("setting", "mu", "share of runs", "95% interval", "alpha"))]  # fmt: skip
    return blocks


def _setting(one: Comparison) -> tuple[str, ...]:
    paper = one.setting
    return (
        paper.name,
        f"{one.selected} of {one.runs}",
        f"{one.loss:.4f} ({paper.loss:g})",
        f"{one.loss_events:.4f}",
        f"{1000 * one.rtt:.0f} ({1000 * paper.rtt:.0f})",
        f"{one.timeout_ratio:.1f} ({paper.timeout_ratio:g})",
        f"{one.throughput:.1f} ({paper.throughput:g})",
        f"{one.throughput / one.packet_rate:.2f}",
        f"{one.model_throughput['events'] / one.throughput:.2f}",
        f"{one.model_throughput['dropped'] / one.throughput:.2f}",
    )

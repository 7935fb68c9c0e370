"""``tcpstream claims``: what a paper concludes, judged by the model, or by simulations of its test bed."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options as opt
from .blocks import Table
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from ..paper.claim import Claim

PAPERS = ("wang", "chung", "hessler", "nichols", "zink")


@click.command(cls=Sectioned)
@click.option("--paper", type=click.Choice(PAPERS), default="wang", show_default=True, help="By its first author.")
@click.option("--recorded", is_flag=True, help="The runs as recorded with this version: no runs.")
@click.option(
    "--runs", metavar="FILE", help="Where runs are kept, and continued from.  [default: tcpstream-PAPER.jsonl]"
)
@opt.json_option
def claims(as_json: bool, paper: str, recorded: bool, runs: str | None) -> Report:
    """The conclusions of a paper, judged.

    Wang et al., on whose model this program stands: every statement of Section 6 (video length, T/mu, required startup
    delays) with the numbers that decide and a verdict; about a minute on two cores. docs/figures-of-the-paper.md says
    why some do not hold.

    The others measured streaming: every number of theirs beside the players of this program in a simulation of their
    test bed. A row is tested (T), or a rule was read off it (R), or fitted on it (C). An interrupted study
    continues where it was.
    """
    if paper == "wang":
        if recorded or runs:
            raise InputError("--recorded and --runs are for papers with a test bed: the claims of wang are solved")
        found = _solved()
    else:
        found = _simulated(paper, recorded, runs)
    return Report(_data(paper, found), _blocks(found), as_json)


def _solved() -> list[Claim]:
    from ..paper.claims import HOW_MANY
    from ..paper.claims import claims as judged
    from .progress import progress

    found = []
    with progress(HOW_MANY, "solving") as step:
        for claim in judged():
            found.append(claim)
            step()
    return found


def _simulated(paper: str, recorded: bool, runs: str | None) -> list[Claim]:
    from ..testbeds import study
    from ..testbeds.papers import bed
    from .progress import progress

    if recorded and runs:
        raise InputError("give --recorded, or --runs for new runs, not both")
    of = bed(paper)
    if recorded:
        return study.judged(of, study.recorded(of))
    file = FilePath(runs or f"tcpstream-{paper}.jsonl")
    with progress(len(study.jobs(of)), "simulating") as step:
        study.run_study(of, file, step)
    return study.judged(of, study.kept(of, file))


def _data(paper: str, found: list[Claim]) -> dict[str, Any]:
    from .._version import __version__
    from ..answers.answer import SCHEMA

    return {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": {"paper": paper},
        "claims": [dataclasses.asdict(claim) for claim in found],
    }


def _blocks(found: list[Claim]) -> list[str | Table]:
    from ..paper.claim import BASES

    counts = [
        f"{sum(claim.holds for claim in rows)} of {len(rows)} that were {what} ({basis})"
        for basis, what in BASES.items()
        if (rows := [claim for claim in found if claim.basis == basis])
    ]
    holding = f"{sum(claim.holds for claim in found)} of {len(found)} claims hold"
    return [*map(_block, found), f"{holding}: {', '.join(counts)}." if len(counts) > 1 else f"{holding}."]


def _block(claim: Claim) -> str:
    basis = "" if claim.basis == "T" else f" ({claim.basis})"
    lines = [
        f"{claim.section} {claim.key}{basis}: {'holds' if claim.holds else 'DOES NOT HOLD'}",
        f"  claim     {claim.says}",
    ]
    if claim.authors:
        lines.append(f"  authors   {claim.authors}")
    lines.append(f"  evidence  {claim.found}")
    if claim.within:
        lines.append(f"  holds if  {claim.within}")
    if claim.changes_with:
        lines.append(f"  otherwise with {', '.join(claim.changes_with)}")
    elif claim.says_nothing:
        lines.append(f"  holds with all {claim.tried} other values of what is assumed: it says nothing about them")
    return "\n".join(lines)

"""``tcpstream claims``: what the paper concludes in Section 6, judged by the model."""

from __future__ import annotations

import dataclasses

import click

from . import options as opt
from .blocks import Table
from .report import Report


@click.command()
@opt.json_option
def claims(as_json: bool) -> Report:
    """The paper's conclusions, judged by the model.

    Every statement of Section 6 (video length, T/mu, required startup delays) with the numbers that decide and a
    verdict. Takes about a minute on two cores. docs/figures-of-the-paper.md says why some do not hold.
    """
    from .._version import __version__
    from ..answers.answer import SCHEMA
    from ..paper.claims import HOW_MANY
    from ..paper.claims import claims as judged
    from .progress import progress

    found = []
    with progress(HOW_MANY, "solving") as step:
        for claim in judged():
            found.append(claim)
            step()
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": {},
        "claims": [dataclasses.asdict(claim) for claim in found],
    }
    blocks: list[str | Table] = [
        f"{claim.section} {claim.key}: {'holds' if claim.holds else 'DOES NOT HOLD'}\n"
        f"  claim     {claim.says}\n"
        f"  evidence  {claim.found}"
        for claim in found
    ]
    holding = sum(claim.holds for claim in found)
    return Report(data, [*blocks, f"{holding} of {len(found)} claims hold."], as_json)

"""``tcpstream figure``: the figures of the paper, drawn from the model."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import click

from ..errors import choice, unwritable
from . import options as opt
from .blocks import Table
from .report import Report
from .sections import Sectioned

NUMBERS = ("4", "5", "8a", "8b", "9a", "9b", "10a", "10b", "11a", "11b")
FORMATS = ("png", "svg", "pdf")


@click.command(cls=Sectioned)
@click.argument("number", metavar="|".join((*NUMBERS, "all")))
@opt.option("--out", FilePath, "FOLDER", "Where files are written.  [default: this folder]")
@opt.option("--format", str, "png|svg|pdf", "Format of the drawings.  [default: png]")
@opt.json_option
def figure(as_json: bool, number: str, out: FilePath | None, **options: Any) -> Report:
    """A figure of the paper, as a drawing and as CSV.

    From the model: 4, 5, 8a and 8b beside the recorded simulation, 9 to 11 over the parameter space of Section 6.
    All of them take about a minute on two cores; each is written when it is done.
    """
    from .._version import __version__
    from ..answers.answer import SCHEMA
    from .progress import progress

    form = options["format"] or FORMATS[0]
    choice("figure", number, (*NUMBERS, "all"))
    choice("--format", form, FORMATS)
    folder = _folder(out or FilePath())
    wanted = NUMBERS if number == "all" else (number,)
    written: dict[str, list[str]] = {}
    with progress(len(wanted), "drawing") as step:
        for one in wanted:
            written[one] = [str(file) for file in _written(one, folder, form)]
            step()
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": {"figure": number, "format": form},
        "files": written,
    }
    rows = [(one, *files) for one, files in written.items()]
    return Report(data, [Table(rows, ("figure", "drawing", "numbers"))], as_json)


def _folder(folder: FilePath) -> FilePath:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(f"write into --out {folder}", error) from None
    return folder


def _written(number: str, folder: FilePath, form: str) -> list[FilePath]:
    from ..paper import FIGURES

    made = FIGURES[number]()
    try:
        return made.write(folder, form)
    except OSError as error:
        raise unwritable(f"write into --out {folder}", error) from None

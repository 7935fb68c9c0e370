"""Sentences and tables as text, as wide as the terminal: rich's there, plain where the output is a file or a pipe."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..errors import printable
from .blocks import Table
from .fitting import parts, wrapped

USUAL = 80
"""Columns that a file or a pipe has, unless the environment's COLUMNS says otherwise."""


def text_of(blocks: Sequence[str | Table]) -> str:
    """Return the blocks one below the other, an empty line between them, no wider than the terminal."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((USUAL, 24)).columns
    console = Console(file=sys.stdout, force_terminal=terminal, color_system="auto" if terminal else None, width=width)
    texts = []
    for block in blocks:
        tables = parts(block, width) if isinstance(block, Table) and block.header else [block]
        for one in tables:
            with console.capture() as captured:
                console.print(_rich(one) if isinstance(one, Table) else _text(wrapped(one, width)))
            texts.append("\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n"))
    return "\n\n".join(texts)


def _text(block: str) -> Text:
    return Text("\n".join(map(printable, block.split("\n"))))


def _rich(table: Table) -> RichTable:
    if not table.header:
        grid = RichTable.grid(padding=(0, 2))
        for _ in table.rows[:1] and table.rows[0]:
            grid.add_column(overflow="fold")
        for row in table.rows:
            grid.add_row(*map(_text, row))
        return grid
    columns = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, name in enumerate(table.header):
        columns.add_column(Text(name), justify="left" if i == 0 else "right", overflow="fold")
    for row in table.rows:
        columns.add_row(*map(_text, row))
    return columns

"""Sentences and tables as text: rich's on a terminal, plain where the output is a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..errors import printable
from .blocks import Table

WIDE = 10_000
"""Columns that a file or a pipe has: nothing is ever wrapped there."""


def text_of(blocks: Sequence[str | Table]) -> str:
    """Return the blocks one below the other, an empty line between them."""
    terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        force_terminal=terminal,
        color_system="auto" if terminal else None,
        width=None if terminal else WIDE,
    )
    texts = []
    for block in blocks:
        with console.capture() as captured:
            console.print(_rich(block) if isinstance(block, Table) else _text(block))
        texts.append("\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n"))
    return "\n\n".join(texts)


def _text(block: str) -> Text:
    return Text("\n".join(map(printable, block.split("\n"))))


def _rich(table: Table) -> RichTable:
    if not table.header:
        grid = RichTable.grid(padding=(0, 2))
        for row in table.rows:
            grid.add_row(*map(_text, row))
        return grid
    columns = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, name in enumerate(table.header):
        columns.add_column(Text(name), justify="left" if i == 0 else "right", overflow="fold")
    for row in table.rows:
        columns.add_row(*map(_text, row))
    return columns

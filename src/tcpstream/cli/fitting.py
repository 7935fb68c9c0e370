"""Tables and sentences that fit a width: headers wrapped at words, tables in parts one below the other."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from .blocks import Table

GAP = 3
"""Columns between two columns of a table with a header."""

LINES = (1, 2, 3, 4)
"""Lines that a header may take."""

_LABEL = re.compile(r" *\S+ {2,}")
"""What a line begins with whose text has a column of its own."""


def wrapped(text: str, width: int) -> str:
    """Return a text whose lines are broken at words; a word that is longer than the width stays whole."""
    return "\n".join(_line(line, width) for line in text.split("\n"))


def _line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    label = _LABEL.match(line)
    first = label[0] if label else " " * (len(line) - len(line.lstrip(" ")))
    below = " " * len(first) if label or not first else f"{first}  "
    return textwrap.fill(
        line[len(first) :],
        max(width, len(below) + 1),
        initial_indent=first,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
    )


def parts(table: Table, width: int) -> list[Table]:
    """Return a table with a header as one or more that fit a width.

    Where the table is too wide even with headers of four lines, its columns go into several tables, each with the
    first column; or with numbers of the rows where the first column does not tell them apart.
    """
    for lines in LINES:
        widths = [_width(table, i, lines) for i in range(len(table.header))]
        if _total(widths) <= width:
            return [Table(table.rows, _headers(table, widths))]
    names = [row[0] for row in table.rows]
    if len(set(names)) < len(names):
        rows = [(str(number), *row) for number, row in enumerate(table.rows, 1)]
        table, widths = Table(rows, ("row", *table.header)), [max(3, len(str(len(rows)))), *widths]
    header = _headers(table, widths)
    return [
        Table([[row[i] for i in columns] for row in table.rows], [header[i] for i in columns])
        for columns in _groups(widths, width)
    ]


def _groups(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return which columns go into each part: the first, and as many others as there is room for, but at least one."""
    groups = [[0, 1]]
    for i in range(2, len(widths)):
        if _total([widths[column] for column in (*groups[-1], i)]) <= width:
            groups[-1].append(i)
        else:
            groups.append([0, i])
    return groups


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _width(table: Table, column: int, lines: int) -> int:
    """Return the least width of a column whose header takes so many lines at most."""
    header = table.header[column]
    least = max([len(word) for word in header.split()] + [len(row[column]) for row in table.rows] + [1])
    return next(
        (one for one in range(least, len(header)) if len(textwrap.wrap(header, one)) <= lines), max(least, len(header))
    )


def _headers(table: Table, widths: Sequence[int]) -> list[str]:
    return ["\n".join(textwrap.wrap(name, width, break_on_hyphens=False)) for name, width in zip(table.header, widths)]

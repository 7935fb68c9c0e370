"""Values as tables of HTML, which notebooks show instead of a repr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TypeAlias

Rows: TypeAlias = Iterable[tuple[str, str]]


def html_table(title: str, sections: Mapping[str, Rows]) -> str:
    """Return a table of names and values.

    Parameters
    ----------
    title : str
        Above the table.
    sections : mapping of str to pairs of str
        What stands below each heading; an empty heading is left out.

    Returns
    -------
    str
        HTML; characters that mean something in it are escaped.
    """
    lines = [f"<table><caption>{escape(title)}</caption>"]
    for heading, rows in sections.items():
        if heading:
            lines.append(f'<tr><th colspan="2" style="text-align: left">{escape(heading)}</th></tr>')
        for name, value in rows:
            lines.append(
                f'<tr><td style="text-align: left">{escape(name)}</td>'
                f'<td style="text-align: left">{escape(value)}</td></tr>'
            )
    return "\n".join([*lines, "</table>"])


def said(value: float | int | str | None, unit: str = "") -> str:
    """Return a value with its unit, or "none"."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else f"{value:.6g}"
    return f"{text} {unit}" if unit and unit != "1" else text

"""What an answer for people is made of, beside sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of cells for people; without a header the first column names the second."""

    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()

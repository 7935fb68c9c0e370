"""What a command answers, and how it is written: JSON for programs, sentences and tables for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..system.json_numbers import finite
from .blocks import Table
from .streams import say


@dataclass(frozen=True)
class Report:
    """An answer: `data` for JSON, `blocks` for people; `warnings`, `notes` and, unless empty, `reason` go to stderr."""

    data: dict[str, Any]
    blocks: Sequence[str | Table]
    as_json: bool
    warnings: Sequence[str] = ()
    status: int = 0
    reason: str = field(default="")
    notes: Sequence[str] = ()

    def write(self) -> None:
        """Print to stdout and stderr."""
        for text in self.warnings:
            say(f"warning: {text}")
        for text in self.notes:
            say(f"note: {text}")
        if self.reason:
            say(self.reason)
        if self.as_json:
            print(
                json.dumps(finite(self.data | {"warnings": [*self.warnings, *self.notes]}), indent=2, allow_nan=False)
            )
        elif self.blocks:
            from .rendering import text_of  # loads rich

            print(text_of(self.blocks))

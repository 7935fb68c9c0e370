"""Compare two recorded results: ``python -m benchmarks.history OLD NEW``, by file or by commit."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Print the ratio of times, row by row; without arguments list what is recorded."""
    recorded = sorted(RESULTS.glob("*.json"))
    console = Console(highlight=False)
    if len(sys.argv) != 3:
        console.print("\n".join(["usage: python -m benchmarks.history OLD NEW", *(file.stem for file in recorded)]))
        return 2
    old, new = (load(name, recorded) for name in sys.argv[1:])
    if old["machine"] != new["machine"]:
        console.print("different machines: only the ratios to the peers can be compared")
    console.print(table(old, new))
    return 0


def load(name: str, recorded: list[Path]) -> dict[str, Any]:
    """Return the results in a file, or the last recorded ones whose name contains the text."""
    file = Path(name)
    if not file.is_file():
        matching = [one for one in recorded if name in one.stem]
        if not matching:
            sys.exit(f"no recorded result is called {name}: {', '.join(one.stem for one in recorded) or 'none is'}")
        file = matching[-1]
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def table(old: dict[str, Any], new: dict[str, Any]) -> Table:
    """Return the rows that both have, with new over old."""
    result = Table("case", "method", *(one["versions"]["commit"] for one in (old, new)), "new / old", box=None)
    before = {(row["case"], row["method"]): row for row in old["rows"] if row.get("seconds")}
    for row in new["rows"]:
        other = before.get((row["case"], row["method"]))
        if other and row.get("seconds"):
            was, now = median(other["seconds"]), median(row["seconds"])
            result.add_row(row["case"], row["method"], f"{was:.4g} s", f"{now:.4g} s", f"{now / was:.2f}")
    return result


if __name__ == "__main__":
    sys.exit(main())

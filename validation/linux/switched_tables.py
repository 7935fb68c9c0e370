"""The model beside the kernel's TCP over paths whose bottleneck changes.

``python validation/linux/switched_tables.py [FOLDER]`` solves what is not solved yet, that of captures from FOLDER,
where `switched_runs.py` has written them, and prints the tables of docs/varying.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from switched import judged


def sessions() -> None:
    """Print how the probabilities of a stall compare, by the true regimes and by those fitted to one trace."""
    points = judged.points()
    print("| regimes | points | within 1.5 | within 2 | within 2, or in the interval |")
    print("|---|---|---|---|---|")
    for name in ("true", "fitted"):
        off = np.array([abs(np.log(max(one[name], 1e-300) / one["measured"])) for one in points])
        inside = np.array([one["low"] <= one[name] <= one["high"] for one in points])
        shares = [np.mean(off <= np.log(1.5)), np.mean(off <= np.log(2)), np.mean((off <= np.log(2)) | inside)]
        print(f"| {name} | {len(points)} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")


def captures(folder: Path | None) -> None:
    """Print how often the 90% intervals hold the delay that the next ten minutes needed."""
    found = [one for one in judged.captures(folder) if not one["disturbed"] and one["needed"] is not None]
    print("| path | captures | with an answer | 90% interval holds it | below | above | median of its upper end [s] |")
    print("|---|---|---|---|---|---|---|")
    for name in ("varying", "constant"):
        known = [one for one in found if one[name] is not None]
        low, _, high = np.array([one[name] for one in known]).T
        needed = np.array([one["needed"] for one in known])
        held = (low <= needed) & (needed <= high)
        print(
            f"| {name} | {len(found)} | {len(known)} | {held.mean():.0%} | {(needed < low).sum()} | "
            f"{(needed > high).sum()} | {np.median(high):.3g} |"
        )


def main() -> None:
    """Print the tables in Markdown."""
    sessions()
    captures(Path(sys.argv[1]) if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()

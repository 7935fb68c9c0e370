"""What Hessler and Welzl print of RealPlayer, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..paper.claim import Claim
from .measured import Seen

SENT = 8301.8, 13977.9
"""Table 2: kB of RealPlayer and of a download, without cross traffic."""

OVER_NONE = {"little": (5669.3, 0.15), "medium": (3965.2, 0.15), "heavy": (4291.8, 0.15), "burst": (8372.1, 0.05)}
"""Table 2: kB of RealPlayer, and how near ours have to be, over those without cross traffic."""

UNDER = ("little", "medium", "heavy")


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield bytes that are sent (Table 2), and what Section 3.1 says."""
    alone = seen.of("ftp none", "sent").mean
    share = seen.of("real none", lambda run: run["sent"] / alone)
    yield _near("bytes-none", "Bytes of RealPlayer over those of a download", share, SENT[0] / SENT[1], 0.05, "R")
    without = seen.of("real none", "sent").mean
    for cross, (kilobytes, off) in OVER_NONE.items():
        share = seen.of(f"real {cross}", lambda run: run["sent"] / without)
        says = f"Bytes of RealPlayer under {cross} cross traffic, over those without"
        yield _near(f"bytes-{cross}", says, share, kilobytes / SENT[0], off)
    yield from _text(seen)


def _text(seen: Seen) -> Iterator[Claim]:
    first = seen.of("real none", "first")
    yield _claim(
        "fast", "Rate at first without cross traffic", f"{first} kB/s", abs(first.mean - 90) <= 4.5, "R",
        "90 kB/s", "5%",
    )  # fmt: skip
    jump = seen.of("real medium", lambda run: run["after"] / run["before"])
    yield _claim(
        "increases", "Medium: sends more in the first 5 s of cross traffic than in 5 s before",
        f"{jump} times as much", jump.mean > 1, authors="it increased", within="above 1",
    )  # fmt: skip
    rises = [run["rises"] for run in seen.runs("real little") if run["rises"] is not None]
    found = float(np.median(rises)) if rises else float("nan")
    told = f"{found:.3g} s, median of {len(rises)} of {len(seen.runs('real little'))} runs"
    yield _claim(
        "rises", "A higher level so long after little cross traffic", told, 15 <= found <= 25, "R",
        "about 20 s", "15 to 25 s",
    )  # fmt: skip
    for cross, most, authors in (("little", 0.75, "nowhere near its original rate"), ("medium", 0.05, "zero")):
        last = seen.of(f"real {cross}", lambda run: run["last"] / run["first"])
        yield _claim(
            f"last-{cross}", f"Rate from 96 to 106 s over that at first, {cross} cross traffic", f"{last}",
            last.mean < most, authors=authors, within=f"below {most:g}",
        )  # fmt: skip
    sizes = {cross: seen.of(f"real {cross}", _packets).mean for cross in UNDER}
    told = ", ".join(f"{sizes[cross]:.0f} bytes" for cross in UNDER)
    at_first = seen.of("real medium", "packets_first")
    yield _claim(
        "packets", "Mean size of packets before medium cross traffic and in its last 20 s",
        f"{at_first.mean:.0f} and {sizes['medium']:.0f} bytes", sizes["medium"] < 500 < at_first.mean, "R",
        "1200, less than 500 bytes", "below 500 bytes",
    )  # fmt: skip
    ordered = sizes["little"] >= sizes["medium"] >= sizes["heavy"]
    yield _claim(
        "packets-order", "It falls from little to heavy cross traffic", told, ordered, authors="it does", within="exact"
    )


def _packets(run: dict[str, float | None]) -> float:
    value = run["packets_under"]
    return np.nan if value is None else value


def _near(
    key: str, says: str, share: tuple[float, float, float], authors: float, off: float, basis: str = "T"
) -> Claim:
    low, high = authors * (1 - off), authors * (1 + off)
    return Claim(
        f"real-{key}", "Table 2", says, f"{share}", low <= share[0] <= high, basis, f"{authors:.3f}",
        f"{low:.3f} to {high:.3f}",
    )  # fmt: skip


def _claim(
    key: str, says: str, found: str, holds: bool, basis: str = "T", authors: str = "", within: str = ""
) -> Claim:
    return Claim(f"real-{key}", "3.1", says, found, bool(holds), basis, authors, within)

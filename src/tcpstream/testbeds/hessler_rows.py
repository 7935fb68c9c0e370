"""What Hessler and Welzl print, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator

from ..paper.claim import Claim
from .seen import Seen

FTP = {
    "little": (0.746, 0.724, 0.768),
    "medium": (0.577, 0.560, 0.594),
    "heavy": (0.452, 0.39, 0.52),
    "burst": (0.990, 0.985, 0.995),
}
"""Table 2: bytes of the download over those without cross traffic, and the ends of what holds."""


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield the rows of Table 2, and what the text says."""
    alone = seen.of("ftp none", "sent").mean
    for cross, (authors, low, high) in FTP.items():
        ours = seen.of(f"ftp {cross}", lambda run: run["sent"] / alone)
        yield Claim(
            f"ftp-{cross}", "3", f"Bytes of a download under {cross} cross traffic, over those without",
            f"{ours}", low <= ours.mean <= high, "T", f"{authors:g}", f"{low:g} to {high:g}",
        )  # fmt: skip

"""What Hessler and Welzl print, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..paper.claim import Claim
from .hessler_real_rows import rows as of_real
from .measured import Measured, Seen

BYTES = {"little": (0.746, 0.03), "medium": (0.577, 0.12), "burst": (0.990, 0.005)}
"""Table 2: bytes of the download over those without cross traffic, and how near ours have to be."""

HEAVY = 0.452, 0.39, 0.52
"""The same under heavy cross traffic, and from where to where ours may be."""


class Loss(NamedTuple):
    """A share of bytes that are lost [%] (Table 2), the ends of what holds, and the basis."""

    sender: str
    cross: str
    authors: float
    low: float
    high: float
    basis: str = "T"


FACTOR = 1.5

LOSSES = (
    Loss("ftp", "none", 0, 0, 0),
    Loss("ftp", "little", 0, 0, 0),
    Loss("ftp", "medium", 0, 0, 0),
    Loss("ftp", "burst", 0, 0, 0),
    Loss("ftp", "heavy", 0.17, 0, 1),
    *(Loss("wmp", *one, one[1] / FACTOR, one[1] * FACTOR) for one in (("little", 7.37), ("medium", 17.91))),
    Loss("wmp", "heavy", 47.26, 47.26 / FACTOR, 47.26 * FACTOR, "R"),
    *(
        Loss("real", *one, one[1] / FACTOR, one[1] * FACTOR)
        for one in (("little", 2.17), ("medium", 13.88), ("heavy", 26.37))
    ),
    Loss("real", "burst", 0, 0, 0.5),
    Loss("quicktime", "little", 0, 0, 0.5),
    Loss("quicktime", "medium", 0.22, 0, 1, "R"),
    Loss("quicktime", "heavy", 5.76, 3, 9, "R"),
)

NAMES = {"ftp": "a download", "real": "RealPlayer", "wmp": "Windows Media Player", "quicktime": "QuickTime"}

PLAYERS = ("quicktime", "real", "wmp")
"""By their losses, the smallest first."""

UNDER_TRAFFIC = ("little", "medium", "heavy")

BESIDE = {
    "none": "without cross traffic",
    "little": "under little cross traffic",
    "medium": "under medium cross traffic",
    "heavy": "under heavy cross traffic",
    "burst": "under a burst of cross traffic",
}


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield the rows of Table 2, and what the text says."""
    yield from _bytes(seen)
    for one in LOSSES:
        ours = _percent(seen, one.sender, one.cross)
        yield Claim(
            f"{one.sender}-loss-{one.cross}", "Table 2",
            f"Bytes of {NAMES[one.sender]} that are lost {BESIDE[one.cross]}", f"{ours} %",
            one.low <= ours.mean <= one.high, one.basis, f"{one.authors:g} %", f"{one.low:.3g} to {one.high:.3g} %",
        )  # fmt: skip
    yield from of_real(seen)
    yield from _order(seen)


def _bytes(seen: Seen) -> Iterator[Claim]:
    alone = seen.of("ftp none", "sent").mean
    ranges = {cross: (one, one * (1 - off), one * (1 + off)) for cross, (one, off) in BYTES.items()}
    for cross, (authors, low, high) in (ranges | {"heavy": HEAVY}).items():
        ours = seen.of(f"ftp {cross}", lambda run: run["sent"] / alone)
        yield Claim(
            f"ftp-bytes-{cross}", "Table 2",
            f"Bytes of a download {BESIDE[cross]}, over those without", f"{ours}",
            low <= ours.mean <= high, "T", f"{authors:g}", f"{low:.3g} to {high:.3g}",
        )  # fmt: skip


def _order(seen: Seen) -> Iterator[Claim]:
    for cross in UNDER_TRAFFIC:
        lost = [_percent(seen, player, cross).mean for player in PLAYERS]
        yield Claim(
            f"order-{cross}", "4",
            f"QuickTime loses less than RealPlayer, and this less than Windows Media Player, {BESIDE[cross]}",
            ", ".join(f"{NAMES[player]} {value:.3g} %" for player, value in zip(PLAYERS, lost)),
            lost[0] < lost[1] < lost[2],
        )  # fmt: skip
    below = {
        f"{player} {cross}": seen.of(f"{player} {cross}", "sent").mean / seen.of(f"ftp {cross}", "sent").mean
        for player in PLAYERS
        for cross in ("none", *UNDER_TRAFFIC, "burst")
    }
    most = max(below, key=lambda name: below[name])
    yield Claim(
        "below-the-download", "4", "No player sends more than a download under the same cross traffic",
        f"at most {below[most]:.3g} of it ({most})", all(value < 1 for value in below.values()),
    )  # fmt: skip


def _percent(seen: Seen, sender: str, cross: str) -> Measured:
    return Measured(*(100 * value for value in seen.of(f"{sender} {cross}", "lost")))

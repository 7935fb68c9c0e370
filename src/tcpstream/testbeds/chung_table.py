"""Table 1 of Chung, Claypool and Zhu: clips over UDP that are not friendly to TCP, by several measures of TCP."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import unremarked
from ..tcp import formulas
from .chung_measures import PACKET, path_of
from .measured import Seen

FAIR = {"75": 37.5, "150": 75.0, "300": 150.0}
"""Half of the token rate, the fair share of two flows [kbit/s]."""

MEASURES = ("mathis", "pftk", "tfrc", "chain")
"""What TCP would get with the ping's losses and round trips: the first one is Equation 1, the last one the chain."""


class Row(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    clips, unfriendly, above, below : int
        Of all clips, those not friendly, with all levels above the fair share, and all below.
    able, effective : int
        Clips with levels on both sides, and those of them that are not friendly.
    """

    clips: int
    unfriendly: int
    above: int
    below: int
    able: int
    effective: int

    @property
    def effective_percent(self) -> float:
        """Those that are not friendly, of those with levels on both sides [%]."""
        return 100 * self.effective / self.able if self.able else float("nan")


THEIRS = {
    "75": Row(110, 8, 22, 30, 58, 8),
    "150": Row(110, 7, 12, 42, 56, 5),
    "300": Row(110, 9, 12, 48, 50, 7),
}
"""As printed."""

TOTAL = {
    "75": (8, 110, 7), "150": (7, 110, 6), "300": (9, 110, 8), "all": (24, 330, 7),
    "75 effective": (8, 58, 14), "150 effective": (5, 56, 9), "300 effective": (7, 50, 14),
}  # fmt: skip
"""Counts, of how many, and the percentages as printed; but for the effective ones of all."""


def row(seen: Seen, rate: str, measure: str = "mathis") -> Row:
    """Return a row of the table from the runs of a token rate."""
    fair, runs = FAIR[rate], seen.runs(rate)
    above, below = [run["least"] > fair for run in runs], [run["most"] < fair for run in runs]
    unfriendly = [not friendly(run, measure) for run in runs]
    able = [not (over or under) for over, under in zip(above, below)]
    effective = sum(bad and can for bad, can in zip(unfriendly, able))
    return Row(len(runs), sum(unfriendly), sum(above), sum(below), sum(able), effective)


def friendly(run: dict[str, Any], measure: str) -> bool:
    """Return whether a clip got no more over UDP than TCP would get; it is so where the ping saw no loss."""
    with unremarked():
        path = path_of(run["p"], run["rtt"])
    if path is None:
        return True
    most = run["chain"] if measure == "chain" else 8e-3 * PACKET * getattr(formulas, measure)(path)
    return bool(run["udp"] <= most)

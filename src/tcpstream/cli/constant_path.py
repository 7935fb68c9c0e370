"""What is told of how constant the path of a capture was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .blocks import Table

if TYPE_CHECKING:
    from ..answers.constancy import Constancy, Dispersion
    from ..traces.busy_link import BusyLink

_HEAD = ("throughput over", "windows", "dispersion ratio", "95% interval")


def blocks(found: Constancy) -> list[str | Table]:
    """Return the dispersion ratios as a table and the drift in a sentence; why they are not known, if they are not."""
    if found.reason:
        return [f"How constant the path was is not known: {found.reason}"]
    rows = [(f"{one.window} s", f"{one.windows}", *_cells(one)) for one in found.dispersion]
    return [Table(rows, _HEAD), *_drift(found)]


def varied(found: Constancy | None, link: BusyLink | None) -> list[str]:
    """Return the warning that a path was not constant; none where that is not clear."""
    why = _reason(found, link)
    if not why:
        return []
    wider = (
        f", and the interval of the loss rate is {found.widening:.2g} times as wide as on a constant path"
        if found is not None and found.widening > 1
        else ""
    )
    return [
        f"the path was not constant: {why}, so a wait computed for a constant path is likely to be too short{wider}; "
        "tcpstream fit finds regimes for --regimes (docs/varying.md)"
    ]


def _reason(found: Constancy | None, link: BusyLink | None) -> str:
    """Return why a path was not constant, as a clause; empty where it may have been."""
    if link is not None and link.varied:
        return link.sentence()
    one = found.varied if found is not None else None
    if one is None or one.ratio is None:
        return ""
    ratio = one.ratio
    return (
        f"over windows of {one.window} s the variance of its throughput was {ratio.value:.3g} times that of a constant "
        f"path (95% interval {ratio.low:.3g} to {ratio.high:.3g})"
    )


def _cells(one: Dispersion) -> tuple[str, str]:
    if one.ratio is None:
        return "not known", one.reason
    return f"{one.ratio.value:.3g}", f"{one.ratio.low:.3g} to {one.ratio.high:.3g}"


def _drift(found: Constancy) -> list[str]:
    """Return whether the throughput has a trend."""
    drift = found.drift
    if drift is None:
        return []
    trend = "no trend" if drift.low <= 0 <= drift.high else "a trend"
    return [
        f"Drift: {drift.value:+.0%} of the mean throughput from beginning to end, 95% interval {drift.low:+.0%} to "
        f"{drift.high:+.0%}: {trend}."
    ]

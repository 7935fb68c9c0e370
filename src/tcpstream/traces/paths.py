"""From estimates to paths: at the values measured, and at the ends of their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError, unremarked, whole
from ..path import ROUND_TRIPS, Path
from ..sender import sender_of
from ..variants import VARIANTS
from .intervals import Measured

if TYPE_CHECKING:
    from .result import PathEstimate


def path_of(found: PathEstimate, given: dict[str, Any]) -> Path:
    """Return the path as measured and proposed; what is `given` replaces both."""
    if found.loss_event_rate.value == 0 and "loss" not in given:
        raise InputError(
            f"no loss was seen in {found.packets} packets, which only says that the loss rate is below "
            f"{3 / found.packets:.2g} (95% bound): give a loss rate"
        )
    if found.loss_event_rate.value == 1 and "loss" not in given:
        raise InputError(
            f"every packet of {found.packets} that was sent while nothing was missing was lost: no loss rate shows: "
            "give a loss rate"
        )
    chosen = _chosen(found, given)
    with unremarked():
        return Path(**{name: one.value for name, one in _measured(found, chosen).items()} | chosen)


def ends_of(found: PathEstimate, given: dict[str, Any]) -> tuple[Path | None, Path]:
    """Return the best path, with the lower ends of the intervals, and the worst, with the upper ones."""
    path_of(found, given)  # refuses what it refuses
    chosen = _chosen(found, given)
    measured = _measured(found, chosen)
    low = {name: one.low for name, one in measured.items()} | chosen
    high = {name: one.high for name, one in measured.items()} | chosen
    if "rto" in measured:
        low["rto"] = max(low["rto"], low["rtt"])  # a timer is at least a round trip
    with unremarked():
        return Path(**low) if low["rtt"] >= ROUND_TRIPS[0] else None, Path(**high)


def _chosen(found: PathEstimate, given: dict[str, Any]) -> dict[str, Any]:
    """Return what is proposed and what is given; the proposed initial window is at most the given largest one."""
    proposal = found.proposal
    chosen = proposal.beside(given)
    window = proposal.initial_window
    if "initial_window" in given or window is None:
        return chosen
    if (largest := given.get("max_window")) is not None:
        window = min(window, whole("largest window", largest, unit="packets"))
    return chosen | {"initial_window": window}


def _measured(found: PathEstimate, chosen: dict[str, Any]) -> dict[str, Measured]:
    """Return the parameters of a path that are not chosen; p is of loss events where losses come in bursts."""
    given = {"tcp": chosen["tcp"]} if "tcp" in chosen else {}
    tcp = VARIANTS[sender_of(chosen.get("sender", "classic"), chosen.get("losses"), given).tcp]
    measured = {"loss": found.loss_event_rate if tcp.counts_events else found.loss, "rtt": found.rtt}
    if "timeout_ratio" not in chosen:
        measured["rto"] = found.rto
    return {name: one for name, one in measured.items() if name not in chosen}

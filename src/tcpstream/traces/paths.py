"""From estimates to paths: at the values measured, and at the ends of their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, unremarked, whole
from ..path import ROUND_TRIPS, Path
from ..sender import sender_of
from ..variants import VARIANTS
from .intervals import Measured
from .proposal import Proposal


@dataclass(frozen=True)
class MeasuredPath:
    """What a path is made of.

    Attributes
    ----------
    loss, loss_event_rate : Measured
    rtt, rto : Measured
        [s].
    packets : int
        Data packets sent.
    proposal : Proposal
    """

    loss: Measured
    loss_event_rate: Measured
    rtt: Measured
    rto: Measured
    packets: int
    proposal: Proposal

    def path(self, given: dict[str, Any]) -> Path:
        """Return the path as measured and proposed; what is `given` replaces both."""
        if self.loss_event_rate.value == 0 and "loss" not in given:
            raise InputError(
                f"no loss was seen in {self.packets} packets, which only says that the loss rate is below "
                f"{3 / self.packets:.2g} (95% bound): give a loss rate"
            )
        if self.loss_event_rate.value == 1 and "loss" not in given:
            raise InputError(
                f"every packet of {self.packets} that was sent while nothing was missing was lost: no loss rate "
                "shows: give a loss rate"
            )
        chosen = self._chosen(given)
        with unremarked():
            return Path(**{name: one.value for name, one in self._measured(chosen).items()} | chosen)

    def ends(self, given: dict[str, Any], widening: float = 1.0) -> tuple[Path | None, Path]:
        """Return the best path, with the lower ends of the intervals, and the worst, with the upper ones."""
        self.path(given)  # refuses what it refuses
        chosen = self._chosen(given)
        measured = self._measured(chosen)
        if "loss" in measured and widening != 1:
            measured["loss"] = _wider(measured["loss"], widening)
        low = {name: one.low for name, one in measured.items()} | chosen
        high = {name: one.high for name, one in measured.items()} | chosen
        if "rto" in measured:
            low["rto"] = max(low["rto"], low["rtt"])  # a timer is at least a round trip
        with unremarked():
            return Path(**low) if low["rtt"] >= ROUND_TRIPS[0] else None, Path(**high)

    def _chosen(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what is proposed and what is given; the proposed initial window is at most the given largest one."""
        chosen = self.proposal.beside(given)
        window = self.proposal.initial_window
        if "initial_window" in given or window is None:
            return chosen
        if (largest := given.get("max_window")) is not None:
            window = min(window, whole("largest window", largest, unit="packets"))
        return chosen | {"initial_window": window}

    def _measured(self, chosen: dict[str, Any]) -> dict[str, Measured]:
        """Return the parameters of a path that are not chosen; p is of loss events where losses come in bursts."""
        given = {"tcp": chosen["tcp"]} if "tcp" in chosen else {}
        tcp = VARIANTS[sender_of(chosen["sender"], chosen.get("losses"), given).tcp]
        measured = {"loss": self.loss_event_rate if tcp.counts_events else self.loss, "rtt": self.rtt}
        if "timeout_ratio" not in chosen:
            measured["rto"] = self.rto
        return {name: one for name, one in measured.items() if name not in chosen}


def _wider(p: Measured, widening: float) -> Measured:
    """Return a probability with a wider interval, on the scale of its log-odds."""
    middle = _log_odds(p.value)
    low, high = (middle + widening * (_log_odds(end) - middle) for end in (p.low, p.high))
    return replace(p, low=_probability(low), high=_probability(high))


def _log_odds(p: float) -> float:
    return math.log(p / (1 - p)) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > 0 else math.exp(log_odds) / (1 + math.exp(log_odds))

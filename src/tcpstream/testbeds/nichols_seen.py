"""What a run shows of the player and the download beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sim import Bins, Run, Traffic
from .nichols_cases import Case

BIN = 0.1
"""Width of time bins [s]."""

LAST = 10.0
"""The rate at which a player ends is that of so much time before its last media [s]."""


class Between:
    """What becomes of a flow's bytes between two times [s]."""

    def __init__(self, bins: Bins, begin: float, end: float) -> None:
        self.bins = bins
        self.part = slice(round(begin / BIN), round(end / BIN)) if end > begin else slice(0, 0)
        self.seconds = end - begin

    def rate(self, what: str) -> float:
        """Return bytes that were ``sent`` or ``received`` as a rate [kbit/s]."""
        total = getattr(self.bins, what)[self.part].sum()
        return float(8 * total / 1e3 / self.seconds) if self.seconds > 0 else math.nan

    @property
    def loss(self) -> float:
        """Dropped over sent bytes [%]."""
        sent = self.bins.sent[self.part].sum()
        return float(100 * self.bins.dropped[self.part].sum() / sent) if sent else math.nan

    @property
    def peak(self) -> float:
        """Largest loss of a second [%]."""
        sent, dropped = seconds(self.bins.sent[self.part]), seconds(self.bins.dropped[self.part])
        return float(100 * (dropped / np.maximum(sent, 1)).max(initial=0.0))


def seconds(bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sums over whole seconds."""
    each = round(1 / BIN)
    found: NDArray[np.int64] = bins[: len(bins) // each * each].reshape(-1, each).sum(axis=1)
    return found


def figures(run: Run, case: Case) -> dict[str, Any]:
    """Return what a run shows.

    Rates are in kbit/s, times in s, losses, dropped over sent bytes, in %; rounded, so that recorded studies are small.
    ``length``, ``offered``, ``got``, ``loss`` and ``peak`` (largest in a second) are the player's until its buffer is
    full, ``tcp`` and ``tcp_peak`` the download's; ``after`` to ``tcp_after`` are from then on to the last
    media; ``final`` is what the player receives in the last 10 s of these, ``most`` the largest loss in a second of the
    whole run, ``less`` when the player settles on less, since its first media.
    """
    tcp, player = run.traffic
    assert tcp.bins is not None
    assert player.bins is not None
    begin, full, end, less = (_when(player, name) for name in ("plays", "full", "end", "less"))
    media = Between(player.bins, begin, full), Between(player.bins, full, end)
    beside = Between(tcp.bins, begin, full), Between(tcp.bins, full, end)
    found = {
        "chosen": case.rates[int(player.noted("level")[1][0])],
        "length": full - begin,
        "offered": media[0].rate("sent"),
        "got": media[0].rate("received"),
        "loss": media[0].loss,
        "peak": media[0].peak,
        "tcp": beside[0].rate("received"),
        "tcp_peak": beside[0].peak,
        "after": media[1].rate("received"),
        "after_loss": media[1].loss,
        "after_length": end - full,
        "tcp_after": beside[1].rate("received"),
        "final": Between(player.bins, end - LAST, end).rate("received"),
        "most": Between(player.bins, begin, end).peak,
        "less": less - begin,
    }
    return {name: _short(value) for name, value in found.items()}


def _when(traffic: Traffic, name: str) -> float:
    times, _ = traffic.noted(name)
    return float(times[0]) if len(times) else math.nan


def _short(value: float) -> float:
    """Return a number with three digits."""
    if math.isnan(value):
        return value
    found = float(f"{value:.3g}")
    return int(found) if found.is_integer() else found

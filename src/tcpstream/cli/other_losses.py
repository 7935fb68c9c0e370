"""The startup delay with losses in bursts, beside that for independent losses, where nobody said which they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, NoFiniteDelayError, unremarked
from ..path import Path
from ..system.watch import time_limit
from .inputs import CHOSEN, MEASURED
from .words import wait

if TYPE_CHECKING:
    from ..tcp import Varying

SAID = ("sender", "tcp", "losses", "capture", "regimes", "throughput", "bottleneck")
"""Options that say how packets are lost, or measure it."""

FACTOR = 1.5
"""Between two startup delays that are both worth showing."""

NOTICED = 0.1
"""Difference that a viewer notices [s]."""

LIMIT = 10.0
"""Seconds that may be spent on it."""

KEY = "required_startup_delay_with_losses_in_bursts_s"


IF = "With losses in bursts, each of which takes the rest of its round along,"


def in_bursts(
    options: dict[str, Any], needed: Callable[[Path | Varying], float], tau: float
) -> tuple[dict[str, Any], list[str]]:
    """Return the startup delay with losses in bursts, for JSON and as a sentence; nothing where it is much the same.

    Parameters
    ----------
    options : dict
        Of the command.
    needed : callable
        Startup delay of a path [s].
    tau : float
        That with independent losses [s]; infinite where none is enough.
    """
    if any(options[name] is not None for name in SAID):
        return {}, []
    given = {name: options[name] for name in (*MEASURED, *CHOSEN) if options[name] is not None}
    try:
        with unremarked(), time_limit(LIMIT):  # remarked of the path itself
            other = needed(Path(**given, losses="bursts"))
    except NoFiniteDelayError:
        other = math.inf
    except AccuracyError:
        return {}, [f"{IF} the wait may be longer: ask with --losses bursts."]
    low, high = sorted((tau, other))
    if high <= FACTOR * low or high - low < NOTICED:
        return {}, []
    told = "no wait is long enough" if math.isinf(other) else f"wait {wait(other)}"
    return {KEY: None if math.isinf(other) else other}, [f"{IF} {told}: see --losses bursts."]

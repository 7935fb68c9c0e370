"""The startup delay with losses in bursts, beside that for independent losses, where nobody said which they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, NoFiniteDelayError, unremarked
from ..path import Path
from ..system.threads import cores
from ..system.watch import unseen, watching
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

LIMIT, BESIDE = 10.0, 60.0
"""Seconds that may be spent on it once the other losses are known, and beside them."""

KEY = "required_startup_delay_with_losses_in_bursts_s"

IF = "With losses in bursts, each of which takes the rest of its round along,"


def begun(options: dict[str, Any], needed: Callable[[Path | Varying], float]) -> Callable[[], float] | None:
    """Begin to find the startup delay with losses in bursts, beside all else where there is a core for it.

    Parameters
    ----------
    options : dict
        Of the command.
    needed : callable
        Startup delay of a path [s].

    Returns
    -------
    callable or None
        Gives that delay once it is there, infinite where none is enough; None where somebody said how packets are lost.
    """
    if any(options[name] is not None for name in SAID):
        return None
    given = {name: options[name] for name in (*MEASURED, *CHOSEN) if options[name] is not None}

    def other(limit: float = LIMIT) -> float:
        try:
            with unremarked(), watching(unseen, limit):  # remarked of the path itself, which has the bar
                return needed(Path(**given, losses="bursts"))
        except NoFiniteDelayError:
            return math.inf

    if cores() < 2:
        return other
    pool = ThreadPoolExecutor(1)
    found = pool.submit(copy_context().run, other, BESIDE)
    pool.shutdown(wait=False)
    return lambda: found.result(LIMIT)


def in_bursts(other: Callable[[], float] | None, tau: float) -> tuple[dict[str, Any], list[str]]:
    """Return the startup delay with losses in bursts, for JSON and as a sentence; nothing where it is much the same.

    Parameters
    ----------
    other : callable or None
        As from `begun`.
    tau : float
        That with independent losses [s]; infinite where none is enough.
    """
    if other is None:
        return {}, []
    try:
        delay = other()
    except (AccuracyError, TimeoutError):
        return {}, [f"{IF} the wait may be longer: ask with --losses bursts."]
    low, high = sorted((tau, delay))
    if high <= FACTOR * low or high - low < NOTICED:
        return {}, []
    told = "no wait is long enough" if math.isinf(delay) else f"wait {wait(delay)}"
    return {KEY: None if math.isinf(delay) else delay}, [f"{IF} {told}: see --losses bursts."]

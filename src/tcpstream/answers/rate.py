"""The inverse question: the largest playback rate that a startup delay allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ..errors import AccuracyError, InputError, positive
from ..numerics.curves import smallest_meeting
from ..numerics.roots import crossing
from ..path import Path
from ..tcp import Varying, throughput
from ..video import Video
from .answer import delay_before, late_target, no_late_target
from .arrivals import Arrivals
from .live import live
from .plan import Plan, is_coarse, is_coarse_live
from .stored import StoredStreaming, stored

LOWEST_LOAD, FIRST_LOAD, HIGHEST_LOAD = 0.01, 0.6, 0.95
"""Live rates are searched between the first and the last of these fractions of the throughput, from the second on."""

TOLERANCE = 5e-4
"""Relative, of live rates."""

APART = 0.01
"""Relative distance of live rates that are tried near what a faster solve finds."""


def largest_rate(
    path: Path | Varying,
    *,
    delay: float,
    duration: float | None = None,
    target: float | None = None,
    no_late: float | None = None,
) -> float:
    """Return the largest playback rate that meets a target after a given startup delay.

    The least T/mu for that delay is ``tcpstream.throughput(path)`` over this rate.

    Parameters
    ----------
    path : Path or Varying
    delay : float
        Startup delay tau [s], 0 to 1e8.
    duration : float, optional
        Length of a stored video [s]; without it the stream is live and endless.
    target : float, optional
        Late fraction allowed, 0 < target < 1; 1e-4 by default.
    no_late : float, optional
        Stored only, instead of `target`: probability wanted that no packet is late.

    Returns
    -------
    float
        mu [packets/s], within 1e-4 (stored) or 1e-3 (live, and for `no_late` on coarse lattices) of itself; never above
        what meets the target, stated errors included.

    Raises
    ------
    InputError
        For values out of range or contradictory.
    AccuracyError
        When the answer lies beyond 0.95 T (live), or a solve fails.

    Warns
    -----
    InputWarning
        For a delay that was probably meant in milliseconds, as `StoredStreaming.late_fraction`.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> round(tcpstream.largest_rate(path, delay=2, duration=4), 1)  # packets/s
    17.1
    """
    if duration is not None:
        duration = positive("duration", duration, "s")
    tau = delay_before(delay, duration)
    if target is not None and no_late is not None:
        raise InputError("give a late fraction or a probability of no late packet as the target, not both")
    wanted = late_target(target) if no_late is None else no_late_target(no_late)
    if duration is None:
        if no_late is not None:
            raise InputError("a probability that no packet is late is for stored video: give its duration")
        return _live(path, tau, wanted)
    return _stored(path, tau, duration, wanted, no_late is not None)


def _stored(path: Path | Varying, tau: float, duration: float, wanted: float, no_late: bool) -> float:
    """One transient pass serves every rate below the highest tried; only alpha needs a pass of its own."""

    def case(rate: float) -> tuple[Path | Varying, Video]:
        return path, Video(packet_rate=rate, duration=duration)

    def missed(result: StoredStreaming) -> float:
        worst, allowed = (result.stalled_at_worst, 1 - wanted) if no_late else (result.late_at_worst, wanted)
        return math.log(max(worst(tau), 1e-300) / allowed)

    def gap(accuracy: str | None) -> Callable[[float], float]:
        return cache(lambda rate: missed(stored(*case(rate), accuracy=accuracy)))

    def coarse(rate: float) -> bool:
        return is_coarse([case(rate)], None, None)

    T = throughput(path)
    high, most = T * (1 + tau / duration) * 1.1, path.max_window / path.rtt * (2 + tau / duration)
    at = gap("fast" if coarse(high) else None)
    while at(high) <= 0:
        high *= 2
        if high > most:
            raise AccuracyError(f"no rate up to {high:g} packets/s misses the target: nothing limits it")
    if not no_late:
        solved = _of_one_transient(case, high, coarse(high))
        return _largest(lambda rate: missed(solved(rate)) <= 0, high, tau)
    if coarse(high):
        return _near(gap(None), crossing(at, _low(at, high, T, tau), high, APART * T), T, tau)
    return _largest(lambda rate: at(rate) <= 0, high, tau)


def _of_one_transient(
    case: Callable[[float], tuple[Path | Varying, Video]], high: float, coarse: bool
) -> Callable[[float], StoredStreaming]:  # fmt: skip
    """Return what solves every rate up to the highest: the transient of that one serves all."""
    path, _ = case(high)
    if coarse:
        from .coarse_arrivals import shared_arrivals
        from .coarse_stored import CoarseStored

        on_lattices = shared_arrivals([case(high)], None)
        return lambda rate: CoarseStored(*case(rate), "end", on_lattices)
    widest = stored(*case(high))
    shared = Arrivals(path, [widest.timeline], Plan(quantum=widest.quantum))

    def solved(rate: float) -> StoredStreaming:
        result = stored(*case(rate))
        return StoredStreaming(path, result.video, result.horizon, shared)

    return solved


def _low(gap: Callable[[float], float], high: float, T: float, tau: float) -> float:
    """Return a rate below one that misses the target, at which it is met."""
    low = high / 2
    while gap(low) > 0:
        low /= 2
        if low < LOWEST_LOAD * T:
            raise _none(2 * low, tau)
    return low


def _none(rate: float, tau: float) -> AccuracyError:
    return AccuracyError(
        f"no rate of {rate:.3g} packets/s or more meets the target after {tau:g} s: give a longer delay or a larger "
        "target"
    )


def _near(gap: Callable[[float], float], rough: float, T: float, tau: float) -> float:
    """Return the largest rate near a rough one that meets the target; lattices of neighbouring rates differ a little.

    Steps from the rough one double, since what was stated for it counts.
    """
    low = high = rough
    step = APART * rough
    while gap(low) > 0:
        low, high, step = low - step, low, 2 * step
        if low < LOWEST_LOAD * T:
            raise _none(high, tau)
    while gap(high) <= 0:
        low, high, step = high, high + step, 2 * step
    root = crossing(gap, low, high, TOLERANCE * low)
    while gap(root) > 0:
        root *= 1 - TOLERANCE
    return root


def _live(path: Path | Varying, tau: float, wanted: float) -> float:
    T = throughput(path)

    def gap(accuracy: str | None) -> Callable[[float], float]:
        def found(rate: float) -> float:
            f = live(path, Video(packet_rate=rate), accuracy=accuracy).late_at_worst(tau)
            return math.log(max(f, 1e-300) / wanted)

        return cache(found)

    first = FIRST_LOAD * T
    at = gap(None)
    if not is_coarse_live(path, Video(packet_rate=first), None):
        return _below(at, *_around(at, T, tau, first))
    fast = gap("fast")
    rough = crossing(fast, *_around(fast, T, tau, first), APART * first)
    low = high = rough
    while at(low) > 0:
        low, high = low * (1 - APART), low
    while at(high) <= 0:
        low, high = high, min(high * (1 + APART), T)
    return _below(at, low, high)


def _around(gap: Callable[[float], float], T: float, tau: float, first: float) -> tuple[float, float]:
    """Return rates between which the largest is, from a first guess on."""
    low = high = first
    while gap(low) > 0:
        low, high = low / 2, low
        if low < LOWEST_LOAD * T:
            raise _none(high, tau)
    while low == high or gap(high) <= 0:
        low, high = high, (high + T) / 2
        if high > HIGHEST_LOAD * T * (1 + 1e-9):
            raise AccuracyError(
                f"the largest rate lies above {HIGHEST_LOAD:g} of the throughput of {T:.4g} packets/s: give a shorter "
                "delay or a smaller target"
            )
    return low, high


def _below(gap: Callable[[float], float], low: float, high: float) -> float:
    """Return the largest rate between two that meets the target, or one a thousandth below it."""
    root = crossing(gap, low, high, TOLERANCE * low)
    return root if gap(root) <= 0 else root * (1 - 2 * TOLERANCE)


def _largest(meets: Callable[[float], bool], high: float, tau: float) -> float:
    """Bisect for the largest rate below `high` that meets the target."""
    least = 1e-4 * high
    if not meets(least):
        raise _none(least, tau)
    return -smallest_meeting(lambda negative: meets(-negative), -high, -least, 5e-5 * high)

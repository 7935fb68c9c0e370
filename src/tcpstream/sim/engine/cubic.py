"""CUBIC's window (RFC 9438), with the choices of Linux: its clock stands while nothing is under way."""

from __future__ import annotations

from .compiled import inlined
from .records import World

BETA, C = 0.7, 0.4
"""What a loss leaves of a window, and the steepness of the curve [packets/s^3]."""

ALPHA = 3 * (1 - BETA) / (1 + BETA)
"""Packets a round trip that a Reno sender with this BETA adds on average."""

FIRST = 20.0
"""Acknowledged packets for one more in the window, at most, before the first loss (Linux)."""

FASTEST = 2.0
"""The same, at least: half a window more in a round trip."""


@inlined
def cubic_grows(world: World, f: int, newly: int) -> None:
    """Grow a window for packets that are newly acknowledged, in slow start up to its threshold."""
    flow = world.flows[f]
    left = float(newly)
    if flow.slow_start != 0 and flow.cwnd < flow.ssthresh:
        before = flow.cwnd
        flow.cwnd = min(before + left, flow.ssthresh)
        left -= flow.cwnd - before
    if left > 0.0:
        flow.cwnd += left / _needed(world, f, left)


@inlined
def _needed(world: World, f: int, newly: float) -> float:
    """Return how many packets are to be acknowledged for one more in the window."""
    now, flow, control = world.clock[0].now, world.flows[f], world.control[f]
    window = flow.cwnd
    if control.epoch < 0.0:
        control.epoch = now
        control.w_est = window
        control.origin = max(window, control.w_max)
        control.k = ((control.origin - window) / C) ** (1 / 3)
    target = control.origin + C * (now - control.epoch + control.min_rtt - control.k) ** 3
    needed = window / (target - window) if target > window else 100.0 * window
    if control.w_max == 0.0:
        needed = min(needed, FIRST)
    control.w_est += ALPHA * newly / window
    if control.w_est > window:
        needed = min(needed, window / (control.w_est - window))
    return float(max(needed, FASTEST))


@inlined
def cubic_reduced(world: World, f: int) -> float:
    """Return the slow start threshold after a loss, and remember the window: less of it if it had not yet come back."""
    flow, control = world.flows[f], world.control[f]
    window = min(flow.cwnd, flow.window)
    control.epoch = -1.0
    control.w_max = window * (1 + BETA) / 2 if window < control.w_max else window
    return float(max(window * BETA, 2.0))

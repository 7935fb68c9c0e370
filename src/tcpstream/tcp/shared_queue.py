"""The loss rate and the round trip time of flows that share a queue: a fixed point of their chain and their sum."""

from __future__ import annotations

import math
from functools import partial

from ..errors import AccuracyError, unremarked
from ..numerics.roots import crossing
from ..path import LOSSES, Network, Path
from ..sender import Sender
from . import chain_of
from .independent import IndependentChain
from .sawtooth import Sawtooth, windows_of

MOST_LOSS = 0.5
"""Larger loss rates are not tried."""

LARGEST_GUESS = 0.1
"""Of the loss rate: the square-root relation holds for smaller ones."""

RESIDUAL, TRIES = 1e-4, 30
"""Of the fixed point, relative; and round trip times that are tried."""

FIRST_STEP, STEP, FINE = 0.3, 0.03, 1e-5
"""Of the search for ln p, at the first round trip time and later, and its tolerance."""


def fixed_point(link: Network, flows: int, sender: Sender) -> tuple[Path, Sawtooth, float]:
    """Return the path that each of some flows meets, the sum of their windows, and the residual.

    Parameters
    ----------
    link : Network
        Of which bottleneck, buffer and round trip time with an empty queue are taken.
    flows : int
    sender : Sender
        With a chain of independent losses.

    Raises
    ------
    AccuracyError
        Where no loss rate makes the flows fit, and where loss rate and round trip time do not settle.

    Notes
    -----
    R is put in again and again: it lies between what pipe and buffer hold after and before an overflow, and depends
    little on the R before. At each R the flows send less the more they lose, and p is where they fit.
    """
    assert link.bottleneck is not None
    assert link.buffer is not None
    full = link.pipe + link.buffer
    rtt, residual = full / link.bottleneck, math.inf
    log_loss = math.log(min(1.5 * (flows / full) ** 2, LARGEST_GUESS))
    for step in (FIRST_STEP, *(TRIES - 1) * (STEP,)):
        log_loss = _fitting(partial(_excess, link, flows, sender, rtt), log_loss, step)
        path, mean, total = _of(link, flows, sender, rtt, log_loss)
        found = total.round_trip / link.bottleneck
        residual = max(abs(_balance(flows, mean, total)), abs(math.log(found / rtt)))
        if residual < RESIDUAL and total.low > 0:
            return path, total, residual
        rtt = found
    raise AccuracyError(
        f"loss rate and round trip time of {flows} flows do not settle in {TRIES} steps: they still move by "
        f"{residual:.1e} of themselves, not by less than {RESIDUAL:g}"
    )


def _of(link: Network, flows: int, sender: Sender, rtt: float, log_loss: float) -> tuple[Path, float, Sawtooth]:
    """Return a path, the mean window of its chain [packets], and the sum of the windows of all flows."""
    with unremarked():  # p and R are computed, nobody mistyped them
        path = Path(loss=math.exp(log_loss), rtt=rtt, sender=sender)
    chain = chain_of(path)
    assert isinstance(chain, IndependentChain)
    assert link.buffer is not None
    windows = windows_of(chain)
    return path, windows.mean, Sawtooth.of(flows, path.loss, windows, link.pipe, link.buffer)


def _balance(flows: int, mean: float, total: Sawtooth) -> float:
    """Return ln of what the flows send over what the bottleneck carries, at the round trip time of the sum."""
    return math.log(flows * mean / (total.utilization * total.round_trip))


def _excess(link: Network, flows: int, sender: Sender, rtt: float, log_loss: float) -> float:
    """Return `_balance` at a loss rate and a round trip time."""
    _, mean, total = _of(link, flows, sender, rtt, log_loss)
    return _balance(flows, mean, total)


def _fitting(excess: partial[float], guess: float, step: float) -> float:
    """Return ln p where the flows fit, found from a guess in steps that double."""
    least, most = math.log(LOSSES[0]), math.log(MOST_LOSS)
    low = high = min(max(guess, least), most)
    up = excess(low) > 0
    while (excess(high) > 0) if up else (excess(low) < 0):
        if up and high >= most:
            raise AccuracyError(f"even with a loss rate of {MOST_LOSS:g} the flows do not fit the bottleneck")
        if not up and low <= least:
            raise AccuracyError(f"even with a loss rate of {LOSSES[0]:g} the flows do not fill the bottleneck")
        low, high = (high, min(high + step, most)) if up else (max(low - step, least), low)
        step *= 2
    return crossing(excess, low, high, FINE) if low < high else low

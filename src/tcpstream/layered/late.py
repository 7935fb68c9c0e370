"""How many packets of a live stream come too late under TFRC: a chain whose steps are round trips."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, positive, whole
from ..sim.replications import interval
from ..sim.tfrc.allowed_rate import REDUCED
from ..sim.tfrc.equation import round_trips
from ..sim.tfrc.loss_intervals import WEIGHTS
from ..sim.tfrc.receive_rates import TICK

STEPS, WARMUP = 3000, 500
"""Round trips of a stream, and how many of these are not looked at."""

Floats = NDArray[np.float64]


class Late(NamedTuple):
    """What comes too late, of the packets that come.

    Attributes
    ----------
    fractions : (n,) array
        For each delay.
    margins : (n,) array
        Half of a 95% interval: streams are drawn.
    """

    fractions: Floats
    margins: Floats


def late_of_paced(
    loss: float, rtt: float, packet_rate: float, delays: ArrayLike, rng: np.random.Generator, streams: int = 400
) -> Late:
    """Return the late fractions of a live stream that is paced by TFRC over a bottleneck.

    Packets are made at a constant rate, and wait at the sender while TFRC allows less: in each round trip of R it sends
    n = X R of those that wait, or what is made. Losses are p a packet, a Poisson process; the first one begins a loss
    event, which closes an interval, and hides what is lost for a round trip. X follows from the weighted mean of the
    last eight intervals, with or without the open one, by the equation; a loss while none wait leaves .85 of the packet
    rate for a round trip.

    Parameters
    ----------
    loss : float
        p, of each packet, independently, 0..1, without these.
    rtt : float
        R, the queue of the bottleneck included [s].
    packet_rate : float
        Of the stream [packets/s].
    delays : (n,) array
        How much later than without a wait packets may come [s].
    rng : numpy.random.Generator
    streams : int
        Of 3000 round trips each, of which the first 500 are not looked at; at least 2.

    Returns
    -------
    Late

    Raises
    ------
    InputError
        For values out of range.

    Notes
    -----
    The margins are those of the drawing. What the model leaves out (where in a round trip packets are lost, that R
    varies, timers) is not in them. Losses have to be independent: behind a drop-tail queue that TCP shares late
    fractions may be off by several times.
    """
    if not 0 < loss < 1:
        raise InputError(f"loss must lie between 0 and 1, got {loss:g}")
    positive("rtt", rtt, "s")
    made = positive("packet rate", packet_rate, "packets/s") * rtt
    taus = np.atleast_1d(np.asarray(delays, dtype=np.float64))
    count = whole("streams", streams, 2)
    closed, open_, waiting = np.full((count, len(WEIGHTS)), 1 / loss), np.zeros(count), np.zeros(count)
    reduced, blind = np.zeros(count, dtype=bool), np.zeros(count)
    late = np.zeros((len(taus), count))
    for step in range(STEPS):
        allowed = _allowed(closed, open_)
        allowed[reduced] = np.minimum(allowed[reduced], REDUCED * made)
        if step >= WARMUP:
            wait = waiting / allowed * rtt
            late += wait > taus[:, np.newaxis] + TICK
        sent = np.minimum(waiting + made, allowed)
        waiting = waiting + made - sent
        place = blind * sent + rng.exponential(1 / loss, count)
        lost = place <= sent
        reduced = lost & (waiting == 0)
        closed[lost] = np.column_stack([(open_ + place)[lost], closed[lost, :-1]])
        open_ = np.where(lost, sent - place, open_ + sent)
        blind = np.where(lost, place / sent, 0.0)
    found = [interval(row / (STEPS - WARMUP)) for row in late]
    return Late(np.array([one[0] for one in found]), np.array([(one[2] - one[1]) / 2 for one in found]))


def _allowed(closed: Floats, open_: Floats) -> Floats:
    """Return the packets of a round trip that the equation gives (RFC 5348, Sections 3.1 and 5.4)."""
    weights = np.array(WEIGHTS) / sum(WEIGHTS)
    without, with_open = closed @ weights, open_ * weights[0] + closed[:, :-1] @ weights[1:]
    p = np.minimum(1.0, 1 / np.maximum(without, with_open))
    return np.asarray(1 / round_trips(p, np.sqrt))

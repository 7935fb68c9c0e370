"""The last round of a transfer, which sends what is left, and the last packet of a timeout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..system.compiled_parts import part
from .buffer_moves import Totals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ends(NamedTuple):
    """What a state is known as where a transfer ends: points and shares; those of s are ``starts[s] ..``.

    Attributes
    ----------
    starts : (n + 1,) int array
    points : (k,) int array
    shares : (k,) array
    """

    starts: Ints
    points: Ints
    shares: Floats


class LastRound(NamedTuple):
    """The last round of a transfer, which sends what is left.

    Attributes
    ----------
    windows : (S,) int array
        Of the states that send one [packets].
    loss, holds, lost_unseen : float
        p; P(a packet is not lost, or repaired); P(a retransmission is lost unseen).
    silence_rounds, silence_shares : arrays
        From its start to a retransmission, where its last packet is lost.
    timer_rounds, timer_shares : arrays
        From a retransmission, or a probe, that is lost to the next one.
    unrepaired_rounds, unrepaired_shares : arrays
        The same after a packet that is lost twice.
    timer : int
        State of the first retransmission after a timeout.
    probes : bool
        Whether a probe repairs the last packets instead.
    same, grown, reduced : Ends
        After a round whose acknowledgements open no window; after one of a whole window; after losses.
    """

    windows: Ints
    loss: float
    holds: float
    lost_unseen: float
    silence_rounds: Ints
    silence_shares: Floats
    timer_rounds: Ints
    timer_shares: Floats
    unrepaired_rounds: Ints
    unrepaired_shares: Floats
    timer: int
    probes: bool
    same: Ends
    grown: Ends
    reduced: Ends


@part(nogil=True)
def end(law: Floats, t: int, mass: float, s: int, ends: Ends) -> None:
    """Add mass that ends in a round, in a state."""
    for o in range(ends.starts[s], ends.starts[s + 1]):
        law[t, ends.points[o]] += mass * ends.shares[o]


@part(nogil=True)
def _time_out(mass: float, level: int, at: int, last: LastRound, ring: Floats, waiting: Ints, t: int) -> None:
    """Put what was lost in a round aside until the timer is over."""
    for o in range(len(last.timer_rounds)):
        then = (t + last.timer_rounds[o]) % len(waiting)
        ring[then, level, at] += mass * last.timer_shares[o]
        waiting[then] = 1


@part(nogil=True)
def send_last_round(
    mass: float, s: int, at: int, need: int, quantum: float, goal: int, last: LastRound, law: Floats, ring: Floats,
    waiting: Ints, t: int,
) -> None:  # fmt: skip
    """Follow a round that sends all that is left, `need` packets."""
    p, q, S = last.loss, 1.0 - last.loss, len(last.windows)
    slots, part = len(waiting), mass * q**need
    open_ = need / last.windows[s]  # each acknowledgement opens the window by its share
    end(law, t, part * open_, s, last.grown)
    end(law, t, part * (1 - open_), s, last.same)
    held = 1.0 - p * (p if last.probes else last.lost_unseen)  # nothing comes behind a repair that is lost as well
    end(law, t + 1, mass * q * (held ** (need - 1) - q ** (need - 1)), s, last.reduced)
    whole = mass * p**need
    tail = mass * p - whole  # the last packet, but not all
    for o in range(len(last.silence_rounds)):
        d, share = last.silence_rounds[o], last.silence_shares[o]
        ring[(t + d) % slots, last.timer - S, at] += whole * share
        waiting[(t + d) % slots] = 1
        if not last.probes:
            ring[(t + d) % slots, last.timer - S, goal - 1] += tail * share
            continue
        end(law, t + d, tail * share * q, s, last.reduced)
        _time_out(tail * share * p, last.timer + 2 - S, goal - 1, last, ring, waiting, t + d)
    if last.probes:
        _time_out(mass * q * (1.0 - held ** (need - 1)), last.timer - S, goal - 1, last, ring, waiting, t + 1)
    if last.lost_unseen == 0.0:
        return
    for j in range(need - 1):
        fails = q * p * q**j * (1 - (1 - last.lost_unseen) * last.holds ** (need - 2 - j))
        x = at + j / quantum
        y = int(x + 1e-9)
        above = x - y if x - y > 1e-9 else 0.0
        for o in range(len(last.unrepaired_rounds)):
            d, here = (t + last.unrepaired_rounds[o]) % slots, mass * fails * last.unrepaired_shares[o]
            ring[d, last.timer - S, min(y, goal - 1)] += here * (1 - above)
            ring[d, last.timer - S, min(y + 1, goal - 1)] += here * above
            waiting[d] = 1


@part(nogil=True)
def retransmit(
    mass: float, s: int, at: int, S: int, moves: Totals, last: LastRound, law: Floats, ring: Floats, waiting: Ints,
    t: int,
) -> None:  # fmt: skip
    """Follow the last packet, sent in a timeout."""
    slots = len(waiting)
    for o in range(moves.starts[s], moves.starts[s + 1]):
        to = moves.target[o]
        if to >= S and (to - S) % 2 == 0:  # lost: the next level
            d = (t + moves.rounds[o]) % slots
            ring[d, to - S, at] += mass * moves.chance[o]
            waiting[d] = 1
        else:
            end(law, t, mass * moves.chance[o], to, last.same)

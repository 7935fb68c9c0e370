"""What a client buffer makes of a path: when TCP pauses, and how it goes on."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..errors import AccuracyError, InputError
from ..path import Path
from ..playout.deliveries import Deliveries, as_written_out
from ..playout.pauses import Floats, Ints, Pauses, halvings
from ..tcp import chain_of
from ..tcp.idle_restart import RestartingChain, with_idle_restarts
from ..tcp.independent import IndependentChain
from ..video import Video
from .chain_lattices import as_large_as_matters
from .pausing_player import PausingPlayer

LARGEST = 120
"""Window up to which restarts are followed: every window, below every threshold [packets]."""

THRESHOLDS = 1.25
"""Ratio of neighbouring thresholds."""


class HeldAtMost(NamedTuple):
    """A client buffer on a path.

    Attributes
    ----------
    pauses : Pauses
    restarting : Deliveries or None
        Of a chain with restarts after idle times; None for that of the path.
    """

    pauses: Pauses
    restarting: Deliveries | None


def held_at_most(path: Path, video: Video, player: PausingPlayer) -> HeldAtMost:
    """Return what a client buffer makes of a path.

    Raises
    ------
    InputError
        For a refill level below a round trip; for restarts of a chain that has none.
    AccuracyError
        For windows that are too large to follow restarts.
    """
    whole = video.packets + 2 * video.packet_rate * path.rtt  # more room makes no difference
    stop, resume = (min(video.packet_rate * one, whole) for one in (player.client_buffer, player.refill))
    if player.refill < path.rtt:
        raise InputError(
            f"the refill level must be at least a round trip time of {path.rtt:g} s, got {player.refill:g} s"
        )
    if player.idle == "keep" or resume == stop:
        return HeldAtMost(Pauses(stop, resume, None), None)
    chain = chain_of(path)
    if path.tcp == "cubic" or not isinstance(chain, IndependentChain) or path.bottleneck is not None:
        raise InputError(
            "restarts after idle times are followed for tcp = reno-sack without a bottleneck: take it, or idle = keep"
        )
    if path.initial_window is None:
        raise InputError(
            "an idle connection restarts from its initial window, which this sender has not: give an initial window, "
            "as 10, or idle = keep"
        )
    smaller = as_large_as_matters(path, chain, video.packet_rate * path.rtt)
    if smaller.max_window > LARGEST:
        raise AccuracyError(
            f"restarts after idle times are followed for windows of up to {LARGEST} packets, here they reach "
            f"{smaller.max_window}: take idle = keep, or a smaller max_window"
        )
    chain = chain_of(smaller)
    assert isinstance(chain, IndependentChain)
    assert path.initial_window is not None
    restarts = with_idle_restarts(chain, path.initial_window, max(1, round(stop - resume)), THRESHOLDS)
    found = as_written_out(restarts.chain)
    after_idle = partial(_after_idle, restarts, found.states, path.rto / path.rtt)
    return HeldAtMost(Pauses(stop, resume, after_idle), found)


def _after_idle(restarts: RestartingChain, states: int, timer: float, rounds: int) -> tuple[Ints, Floats]:
    """Return the states after an idle time in rounds, and their shares, by the state before; a timer in rounds."""
    same = np.arange(states)
    targets, shares = np.stack([same, same], axis=1), np.tile(np.array([1.0, 0.0]), (states, 1))
    times = halvings(rounds, timer)
    if times > 0:
        to, share = restarts.after_idle(times)
        targets[: len(to)], shares[: len(to)] = to, share
    return targets, shares

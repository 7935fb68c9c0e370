"""What a kernel reads of a chain and of a video: numbers and arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tcpstream import Path, Video
from tcpstream.answers.timeline import Timeline
from tcpstream.tcp import BurstChain, Chain, IndependentChain

NEVER = 2**62
"""Rounds that are not reached."""


class Source(NamedTuple):
    """A window chain.

    Attributes
    ----------
    bursts : bool
        Whether a loss takes the rest of its round along.
    hazard : float
        -ln(1 - p).
    windows : (S,) int array
        Packets that each state sends.
    next_state : (S,) int array
        State after a round that was delivered whole, -1 where there are several.
    grow_first, grow_to, grow_below : (S + 1,), (G,) and (G,) arrays
        State s grows to ``grow_to[i]`` where a uniform number is first below ``grow_below[i]``,
        i = grow_first[s] .. grow_first[s + 1] - 1.
    start, restart : int
        First state of a video; state after a timeout is over.
    recover_to, recover_below : (n, M) arrays
        States after a recovery, and cumulative probabilities: by window, for losses in bursts, else by state.
    opening : int
        States of the first slow start.
    increase, largest : int
        b and W_max.
    unseen : float
        Probability that a retransmission is lost and only the timer shows it.
    wait_low, wait_more : (9,) arrays
        Waits after a round all lost, after losses that are not repaired, and at the seven back-off levels: the lesser
        number of rounds, and the probability of one more.
    """

    bursts: bool
    hazard: float
    windows: Any
    next_state: Any
    grow_first: Any
    grow_to: Any
    grow_below: Any
    start: int
    restart: int
    recover_to: Any
    recover_below: Any
    opening: int
    increase: int
    largest: int
    unseen: float
    wait_low: Any
    wait_more: Any


class Playback(NamedTuple):
    """A video, in rounds and packets.

    Attributes
    ----------
    live : bool
    due : float
        m, packets per round.
    total, length : float
        Packets and rounds of the video, infinite without an end.
    generating : int
        Whole rounds of it.
    rounds : int
        Rounds that are followed at most.
    ahead : (n,) array
        mu tau, increasing [packets].
    """

    live: bool
    due: float
    total: float
    length: float
    generating: int
    rounds: int
    ahead: Any


def source(chain: Chain) -> Source:
    """Return the arrays of a window chain."""
    if not isinstance(chain, BurstChain | IndependentChain):
        raise TypeError(f"{type(chain).__name__} is no chain of windows")
    graph, growth, silences = chain.graph, chain.graph.growth, chain.silences
    order = np.argsort(growth.from_state, kind="stable")
    first = np.searchsorted(growth.from_state[order], np.arange(graph.size + 1))
    below = np.cumsum(growth.share[order])
    below -= np.concatenate([[0.0], below])[first[growth.from_state[order]]]
    below[first[1:] - 1] = 1.0
    if isinstance(chain, BurstChain):
        recover_to = chain.recover_to[:, np.newaxis]
        share = np.ones(recover_to.shape)
        opening, unseen = chain.n_initial_slow_start, 0.0
    else:
        recover_to, share = chain.recover_to, chain.recover_share
        opening, unseen = 0, chain.lost_unseen
    recover_below = np.cumsum(share, axis=1)
    recover_below[recover_below >= 1 - 1e-12] = 1.0
    return Source(
        isinstance(chain, BurstChain),
        -math.log1p(-chain.loss),
        np.ascontiguousarray(graph.windows, dtype=np.int64),
        np.where(np.diff(first) == 1, growth.to_state[order][first[:-1]], -1).astype(np.int64),
        first.astype(np.int64),
        growth.to_state[order].astype(np.int64),
        below,
        int(graph.start),
        int(graph.restart),
        np.ascontiguousarray(recover_to, dtype=np.int64),
        recover_below,
        opening,
        graph.rounds_per_increase,
        graph.max_window,
        float(unseen),
        np.array([wait[0][0] for wait in silences.every], dtype=np.int64),
        np.array([wait[1][1] if len(wait) > 1 else 0.0 for wait in silences.every]),
    )


def playback(path: Path, video: Video, delays: Any, *, live: bool) -> Playback:
    """Return a video of constant rate, judged at increasing startup delays [s]."""
    ahead = video.packet_rate * np.asarray(delays, dtype=np.float64)
    if video.curve is not None or (np.diff(ahead) < 0).any():
        raise ValueError("a constant rate and increasing delays are simulated")
    clock = Timeline.of(path, video)
    if video.duration is None:
        return Playback(live, clock.packets_due, math.inf, math.inf, NEVER, NEVER, ahead)
    rounds = clock.judged_rounds(float(np.max(delays)))
    generating = math.floor(clock.length + 1e-9)
    return Playback(live, clock.packets_due, video.packets, clock.length, generating, rounds, ahead)

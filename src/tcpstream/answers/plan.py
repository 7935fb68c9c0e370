"""How the transient of a stored video is made: what is followed, on which lattice, and whether that is affordable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import AccuracyError
from ..numerics.lattices import Lattice, lattices, order
from ..path import Path
from ..stationary.decay import safe_lead
from ..tcp import Chain, Varying, chain_of
from ..transient.cost import affordable, check, forecast
from ..transient.select import check_quantum, nanoseconds
from ..video import Video
from .timeline import Timeline

RISK = 1e-17
"""Probability that what is followed no longer is late after all."""

LONG = 2000
"""Rounds from which a video is long: then a lead that makes it safe is worth to be computed."""

SAFE_LOAD = 0.98
"""Load mu / T above which no lead is worth it."""

SPAN = 4
"""Positions followed at a time, in leads, for a long video: room for what is late too."""


ACCURACIES = ("exact", "fine", "fast")
"""How near answers are: to the packet; within about 1% of f; or faster."""

QUICK = 1.0
"""Seconds that an exact transient may take by default."""


LARGEST_LOAD = 0.9999
"""Load up to which a live stream is solved on coarse lattices."""

EPOCHS, DEPTHS, LIVE_NANOSECONDS = 45, 12, 8.0
"""Of an exact live solve: loss epochs, depth over what the longest wait and the spread between losses leave behind, and
time for a state and a position."""

WAVES = 20
"""States that take as long as the long waves of the backlog."""

AFFORDABLE = 600.0
"""CPU seconds that an exact solve of a live stream may take where coarse lattices have no answer."""

LAST_WAITS, PAIR_SECONDS = 6, 1.5e-3
"""Of an exact live solve on a path that varies: rounds after the end of the stream, over the longest wait, and time of
a round for each pair of regimes."""

FEW_ROUNDS = 50
"""Videos of fewer rounds are solved exactly."""

FIRST_ROUNDS = 8
"""Mean rounds of TCP in whose packets a video is decided by the first losses, which coarse lattices do not resolve."""


@dataclass(frozen=True)
class Plan:
    """How a transient is made that serves some cases.

    Attributes
    ----------
    packets_due, lead : float
        m, the most packets ever due per round, and the lead over them [packets] from which nothing is late again, but
        with a probability of 1e-17: what has it is followed no longer. 0 and infinite where everything is followed.
    quantum : int
        Packets per step of the lattice.
    """

    packets_due: float = 0.0
    lead: float = math.inf
    quantum: int = 1


def plan(chain: Chain, cases: Sequence[Timeline], quantum: int | None = None) -> Plan:
    """Return how to make the transient that serves all of some cases with the same chain.

    Parameters
    ----------
    chain : Chain
    cases : sequence of Timeline
        With durations.
    quantum : int, optional
        Packets per step of the lattice; by default exact where that takes some seconds, else about a round's.

    Raises
    ------
    InputError
        For a quantum of several packets where the chain is only solved in steps of one.
    AccuracyError
        When the transient would need too much time or memory; the message says how much.
    """
    packets_due = max(one.packets_due for one in cases)
    long = all(one.video.curve is None and one.video.duration is not None and one.length > LONG for one in cases)
    steady = long and packets_due < SAFE_LOAD * chain.packets_per_round
    most, rounds = max(one.packets for one in cases), max(one.length for one in cases)
    lead = float(math.ceil(safe_lead(chain, packets_due, RISK))) if steady else math.inf
    span = min(most, SPAN * lead)
    if quantum is None:
        quantum = affordable(chain, rounds, span)
    check_quantum(chain, quantum)
    check(chain, rounds, span, quantum)
    return Plan(packets_due if steady else 0.0, lead, quantum)


def is_coarse(
    cases: Sequence[tuple[Path | Varying, Video]], quantum: int | None, accuracy: str | None, passes: int = 1
) -> bool:
    """Return whether cases with the same chain are solved on coarse lattices.

    By default where the exact transient, or several passes of it, are forecast to take more than a second, at constant
    rates; so it is with any accuracy where the largest window limits TCP, and few losses and single packets decide.
    """
    if quantum is not None or accuracy == "exact" or any(video.curve is not None for _, video in cases):
        return False
    chain, timelines = chain_of(cases[0][0]), [Timeline.of(*one) for one in cases]
    if min(one.length for one in timelines) < FEW_ROUNDS:
        return False
    if accuracy is not None:
        from ..coarse.resolution import Scale

        if not Scale.of(chain).limited:
            return True
    seconds = exact_seconds(chain, timelines)
    if max(one.packets for one in timelines) < FIRST_ROUNDS * chain.packets_per_round:
        return seconds > QUICK
    return passes * seconds > QUICK


def exact_seconds(chain: Chain, cases: Sequence[Timeline], span: float = math.inf) -> float:
    """Return about how long an exact transient takes [CPU s], of all packets or of a span of them at a time."""
    most, rounds = max(one.packets for one in cases), max(one.length for one in cases)
    return forecast(chain, rounds, min(most, span), 1).cells * nanoseconds(chain) * 1e-9


def is_coarse_live(path: Path | Varying, video: Video, accuracy: str | None) -> bool:
    """Return whether a live stream is solved on coarse lattices.

    By default where the exact backlog is forecast to take more than a second, and without end where it has no lattice
    of its own: coarse ones are nearer then than neighbours. Never where TCP delivers no more than is generated, as
    there is no long run then.
    """
    chain, timeline = chain_of(path), Timeline.of(path, video)
    m, T = timeline.packets_due, chain.packets_per_round
    if accuracy == "exact" or m >= T * LARGEST_LOAD:
        return False
    if accuracy is not None or live_seconds(path, video) > QUICK:
        return True
    return video.duration is None and len(endless_lattices(chain, m)) > 1


def endless_lattices(chain: Chain, packets_due: float) -> tuple[Lattice, ...]:
    """Return the lattices on which a stream without end is solved exactly: its own, or those of its neighbours."""
    T = chain.packets_per_round
    return lattices(packets_due, order(packets_due, T, chain.n_cells), T * (1 - 1e-9))


def check_time(path: Path | Varying, video: Video) -> None:
    """Raise `AccuracyError` where an exact solve of a live stream of finite length takes too long."""
    seconds = live_seconds(path, video)
    if seconds > AFFORDABLE:
        ratio = chain_of(path).packets_per_round / Timeline.of(path, video).packets_due
        raise AccuracyError(
            f"a live stream of {video.duration:g} s at T/mu {ratio:.3g} has an exact answer only, which would take "
            f"about {seconds / 60:.3g} CPU minutes, more than {AFFORDABLE / 60:g}: take a shorter stream or a lower "
            "rate, or give accuracy=exact to wait for it"
        )


def live_seconds(path: Path | Varying, video: Video) -> float:
    """Return about how long an exact solve of a live stream takes [CPU s]."""
    chain, timeline = chain_of(path), Timeline.of(path, video)
    m, T = timeline.packets_due, chain.packets_per_round
    steps = sum(one.steps_per_packet for one in lattices(m, order(m, T, chain.n_cells)))
    depth = m * chain.longest_wait() + chain.packets_between_losses * m / max(T - m, 1e-3 * T)
    if video.duration is None:
        return EPOCHS * DEPTHS * (chain.followed_states + WAVES) * steps * depth * LIVE_NANOSECONDS * 1e-9
    depth = min(DEPTHS * depth, timeline.packets)
    seconds = timeline.length * chain.followed_states * steps * depth * LIVE_NANOSECONDS * 1e-9
    if chain.varies:
        seconds += (timeline.length + LAST_WAITS * chain.longest_wait()) * chain.n_regimes**2 * PAIR_SECONDS
    return seconds

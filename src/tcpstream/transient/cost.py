"""What a transient will take, before it is made, and the lattice that keeps it affordable."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import AccuracyError
from ..system import watch
from ..tcp.chain import Chain
from .select import NANOSECONDS, has_coarse_lattice, nanoseconds, state_step

EXACT = 2e9
"""Cells (states x positions x rounds) up to which a transient is exact by default: some seconds."""

SMALL = 16
"""Packets per round below which a transient is always exact."""

ABOUT = 1.05
"""The quantum is at most this much more than a mean round's packets."""

MOST_CELLS = 2e12
"""Cells of the longest transient that is tried: about an hour."""

MOST_WAITS = 2e12
"""Rounds of all waits times the longest: as many are looked at."""

MOST_BYTES = 8 * 2**30
"""Memory that a transient may take."""

HEAD = 64
"""Quanta of packets that are followed packet by packet as well: what is known of the first ones is not smooth."""

HEAD_ROUNDS = 4
"""Times the mean time of the first packets until hardly any of them is missing."""

SHARE = 0.75
"""Share of the positions up to the video's end that are followed at a time, on average over a video."""


@dataclass(frozen=True)
class Cost:
    """Cells of a transient, and its memory [bytes], both from above."""

    cells: float
    memory: float


def forecast(chain: Chain, rounds: float, span: float, quantum: int) -> Cost:
    """Return what a transient will take on a lattice of `quantum` packets.

    Parameters
    ----------
    chain : Chain
    rounds, span : float
        Rounds followed, and positions at a time at most [packets].
    quantum : int
    """
    states = chain.followed_states / state_step(chain, quantum)
    positions = min(span, chain.most_received(math.ceil(rounds))) / quantum  # no more is ever delivered
    return Cost(SHARE * states * rounds * positions, 8 * positions * (3 * states + SHARE * rounds))


def affordable(chain: Chain, rounds: float, span: float) -> int:
    """Return the quantum to use: a packet, which is exact, if that is quick; else a power of two, about a round's.

    Small windows stay exact where that is possible at all: they have no packets to spare. So does what is only known
    packet by packet.
    """
    a_round, exact = chain.packets_per_round, forecast(chain, rounds, span, 1)
    most = MOST_CELLS if a_round < SMALL else EXACT
    if not has_coarse_lattice(chain) or (exact.cells <= most and exact.memory <= MOST_BYTES):
        return 1
    return int(2 ** max(0, math.floor(math.log2(a_round * ABOUT))))


def check(chain: Chain, rounds: float, span: float, quantum: int) -> None:
    """Raise `AccuracyError` for a transient that would take too much time or memory: how much, and what would help."""
    longest = chain.longest_wait()
    if chain.total_wait * max(rounds, longest) > MOST_WAITS:
        raise AccuracyError(
            f"the timer backs off to {longest:.3g} round trips, too many to follow one by one: take a shorter rto "
            "or a longer round trip time"
        )
    cost = forecast(chain, rounds, span, quantum)
    if quantum > 1:
        first = HEAD * quantum
        head = forecast(chain, min(rounds, HEAD_ROUNDS * first / chain.packets_per_round), min(span, first), 1)
        cost = Cost(cost.cells + head.cells, cost.memory + head.memory)
    minutes, most = (time * 1e-9 / 60 for time in (cost.cells * nanoseconds(chain), MOST_CELLS * NANOSECONDS))
    gib, room = (memory / 2**30 for memory in (cost.memory, MOST_BYTES))
    too_much = [f"about {minutes:.3g} minutes, more than the limit of {most:.3g}"] if minutes > most else []
    if gib > room:
        too_much.append(f"about {gib:.3g} GiB of memory, more than the limit of {room:.3g}")
    if too_much:
        windows = (
            minutes > most or 3 * chain.followed_states > SHARE * rounds
        )  # else the rows of rounds take the memory
        remedy = watch.SHORTER if windows else "a shorter duration"
        coarser = " or a larger quantum" if has_coarse_lattice(chain) and quantum < chain.packets_per_round else ""
        coarser += ", or give accuracy=fine for a constant rate" if quantum == 1 else ""
        raise AccuracyError(
            f"following {span:.4g} packets through {rounds:.4g} round trips in steps of {quantum} packets would take "
            f"{', and '.join(too_much)}: take {remedy}{coarser}"
        )

"""Which operator follows a chain: the only place where its features are asked for."""

from __future__ import annotations

import math
from functools import singledispatch

from ..errors import InputError
from ..tcp.burst import BurstChain
from ..tcp.chain import Chain, Features
from ..tcp.independent import IndependentChain
from ..tcp.varying_chain import VaryingChain
from .backlogged import Backlogged
from .boundary import OnFloor
from .burst import BackloggedBurst
from .burst_limited import LimitedBurst
from .coarse import BackloggedCoarse
from .independent import BackloggedIndependent
from .independent_limited import LimitedIndependent
from .limited import Limited
from .varying_backlogged import BackloggedVarying
from .varying_limited import LimitedVarying

NANOSECONDS, NANOSECONDS_INDEPENDENT = 2.0, 7.0
"""Time of a state, position and round, roughly, and of a transition that is written out; for independent losses."""

WINDOWS = 15
"""States followed of a mean round's window at least: windows have to be finer than positions."""


def has_coarse_lattice(chain: Chain) -> bool:
    """Return whether a chain can be followed in steps of several packets: bursts of losses, without slow start."""
    return chain.features == Features.BURST_LOSSES


def nanoseconds(chain: Chain) -> float:
    """Return the time of a state, or a transition, at a position in a round, roughly."""
    return NANOSECONDS_INDEPENDENT if Features.INDEPENDENT_LOSSES in chain.features else NANOSECONDS


def state_step(chain: Chain, quantum: int) -> int:
    """Return G, one in how many states is followed with a quantum: a power of two, 1 for an exact chain."""
    most = min(chain.packets_per_round / WINDOWS, quantum / 8)
    return int(2 ** max(0, math.floor(math.log2(most))))


def check_quantum(chain: Chain, quantum: int) -> None:
    """Raise `InputError` for a quantum of several packets where a chain is only solved in steps of one."""
    if quantum > 1 and not has_coarse_lattice(chain):
        if Features.INDEPENDENT_LOSSES in chain.features:
            what = "independent losses are"
        else:
            what = "slow start is" if Features.PREAMBLE in chain.features else "a chain that is written out is"
        raise InputError(f"{what} solved in steps of a packet: leave out quantum, or give 1, got {quantum}")


def backlogged(chain: Chain, goal: int, quantum: int = 1, on_floor: OnFloor = OnFloor.KILL) -> Backlogged:
    """Return the transient of a chain that always has something to send.

    Parameters
    ----------
    chain : Chain
    goal : int
        Packets after which nothing is followed any more.
    quantum : int
        Packets per position: exact for one.
    on_floor : OnFloor
        What the boundaries of its rounds will do to what is below them: only the written-out operator does more than
        to remove it.
    """
    return _removing(chain, goal, quantum) if on_floor is OnFloor.KILL else _written_out(chain, goal)


def _written_out(chain: Chain, goal: int) -> Backlogged:
    from .written_out import BackloggedWrittenOut  # loads SciPy

    return BackloggedWrittenOut(chain, goal)


@singledispatch
def _removing(chain: Chain, goal: int, quantum: int) -> Backlogged:  # noqa: ARG001
    """Return the transient whose boundaries remove what is below them."""
    return _written_out(chain, goal)


@_removing.register
def _(chain: IndependentChain, goal: int, quantum: int) -> Backlogged:  # noqa: ARG001
    return BackloggedIndependent(chain, goal)


@_removing.register
def _(chain: VaryingChain, goal: int, quantum: int) -> Backlogged:  # noqa: ARG001
    return BackloggedVarying(chain, goal)


@_removing.register
def _(chain: BurstChain, goal: int, quantum: int) -> Backlogged:
    if quantum == 1:
        return BackloggedBurst(chain, goal)
    return BackloggedCoarse(chain, goal, quantum, state_step(chain, quantum))


@singledispatch
def limited(chain: Chain, ceiling: int, steps_per_packet: int, trace: int) -> Limited:
    """Return the transient of a chain that has no more to send than exists; parameters as for `Limited`."""
    from .written_out_limited import LimitedWrittenOut  # loads SciPy

    return LimitedWrittenOut(chain, ceiling, steps_per_packet, trace)


@limited.register
def _(chain: IndependentChain, ceiling: int, steps_per_packet: int, trace: int) -> Limited:
    return LimitedIndependent(chain, ceiling, steps_per_packet, trace)


@limited.register
def _(chain: VaryingChain, ceiling: int, steps_per_packet: int, trace: int) -> Limited:
    return LimitedVarying(chain, ceiling, steps_per_packet, trace)


@limited.register
def _(chain: BurstChain, ceiling: int, steps_per_packet: int, trace: int) -> Limited:
    return LimitedBurst(chain, ceiling, steps_per_packet, trace)

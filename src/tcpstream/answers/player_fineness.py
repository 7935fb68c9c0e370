"""How fine a player with buffer thresholds is followed on a path."""

from __future__ import annotations

from dataclasses import replace

from ..coarse.state_grid import grid
from ..playout.deliveries import most_states
from ..playout.fineness import Fineness
from ..playout.leads import wide
from ..tcp import Chain
from ..tcp.independent import IndependentChain
from ..tcp.varying_chain import VaryingChain
from .held_at_most import HeldAtMost

USUAL, QUICK, SHORT = 30, 3e10, 3e9
"""Transitions of a state, about; and products of a pass up to which a player that pauses is followed at each lead, and
a video in small quanta."""

MANY_STATES, LEAST_DUE = 800, 3.0
"""States of CUBIC beyond which fewer lines are followed, and packets that a round plays at least where leads lie apart.
"""


def fineness(
    chain: Chain, due: float, rounds: float, between_losses: float, decay: float, columns: int, held: HeldAtMost | None,
    lines_apart: bool,
) -> Fineness:  # fmt: skip
    """Return how fine a player is followed.

    Parameters
    ----------
    chain : Chain
    due, rounds : float
        Packets that a round plays, and rounds of the video.
    between_losses : float
        Mean time from loss to loss [rounds].
    decay : float
        Lead over which a stall gets less probable by a factor of e [packets].
    columns : int
        Numbers that are followed of each state and lead.
    held : HeldAtMost or None
        Of a player that pauses.
    lines_apart : bool
        Whether lines of windows lie apart, as those of CUBIC.

    Raises
    ------
    AccuracyError
        As `Fineness.of`.
    """
    fine = Fineness.of(due, between_losses, decay)
    if held is not None:
        fine = _with_pauses(fine, chain, rounds, decay, columns, held)
    elif not fine.exact and _products(small := fine.in_small_quanta(), chain, rounds, rounds * due, columns) <= SHORT:
        fine = small
    elif chain.varies and due >= LEAST_DUE and _products(fine, chain, rounds, rounds * due, columns) > SHORT:
        fine = Fineness.between_packets(due, fine.step, decay)  # far behind in a bad regime, and far ahead in another
    if not lines_apart:
        return fine
    if _states(chain, fine) == _states(chain, replace(fine, ratio=fine.coarser().ratio)):
        fine = replace(fine, ratio=1.0)  # few lines: all of them, or none would be compared
    if due >= LEAST_DUE and _states(chain, fine) > MANY_STATES:
        few = Fineness.with_few_lines(due, fine.step, decay)
        few = few if fine.ratio > 1.0 else replace(few, ratio=1.0)
        return few if held is None or wide(few.coarser(), held.pauses.stop) else replace(few, apart=0.0)
    return fine


def is_quick(fine: Fineness, chain: Chain, rounds: float, columns: int) -> bool:
    """Return whether a pass takes little time, even if it follows all leads; parameters as for `fineness`."""
    return _products(fine, chain, rounds, rounds * fine.due, columns) <= SHORT


def is_followed(fine: Fineness, chain: Chain) -> bool:
    """Return whether a chain has no more states than are followed."""
    on_grid = isinstance(chain, (IndependentChain, VaryingChain))
    return not on_grid or _states(chain, fine) <= most_states(chain, fine.further)


def _with_pauses(
    fine: Fineness, chain: Chain, rounds: float, decay: float, columns: int, held: HeldAtMost
) -> Fineness:  # fmt: skip
    """Return the same for a player that pauses: each lead up to a full buffer is followed, where that is quick."""
    all_leads = fine.with_all_leads()
    states = held.restarting.states if held.restarting else None
    if _products(all_leads, chain, rounds, held.pauses.stop, columns, states) <= QUICK or fine.due < LEAST_DUE:
        return all_leads
    between = Fineness.between_packets(fine.due, fine.step, decay)
    return between if wide(between.coarser(), held.pauses.stop) else all_leads


def _products(
    fine: Fineness, chain: Chain, rounds: float, packets: float, columns: int, states: int | None = None
) -> float:  # fmt: skip
    """Return how many a pass over some rounds takes, with up to so many packets held, about."""
    return rounds * packets / fine.quantum * (states or _states(chain, fine)) * USUAL * columns


def _states(chain: Chain, fine: Fineness) -> int:
    return len(grid(chain, fine.step, fine.ratio, further=fine.further).states)

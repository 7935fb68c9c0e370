"""Stalls that next to nobody sees: bounds for players whose buffers are large for what TCP may fall behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.linear import solve
from ..system import watch
from ..tcp.chain import Chain
from ..tcp.silences import LEVELS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LONGEST = 60.0
"""Exponent of the longest silence, up to which there is a bound."""

LESS, TRIES, HALVINGS = 2.0, 16, 5
"""Between exponents; how many are tried; and halvings between one that gives a bound and one that does not."""

LITTLE = 0.1
"""Of a bound, what is left out of silences at most, if there is more to take in."""

NONE = 1e-12
"""Probability from which on less makes no difference."""

RESIDUAL = 1e-9
"""Of the bounds, relative to them."""

NOTHING, ROUNDING = 1e-9, 1e-6
"""Exponent of a packet that counts for nothing; and of all packets that may come while a video is played."""


class AtMost(NamedTuple):
    """Upper bounds.

    Attributes
    ----------
    stalled : float
        P(any stall).
    stalls, rounds : float
        Mean number of stalls, and mean of their time together [rounds].
    """

    stalled: float
    stalls: float
    rounds: float


class Tilted(NamedTuple):
    """A chain whose transitions count exp(theta (m d - S)), with m packets due in each of d rounds and S received.

    Attributes
    ----------
    theta : float
        [1 / packet].
    used_up : (n,) array
        Bounds on exp(theta x) P(a lead x is ever used up), by state.
    at_once : (n,) array
        The same where a buffer has been filled in a transition from each state.
    """

    theta: float
    used_up: Floats
    at_once: Floats


class Ever(NamedTuple):
    """Bounds on the probability of any stall without silences of some back-off levels, and of these; and what tells."""

    stalled: float
    beyond: float
    tilted: Tilted

    @property
    def both(self) -> float:
        """Bound on P(any stall)."""
        return self.stalled + self.beyond


class RareStalls:
    """Bounds on the stalls of a player with buffers.

    Parameters
    ----------
    chain : Chain
    due : float
        m, packets that a round plays.
    packets : float
        Of the whole video.
    negligible : float
        P(any stall) up to which there are bounds.

    Notes
    -----
    With M(theta) the sums of P exp(theta (m d - S)), and a lead x, P(a stall, ever) <= exp(-theta x) u by state, where
    u = l + M u, and l is the same sum with S = 0 and a round more, as what is received out of order may wait for it.
    Silences of back-off levels that are too rare to matter are left out of M; that they come at all is added. A buffer
    of b packets is filled in one of the transitions that begin while S < b have come: each counts exp(1 - S / b).

    A stall that goes on for t rounds after the lead was used up, in the same transition, would be one of a lead that is
    m t larger: on average they are 1 / (theta m) rounds. Then the resume buffer is filled. With one of a packet all
    stalls together are as long as what the lead lacks.
    """

    def __init__(self, chain: Chain, due: float, packets: float, negligible: float) -> None:
        self._chain, self._due, self._packets, self._negligible = chain, due, packets, negligible
        self._made: dict[int, list[Tilted]] = {}
        self._ever: dict[float, list[Ever]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": {}, "_ever": {}}

    def are_negligible(self, begin: float) -> bool:
        """Return whether stalls are, with so many packets when playback begins."""
        return bool(self._ever_stalled(begin))

    def at_most(self, begin: float, resume: float) -> AtMost | None:
        """Return bounds for the packets with which playback begins, and goes on; None where stalls matter."""
        return self._seen(self._ever_stalled(begin), resume)

    def once_full(self, lead: float, resume: float) -> AtMost | None:
        """Return bounds on what comes after a buffer was full once; None where it matters.

        Parameters
        ----------
        lead : float
            Packets held at least when TCP goes on after a round in which it could not send, or after a pause.
        resume : float
            With which playback goes on.
        """
        ever = self._bounds(lambda one: math.exp(1 - one.theta * lead) * self._once_full(one.used_up), self._once_full)
        return self._seen(ever, resume)

    def _seen(self, ever: list[Ever], resume: float) -> AtMost | None:
        """Return bounds on all that is seen, from some on P(any stall)."""
        if not ever:
            return None
        least = min(ever, key=lambda one: one.both)
        known, most = self._known_stalls(least, resume), 1 + self._packets / resume
        lasting = min(ever, key=self._lacking)
        rounds = self._lacking(lasting)
        if resume > 1:
            filled = math.e * float(self._while_less(resume, self._chain.per_transition[1]).max())
            rounds = self._stalled(lasting, self._known_stalls(lasting, resume), filled)
        return AtMost(least.both, known + least.beyond * most, min(rounds, least.both * self._all_rounds))

    def _known_stalls(self, ever: Ever, resume: float) -> float:
        """Return a bound on the mean number of stalls without silences of some back-off levels."""
        again = math.exp(1 - ever.tilted.theta * resume) * float(self._while_less(resume, ever.tilted.at_once).max())
        again += ever.beyond
        most = 1 + self._packets / resume
        return ever.stalled * (min(1 / (1 - again), most) if 0 <= again < 1 else most)

    def _lacking(self, ever: Ever) -> float:
        """Return a bound on the mean time that a lead lacks [rounds]."""
        return self._stalled(ever, ever.stalled, 0.0)

    def _stalled(self, ever: Ever, stalls: float, filled: float) -> float:
        """Return a bound on the mean time of so many stalls, of which each takes so long to fill a buffer [rounds]."""
        return stalls * (1 / (ever.tilted.theta * self._due) + filled) + ever.beyond * self._all_rounds

    @cached_property
    def _all_rounds(self) -> float:
        """Bound on the mean rounds in which a whole video comes, from any state."""
        return math.e * float(self._while_less(self._packets, self._chain.per_transition[1]).max())

    def _ever_stalled(self, begin: float) -> list[Ever]:
        if begin not in self._ever:
            self._ever[begin] = self._ever_stalled_after(begin)
        return self._ever[begin]

    def _ever_stalled_after(self, begin: float) -> list[Ever]:
        if self._chain.packets_per_round <= self._due:
            return []
        visits = self._visits(begin)
        return self._bounds(
            lambda one: math.exp(1 - one.theta * begin) * float(visits @ one.at_once),
            lambda left_out: float(self._all_visits @ left_out),
        )

    def _bounds(self, stalled: Callable[[Tilted], float], visited: Callable[[Floats], float]) -> list[Ever]:
        """Return bounds, from that for an exponent and how often some states are visited, times exp(-1).

        They take in back-off levels until the others add little, to the time of stalls as well.
        """
        found: list[Ever] = []
        if self._chain.packets_per_round <= self._due:
            return found
        for levels in range(1, LEVELS + 1):
            if found and self._is_told(min(found, key=self._lacking)):
                break
            beyond = math.e * visited(self._left_out(levels))
            if beyond <= self._negligible:
                every = (Ever(stalled(one), beyond, one) for one in self._tilted(levels))
                found += [one for one in every if one.stalled >= 0.0 and one.both < self._negligible]
        return found

    def _is_told(self, ever: Ever) -> bool:
        """Return whether back-off levels that are left out add little."""
        left_out = ever.beyond * self._all_rounds
        return ever.both <= NONE or left_out <= LITTLE * self._lacking(ever)

    def _left_out(self, levels: int) -> Floats:
        """Return the probability by state that a back-off level beyond comes next."""
        rows, _, values = self._chain.transform(0.0, self._due, levels)
        return self._whole_rows - self._by_state(rows, values)  # of states where a timer may expire, else 0

    @cached_property
    def _whole_rows(self) -> Floats:
        rows, _, values = self._chain.transform(0.0, self._due)
        return self._by_state(rows, values)

    def _tilted(self, levels: int) -> list[Tilted]:
        """Return the chain with some exponents below its decay rate."""
        if levels not in self._made:
            self._made[levels] = self._with_exponents(levels)
        return self._made[levels]

    def _with_exponents(self, levels: int) -> list[Tilted]:
        high = LONGEST / (self._due * (self._chain.longest_wait(levels) + 1))
        low, found = high, self._with_exponent(high, levels)
        for _ in range(TRIES):
            if found is not None:
                break
            low, high = low / LESS, low
            found = self._with_exponent(low, levels)
        every = [] if found is None else [found]
        for _ in range(HALVINGS if low < high else 0):
            middle = math.sqrt(low * high)
            found = self._with_exponent(middle, levels)
            low, high = (low, middle) if found is None else (middle, high)
            every += [] if found is None else [found]
        return every

    def _with_exponent(self, theta: float, levels: int) -> Tilted | None:
        """Return the chain with an exponent; None where the largest eigenvalue is 1 or more."""
        watch.at()
        rows, columns, values = self._chain.transform(NOTHING, theta * self._due / NOTHING, levels)
        more = math.exp(theta * self._due)
        ends = more * self._by_state(rows, values)
        tilted = self._chain.transform(theta, self._due, levels)
        try:
            used_up = self._solved(tilted, ends)
        except (RuntimeError, np.linalg.LinAlgError):  # a line has an eigenvalue of 1
            return None
        off = np.abs(used_up - ends - self._by_state(tilted[0], tilted[2] * used_up[tilted[1]]))
        if not (used_up.min() > 0.0 and (off <= RESIDUAL * used_up).all()):
            return None
        return Tilted(theta, used_up, self._by_state(rows, values * (used_up[columns] + more)))

    def _by_state(self, rows: Ints, values: Floats) -> Floats:
        return np.bincount(rows, values, self._chain.n_states).astype(np.float64)

    @cached_property
    def _all_visits(self) -> Floats:
        return self._visits(self._packets)

    def _visits(self, packets: float) -> Floats:
        """Return how often each state comes while less has been received, times exp(-1) at least."""
        rows, columns, values = self._while(packets)
        return self._solved((columns, rows, values), np.eye(1, self._chain.n_states, self._chain.first_state)[0])

    def _while_less(self, packets: float, each: Floats) -> Floats:
        """Return sums over the same transitions by the first state, times exp(-1) at least."""
        return self._solved(self._while(packets), each)

    def _once_full(self, each: Floats) -> float:
        """Return sums over the transitions that begin in as many rounds as the video has, once a buffer is full.

        Each counts exp(-1) at least. The first of them begins in a state that has come before.
        """
        rounds = self._packets / self._due
        least = ROUNDING / (rounds * self._chain.largest_round)  # what is received counts for nothing
        found = self._solved(self._chain.transform(least, -(1 - ROUNDING) / (rounds * least)), each)
        return min(float(found.max()), math.e * float(self._all_visits @ found))

    def _while(self, packets: float) -> tuple[Ints, Ints, Floats]:
        return self._chain.transform(1 / (packets + self._chain.largest_round), 0.0)

    def _solved(self, moves: tuple[Ints, Ints, Floats], right: Floats) -> Floats:
        """Return x = b + A x."""
        rows, columns, values = moves
        every = np.arange(self._chain.n_states)
        return solve(
            np.append(every, rows), np.append(every, columns), np.append(np.ones(len(every)), -values), right,
            self._chain.junction_states,
        )  # fmt: skip

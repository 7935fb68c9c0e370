"""What every TCP chain is: transitions, and what follows from them.

A new TCP needs `Chain.transitions` and nothing else. Chains of which more is known say so by their `Features`, and have
operators of their own in `tcpstream.transient` and `tcpstream.stationary`, which are faster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Flag, auto
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, InputError
from ..numerics.linear import solve
from .growth import Growth
from .silences import LEVELS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STATES = 1_000_000
"""Largest chain that is tried."""

STATIONARY = 1e-10
"""Residual of the stationary distribution that is accepted."""

MOST_ROUNDS = 1e9
"""Of a transition, exclusive."""

BALANCED = 1e-9
"""Distance from 1 that the probabilities of a state may have together."""


class Features(Flag):
    """What fast operators know about a chain; without any, every state is written out."""

    WRITTEN_OUT = 0
    BURST_LOSSES = auto()
    INDEPENDENT_LOSSES = auto()
    PREAMBLE = auto()
    """States before those of congestion avoidance: slow start, and rounds that repair."""


@dataclass(frozen=True)
class Transitions:
    """Every transition of a chain, one a row.

    Attributes
    ----------
    start : int
        State in which a video begins.
    from_state, to_state : (k,) int arrays
        States, 0 .. n - 1.
    probability : (k,) array
        Those from one state sum to 1.
    received : (k,) int array
        Packets that arrive in the first round of the transition.
    in_order : (k,) int array
        Those of them that are in order then; the others are at the end of the next round.
    rounds : (k,) int array
        How long the transition takes, 1 at least.
    labels : list of n tuples
        What each state is called.
    fields : tuple of str
        Names of the elements of a label; the back-off level, if any, is called ``e``.
    """

    start: int
    from_state: Ints
    to_state: Ints
    probability: Floats
    received: Ints
    in_order: Ints
    rounds: Ints
    labels: list[tuple[Any, ...]]
    fields: tuple[str, ...]

    @classmethod
    def of(
        cls,
        labels: list[tuple[Any, ...]],
        rows: list[tuple[int, int, float, int, int, int]],
        start: int = 0,
        fields: tuple[str, ...] = ("w", "c", "l", "e", "r"),
    ) -> Transitions:
        """Return the transitions of rows: from state, to state, probability, received, in order, rounds.

        Raises
        ------
        InputError
            For probabilities that do not sum to 1, packets that are not whole numbers, and moves of less than a round.
        """
        for label in labels:
            if len(label) != len(fields):
                raise InputError(f"a state has a value for each of {', '.join(fields)}, got {label}")
        for from_, _, chance, packets, ordered, lasts in rows:
            if not -BALANCED <= chance <= 1 + BALANCED:  # rounding may leave less than nothing
                raise InputError(f"a probability lies between 0 and 1, got {chance:g} from state {labels[from_]}")
            if not (0 <= ordered <= packets and packets == int(packets) and ordered == int(ordered)):
                raise InputError(
                    "packets received and in order are whole numbers, the latter between 0 and the former, "
                    f"got {packets:g} and {ordered:g} from state {labels[from_]}"
                )
            if not (1 <= lasts < MOST_ROUNDS and lasts == int(lasts)):
                raise InputError(f"a transition takes 1 round or more, got {lasts:g} from state {labels[from_]}")
        from_state, to_state, probability, received, in_order, rounds = map(np.array, zip(*rows))
        made = cls(start, from_state, to_state, probability, received, in_order, rounds, labels, fields)
        sums = np.bincount(made.from_state, made.probability, len(labels))
        if not np.abs(sums - 1).max() < BALANCED:
            state = int(np.argmax(np.abs(sums - 1)))
            raise InputError(f"the probabilities from state {labels[state]} sum to {sums[state]:.12g}, not to 1")
        return made

    @property
    def n_states(self) -> int:
        """N."""
        return len(self.labels)

    @cached_property
    def level(self) -> Ints:
        """Back-off level of each state, 0 outside a timeout."""
        if "e" not in self.fields:
            return np.zeros(len(self.labels), dtype=np.int64)
        e = self.fields.index("e")
        return np.array([label[e] for label in self.labels], dtype=np.int64)


class Chain(ABC):
    """A TCP chain: transitions between states, each with packets and rounds.

    All that is not abstract follows from the transitions; a family of chains may compute the same in other ways, over
    states of its own.
    """

    @property
    def features(self) -> Features:
        """What selects the operators that follow the chain."""
        return Features.WRITTEN_OUT

    @abstractmethod
    def transitions(self) -> Transitions:
        """Return every transition, written out."""

    @cached_property
    def written_out(self) -> Transitions:
        """The transitions, made once."""
        return self.transitions()

    @property
    def n_states(self) -> int:
        """States of `transform`."""
        return self.written_out.n_states

    @property
    def first_state(self) -> int:
        """In which a video begins."""
        return self.written_out.start

    @property
    def varies(self) -> bool:
        """Whether the chain is one of regimes, which change in its states from round to round."""
        return False

    @property
    def n_regimes(self) -> int:
        """How many regimes there are: one where nothing changes."""
        return 1

    def regime_of(self, states: Ints) -> Ints:
        """Return the number of the regime of some states of `transform`, 0 before one is known."""
        return np.zeros_like(states)

    @property
    def pauses(self) -> Growth | None:
        """Where a round leads in which nothing can be sent, over the states of `transform`; None where all stay."""
        return None

    @property
    def packets_between_losses(self) -> float:
        """Packets from loss to loss, about: nobody knows more of a chain that is written out than its largest round."""
        return max(float(self.largest_round), 2.0)

    @property
    def largest_round(self) -> int:
        """Packets that arrive in a round at most."""
        return int(self.written_out.received.max())

    @property
    def junction_states(self) -> Ints | None:
        """States that many lead to, if the others lead to each other in a few long lines only."""
        return None

    def longest_wait(self, levels: int = LEVELS) -> int:
        """Return the rounds of the longest transition out of back-off levels up to `levels`."""
        rows = self.written_out
        return int(rows.rounds[rows.level[rows.from_state] <= levels].max())

    @property
    def total_wait(self) -> int:
        """Rounds of all waits together, the longest to each state."""
        rows, longest = self.written_out, np.zeros(self.written_out.n_states, dtype=np.int64)
        np.maximum.at(longest, rows.to_state, rows.rounds - 1)
        return int(longest.sum())

    @property
    def followed_states(self) -> float:
        """What has to be followed of each position and round: states, or transitions where these are written out."""
        return float(len(self.written_out.from_state) + self.total_wait)

    @property
    def n_cells(self) -> int:
        """States times the largest window: what a live solve costs."""
        return round(self.followed_states) * self.largest_round

    def most_received(self, rounds: int) -> float:
        """Return the most packets that can ever arrive in so many rounds."""
        return float(self.largest_round * rounds)

    def transform(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions between states.

        As rows, columns and values of a matrix; the transition matrix itself at ``theta = 0``.

        Parameters
        ----------
        theta : float
            Exponent [1/packet].
        packets_due : float
            m, packets due per round.
        levels : int
            Back-off levels kept; what would go beyond is left out.
        """
        rows = self.written_out
        kept = np.ones(len(rows.from_state), dtype=np.bool_)
        if levels < LEVELS:
            kept = rows.level[rows.to_state] <= levels
        tilt = np.exp(theta * (packets_due * rows.rounds - rows.received))
        return rows.from_state[kept], rows.to_state[kept], (rows.probability * tilt)[kept]

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets received and mean rounds of the transitions from each state of `transform`."""
        rows = self.written_out
        packets, rounds = (
            np.bincount(rows.from_state, rows.probability * each, rows.n_states)
            for each in (rows.received, rows.rounds)
        )
        return packets.astype(np.float64), rounds.astype(np.float64)

    @cached_property
    def stationary(self) -> Floats:
        """Stationary distribution of the chain embedded at its transitions, over the states of `transform`.

        Raises
        ------
        AccuracyError
            When the linear solve leaves a residual above 1e-10.
        """
        n = self.n_states
        rows, columns, values = self.transform(0.0, 0.0)
        if self.features is Features.WRITTEN_OUT:
            self._check_recurrent()
        all_states, others = np.arange(n), columns < n - 1  # the last balance follows from the others
        pi = solve(
            np.concatenate([all_states[:-1], columns[others], np.full(n, n - 1)]),
            np.concatenate([all_states[:-1], rows[others], all_states]),
            np.concatenate([np.ones(n - 1), -values[others], np.ones(n)]),
            np.eye(1, n, n - 1)[0],
            self.junction_states,
        )
        residual = float(np.abs(np.bincount(columns, pi[rows] * values, n) - pi).sum())
        if not residual < STATIONARY:
            raise AccuracyError(f"stationary distribution of the TCP chain: residual {residual:.1e} exceeds 1e-10")
        return np.asarray(pi)

    def _check_recurrent(self) -> None:
        """Raise `InputError` unless the chain comes back to the same states for ever, and delivers there."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        rows, columns, _ = self.transform(0.0, 0.0)
        n = self.n_states
        graph = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        count, of = connected_components(graph, directed=True, connection="strong")
        leaves = np.zeros(count, dtype=np.bool_)
        leaves[of[rows[of[rows] != of[columns]]]] = True
        (closed,) = np.nonzero(~leaves)
        if len(closed) != 1:
            raise InputError(
                f"the TCP chain ends in one of {len(closed)} sets of states that it never leaves: no one throughput"
            )
        if not self.per_transition[0][of == closed[0]].any():
            raise InputError("the TCP chain ends in states in which it delivers nothing: it has no throughput")

    @cached_property
    def packets_per_round(self) -> float:
        """Throughput in the long run [packets per round]."""
        packets, rounds = self.per_transition
        mean = float((self.stationary @ packets) / (self.stationary @ rounds))
        if not math.isfinite(mean):
            raise AccuracyError("the TCP chain has no finite throughput")
        return mean

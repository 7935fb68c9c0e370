"""A chain of regimes: that of TCP, each regime with its own, and the regime beside it.

A transition is one of the regime in which it begins. At its end the regime may be another one, which takes the state
over (`tcp.places`): so losses and rates are those of the regime at the beginning of each round, and a silence is as
long as it was when it began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .chain import Chain, Features, Transitions
from .growth import Growth
from .independent import IndependentChain
from .silences import LEVELS, Silences, Wait
from .switching import Switching

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class VaryingChain(Chain):
    """Chains of independent losses, one a regime, with the same silences.

    States of `transform` are those of the first regime, of the second, and so on, each as `IndependentChain` has them;
    and, where no regime is known in which a video begins, one behind them for its start.

    Attributes
    ----------
    parts : tuple of k IndependentChain
    switching : Switching
        Of the k regimes.
    maps : tuple of k tuples of k int arrays
        State of regime j that takes over from each state of regime i: ``maps[i][j]``.
    begins : (k,) array
        Probability of each regime at the start.
    """

    parts: tuple[IndependentChain, ...]
    switching: Switching
    maps: tuple[tuple[Ints, ...], ...]
    begins: Floats

    @property
    def features(self) -> Features:  # noqa: D102
        return Features.INDEPENDENT_LOSSES

    @property
    def varies(self) -> bool:  # noqa: D102
        return True

    @property
    def n_regimes(self) -> int:  # noqa: D102
        return len(self.parts)

    def regime_of(self, states: Ints) -> Ints:  # noqa: D102
        return np.maximum(self.regimes[states], 0)

    @cached_property
    def offsets(self) -> Ints:
        """First state of each regime, and the number of states of all."""
        return np.append(0, np.cumsum([part.n_states for part in self.parts]))

    @cached_property
    def regimes(self) -> Ints:
        """Regime of each state, -1 for that before a regime is known."""
        known = np.repeat(np.arange(len(self.parts)), np.diff(self.offsets))
        return known if self.known_begin is not None else np.append(known, -1)

    @property
    def known_begin(self) -> int | None:
        """The regime in which a video begins, if it is known."""
        (certain,) = np.nonzero(self.begins == 1.0)
        return int(certain[0]) if len(certain) else None

    @property
    def n_states(self) -> int:  # noqa: D102
        return int(self.offsets[-1]) + (self.known_begin is None)

    @property
    def first_state(self) -> int:  # noqa: D102
        known = self.known_begin
        return self.n_states - 1 if known is None else int(self.offsets[known]) + self.parts[known].first_state

    @cached_property
    def packets_between_losses(self) -> float:  # noqa: D102
        sent = [share * part.packets_per_round for share, part in zip(self.switching.shares, self.parts)]
        losses = sum(each / part.packets_between_losses for each, part in zip(sent, self.parts))
        return float(sum(sent) / losses)

    @property
    def largest_round(self) -> int:  # noqa: D102
        return max(part.largest_round for part in self.parts)

    def longest_wait(self, levels: int = LEVELS) -> int:  # noqa: D102
        return max(part.longest_wait(levels) for part in self.parts)

    @property
    def total_wait(self) -> int:  # noqa: D102
        return sum(part.total_wait for part in self.parts)

    @property
    def followed_states(self) -> float:  # noqa: D102
        return sum(part.followed_states for part in self.parts)

    def changes(self) -> Iterator[tuple[int, int, Ints]]:
        """Give each regime, each that may follow, and the states of all that take over from those of the first."""
        for i, row in enumerate(self.maps):
            for j, to in enumerate(row):
                yield i, j, to + self.offsets[j]

    @cached_property
    def pauses(self) -> Growth:
        """Where a round leads in which nothing can be sent: a regime may change in it."""
        chances = self.switching.after(1)
        moves = Growth.none()
        for i, j, to in self.changes():
            moves = moves.joined(Growth(np.arange(len(to)) + self.offsets[i], to, np.full(len(to), chances[i, j])))
        if self.known_begin is None:
            last = np.array([self.n_states - 1])
            moves = moves.joined(Growth(last, last, np.ones(1)))
        return moves

    @cached_property
    def per_transition(self) -> tuple[Floats, Floats]:
        """Mean packets received and mean rounds of the transitions from each state of `transform`."""
        packets, rounds = (np.concatenate(each) for each in zip(*(part.per_transition for part in self.parts)))
        if self.known_begin is not None:
            return packets, rounds
        at = self.offsets[:-1] + [part.first_state for part in self.parts]
        return np.append(packets, self.begins @ packets[at]), np.append(rounds, self.begins @ rounds[at])

    def transform(self, theta: float, packets_due: float, levels: int = LEVELS) -> tuple[Ints, Ints, Floats]:
        """Return the sums of P exp(theta (m d - S)) over the transitions between states; see `Chain.transform`."""
        once, found = self.switching.after(1), []
        for i, j, to in self.changes():
            if once[i, j] == 0.0:
                continue
            part = replace(self.parts[i], silences=self._changing(self.parts[i].silences, i, j))
            rows, columns, values = part.transform(theta, packets_due, levels)
            found.append((rows + self.offsets[i], to[columns], values * once[i, j]))
            if self.known_begin is None:
                first = rows == part.first_state
                start = np.full(int(first.sum()), self.n_states - 1)
                found.append((start, to[columns[first]], values[first] * once[i, j] * self.begins[i]))
        from_, into, weights = (np.concatenate(one) for one in zip(*found))
        return from_, into, weights

    def _changing(self, silences: Silences, i: int, j: int) -> Silences:
        """Return silences weighted by how much more probable a change is in them than in a round."""
        once = self.switching.after(1)[i, j]

        def one(wait: Wait) -> Wait:
            return tuple((d, weight * float(self.switching.after(d)[i, j] / once)) for d, weight in wait)

        return Silences(one(silences.whole_loss), one(silences.unrepaired), tuple(map(one, silences.backoff)))

    def transitions(self) -> Transitions:
        """Return every transition; labels begin with the number of the regime."""
        every = [part.written_out for part in self.parts]
        columns: list[tuple[Ints, Ints, Floats, Ints, Ints, Ints]] = []
        for i, j, to in self.changes():
            rows = every[i]
            chances = np.array([self.switching.after(d)[i, j] for d in range(1, int(rows.rounds.max()) + 1)])
            chance = rows.probability * chances[rows.rounds - 1]
            sources, targets = rows.from_state + self.offsets[i], to[rows.to_state]
            columns.append((sources, targets, chance, rows.received, rows.in_order, rows.rounds))
            if self.known_begin is None:
                at = np.flatnonzero(rows.from_state == rows.start)
                begin = np.full(len(at), self.n_states - 1), targets[at], chance[at] * self.begins[i]
                columns.append((*begin, rows.received[at], rows.in_order[at], rows.rounds[at]))
        labels = [(i, *label) for i, rows in enumerate(every) for label in rows.labels]
        if self.known_begin is None:
            labels.append((-1, 1, 0, 0, 0, 0))
        from_, into, probability, received, in_order, rounds = (np.concatenate(one) for one in zip(*columns))
        fields = ("regime", *every[0].fields)
        return Transitions(self.first_state, from_, into, probability, received, in_order, rounds, labels, fields)

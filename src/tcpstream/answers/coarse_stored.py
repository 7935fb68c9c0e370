"""Stored media at ordinary rates: the answers of coarse lattices, each with its error."""

from __future__ import annotations

import math
from collections.abc import Hashable
from contextlib import suppress
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError, TimeLimitError
from ..numerics.curves import smallest_delay
from ..path import Path
from ..system.threads import on_cores
from ..tcp import Varying
from ..video import Video
from .answer import probabilities
from .answer import startup_delay as checked_delay
from .arrivals import Arrivals, delivered_quantiles
from .coarse_alpha import FEW_ROUNDS
from .coarse_arrivals import ABOVE, BLOCK, NONE, STEPS, CoarseArrivals
from .plan import SPAN, exact_seconds, plan
from .several import Several
from .stored_rounds import ROUNDING
from .stored_streaming import CERTAIN, StoredStreaming
from .sums_over_rounds import ends
from .timeline import Timeline
from .two_lattices import finite, stated

Floats = NDArray[np.float64]

FLOOR = 2e-11
"""Late fraction that is lost in what is not followed."""

NO_LATE_FLOOR = 3e-8
"""The same of the probability of a late packet, which is off by up to this where long waits decide it."""

MARGIN = 100.0
"""Below the floor by this factor nothing is late."""

SHORT = 0.5
"""Part of the error of alpha for what single packets decide. It falls by e in `FEW_ROUNDS` rounds of delay."""

ALPHA_FACTOR = 2.0
"""As `coarse.resolution.FACTOR`, of alpha, whose lattice is right to the second order in its quanta: twice the index of
Roache there."""

ONE_ROUND = 1.0
"""Of delay, up to which alpha is exact, or between bounds; up to `FEW_ROUNDS` it is exact where that is quick."""

FIRST = 4
"""Rounds in which a packet is surely late if the video starts too early."""

QUICK, AT_ONCE = 10.0, 0.3
"""CPU seconds that an exact alpha may take; and at any delay, where lattices are rough."""

PART, RARE, OF_RARE = 0.5, 1e-6, 0.05
"""Of a packet, by which single ones may be off where the largest window limits TCP; and late fractions below which few
paths decide, of which lines of CUBIC stand for others, and by what part."""


class CoarseStored(StoredStreaming):
    """Stored media on coarse lattices, whose quanta grow with the spread of what has arrived.

    Every answer is computed at two resolutions: `relative_error` and `no_late_error` come from their difference.
    """

    _arrivals: Any

    def __init__(self, path: Path | Varying, video: Video, horizon: str, arrivals: CoarseArrivals) -> None:
        super().__init__(path, video, horizon, arrivals)  # type: ignore[arg-type]
        self._coarser = arrivals.coarser()
        self._at_short: dict[float, tuple[float, float]] = {}

    @overload
    def relative_error(self, startup_delay: float) -> float: ...

    @overload
    def relative_error(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def relative_error(self, startup_delay: ArrayLike) -> Any: ...

    def relative_error(self, startup_delay: ArrayLike) -> Any:
        """Return the relative error of the late fraction.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], >= 0.

        Returns
        -------
        float or ndarray
            Of the shape of `startup_delay`; infinite where the late fraction is 0 but for what is not followed.
        """
        return self._over_delays(startup_delay, self._late_error)

    @property
    def error_bound(self) -> float:
        """Probability that is not followed; `relative_error` comes on top."""
        return FLOOR

    @property
    def quantum_error(self) -> float:
        """Relative error of f where it is 1e-4; `relative_error` says it elsewhere."""
        return self._late_error(self.required_delay())

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s], with the relative errors of f and 1 - alpha, ready for JSON."""
        found = super().to_dict(delays)
        if len(found["startup_delay_s"]):
            found["late_fraction_relative_error"] = [finite(x) for x in self.relative_error(delays)]
            found["late_probability_relative_error"] = [finite(x) for x in self.no_late_error(delays)]
        return found

    def buffer_quantiles(
        self, startup_delay: float, quantiles: ArrayLike = (0.05, 0.25, 0.5, 0.75, 0.95)
    ) -> tuple[Floats, Floats]:
        """As `StoredStreaming.buffer_quantiles`, between the points of the lattices."""
        wanted = probabilities("quantile", quantiles)
        due = self.due_by_round(checked_delay(startup_delay))
        everything = CoarseArrivals(self.path, self._arrivals.cases, self._arrivals.resolution, follow_all=True)
        edge = everything.first
        first = delivered_quantiles(everything.chain, edge, 1, len(due), wanted)
        shape = len(wanted), len(due)
        low, high = np.full(shape, float(edge)), np.full(shape, float(self.timeline.packets))
        for u, below, above in zip(wanted, low, high):
            while (above - below).max() > 0.5:
                middle = (below + above) / 2
                less = everything.late(middle) >= u
                above[less], below[~less] = middle[less], middle[~less]
        high = np.where(first < edge, first, np.floor(high))
        return self.timeline.ends(len(due)), np.minimum(high, self.video.packets) - due

    def _due(self, tau: float) -> Floats:
        return self.due_by_round(tau)

    def _late_at(self, tau: float) -> float:
        return self._late_on(self._arrivals, tau)

    def _late_on(self, arrivals: CoarseArrivals, tau: float) -> float:
        return min(max(arrivals.late_packets(self.timeline, tau) / self.timeline.judged, 0.0), 1.0)

    def _lower_bound(self, tau: float) -> float:
        """Return the bound from rounds block by block, until others hardly change it."""
        arrivals, due = self._arrivals, np.ceil(self._due(tau))
        passed, number = arrivals.passed(self.timeline, self.timeline.rounds(tau)), np.arange(len(due))
        total, before, begin = 0.0, 0.0, 0
        while begin < len(due):
            end = int(min(max(BLOCK * begin, passed, STEPS), len(due)))
            P = arrivals.late(np.where(number < begin, 0.0, due)[:end])
            if P.max() >= 1 - CERTAIN:
                return 0.0
            part = -float(np.log1p(-P).sum())
            total += part
            if begin and ends(total, part, before, NONE):
                break
            before, begin = part, end
        return math.exp(-total)

    def _late_error(self, tau: float) -> float:
        both, least = (self._arrivals, self._coarser), self._arrivals.resolution.least
        late, other = on_cores(lambda one: self._late_on(one, tau), both)
        if self._arrivals.scale.limited and late > FLOOR:  # little is random: single packets decide
            part = PART / self.video.packet_rate
            low = max(tau - part, 0.0)
            change = abs(self._late_at(low) - self._late_at(low + 2 * part)) / late
            least += change / (2 if low else 1) + OF_RARE * (late < RARE)
        return stated(late, other, least, FLOOR)

    def _alike(self, tau: float) -> Hashable:
        return tau  # lattices of leads tell all delays apart

    def _no_late_at(self, tau: float) -> float:
        if tau not in self._no_late:
            if self._is_short(tau):
                self._no_late[tau] = self._short(tau)[0]
            else:
                self._no_late[tau] = 1.0 if self._is_over(tau) else self._on_lattices(tau)
        return self._no_late[tau]

    def _on_lattices(self, tau: float) -> float:
        """Return alpha; where lattices do not converge, or blur a step, from an exact solve if that is quick."""
        if self._ends_late(tau):
            self._at_short[tau] = 0.0, 0.0
            return 0.0
        both = [self._arrivals, self._coarser] if self._arrivals.scale.limited or self._overloaded else [self._arrivals]
        try:
            found = [math.inf] if self._is_stair(tau) else [one.never_late(self.timeline, tau)[0] for one in both]
        except AccuracyError as error:
            if isinstance(error, TimeLimitError) or self._known_exactly is None:
                raise
            found = [math.inf]
        unsure = max(found) > 1 + ABOVE or (self._overloaded and 1 - found[0] <= NO_LATE_FLOOR)
        if unsure and self._known_exactly is not None:
            alpha = self._exact(tau, np.ceil(self.due_by_round(tau)))
            if alpha is not None:
                self._at_short[tau] = alpha, 0.0
                return alpha
        return float(min(max(found[0], 0.0), 1.0))

    @cached_property
    def _seconds(self) -> float:
        """CPU seconds that an exact alpha takes, about."""
        return exact_seconds(self._arrivals.chain, [self.timeline])

    @property
    def _overloaded(self) -> bool:
        """Whether T is below mu, and an exact solve is quick: alpha may nearly be a step, which lattices blur."""
        return self._arrivals.chain.packets_per_round < self.timeline.packets_due and self._seconds <= QUICK

    def _is_stair(self, tau: float) -> bool:
        """Whether a delay longer than the video, where alpha is a staircase, is solved exactly at once."""
        if not self._overloaded or self._seconds > AT_ONCE or self._known_exactly is None:
            return False
        return self.timeline.rounds(tau) > self.timeline.length

    def _ends_late(self, tau: float) -> bool:
        """Return whether a packet of the last round is late, but for what is not followed; never where T is enough."""
        if self._arrivals.chain.packets_per_round >= self.timeline.packets_due:
            return False
        due = np.ceil(self.due_by_round(tau))
        due[:-1] = 0.0
        return float(self._arrivals.late(due)[-1]) >= 1 - NO_LATE_FLOOR

    def _short(self, tau: float) -> tuple[float, float]:
        """Return alpha at a short delay, and how far it is off: by nothing where it is followed to the packet.

        Where that takes too much alpha lies between its lower bound and what it is after the next longer delays.
        """
        if tau not in self._at_short:
            due = np.ceil(self.due_by_round(tau))
            if float(self._arrivals.late(due[:FIRST]).max(initial=0.0)) >= 1 - CERTAIN:
                self._at_short[tau] = 0.0, 0.0
            elif (alpha := self._exact(tau, due)) is not None:
                self._at_short[tau] = alpha, 0.0
            else:
                late, off = self.stalled(np.array([self._after_short]))
                most = min(1 - float(late[0] - off[0]), 1.0)
                least = min(self._lower_bound(tau) ** (1 + self._late_error(tau)), most)
                self._at_short[tau] = (least + most) / 2, (most - least) / 2
        return self._at_short[tau]

    def _exact(self, tau: float, due: Floats) -> float | None:
        """Return alpha from an exact solve, None where that would take too much."""
        solved = self._solved if math.isinf(self._exact_rounds) else self._affordable
        if solved is None:
            return None
        alpha, lost = solved._arrivals.never_late(due)
        if lost > FLOOR:
            raise AccuracyError(
                f"startup delay {tau:g} s: {lost:.1e} of the probability was lost, more than {FLOOR:.0e}"
            )
        return min(max(alpha, 0.0), 1.0)

    def _is_over(self, tau: float) -> bool:
        """Return whether all has arrived before it is played: P(a packet is late) is at most their mean number."""
        late = self._late_at(tau) * self.timeline.judged if self.timeline.rounds(tau) > self.timeline.length else 1.0
        return late < NO_LATE_FLOOR / MARGIN

    def _is_short(self, tau: float) -> bool:
        return tau in self._at_short or self.timeline.rounds(tau) <= self._exact_rounds + ROUNDING

    @cached_property
    def _exact_rounds(self) -> float:
        """Rounds of delay up to which alpha is exact."""
        if self._falls and self._seconds <= AT_ONCE:
            return math.inf
        span = SPAN * self._arrivals.lead
        return FEW_ROUNDS if exact_seconds(self._arrivals.chain, [self.timeline], span) <= QUICK else ONE_ROUND

    @property
    def _falls(self) -> bool:
        """Whether a lead falls even without losses: alpha nearly has a step, which lattices blur."""
        return bool(self._arrivals.scale.limited and self._arrivals.chain.largest_round < self.timeline.packets_due)

    @property
    def alpha_known_from(self) -> float:
        """Startup delay [s] from which alpha takes no exact solve, or one that takes no time."""
        return self._after_short if math.isfinite(self._exact_rounds) else 0.0

    @property
    def _after_short(self) -> float:
        """Startup delay [s] from which lattices know alpha, a round trip or some."""
        return self.path.rtt * (self._exact_rounds + 2 * ROUNDING)

    @cached_property
    def _affordable(self) -> StoredStreaming | None:
        """The exact solve, None where that would take too much."""
        with suppress(AccuracyError):
            return self._solved
        return None

    @cached_property
    def _solved(self) -> StoredStreaming:
        cases = [Timeline.of(self.path, self.video)]
        exact = Arrivals(self.path, cases, plan(self._arrivals.chain, cases, 1))
        return StoredStreaming(self.path, self.video, self.horizon, exact)

    @cached_property
    def _known_exactly(self) -> StoredStreaming | None:
        """The exact solve where it is quick, and has memory enough."""
        if self._seconds > QUICK:
            return None
        return self._affordable

    def _no_late_error(self, tau: float) -> float:
        late = 1 - self._no_late_at(tau)
        if self._is_short(tau):
            alpha, off = self._short(tau)
            return off / (1 - alpha) if off > 0 else 0.0
        if self._is_over(tau):
            return 0.0
        _, off, edge = self._arrivals.never_late(self.timeline, tau)
        apart = max(abs(1 - self._coarser.never_late(self.timeline, tau)[0] - late), edge / ALPHA_FACTOR)
        least = self._arrivals.resolution.least_no_late + SHORT * math.exp(-self.timeline.rounds(tau) / FEW_ROUNDS)
        return stated(late, late - apart, least + off / max(late, NO_LATE_FLOOR), NO_LATE_FLOOR, ALPHA_FACTOR)

    def _no_late_off(self, tau: float) -> float:
        self._no_late_at(tau)
        if self._is_short(tau):
            return self._short(tau)[1]
        if self._is_over(tau):
            return 0.0
        alpha, off, edge = self._arrivals.never_late(self.timeline, tau)
        return float(max(ALPHA_FACTOR * abs(alpha - self._coarser.never_late(self.timeline, tau)[0]), edge) + off)

    @property
    def _no_late_floor(self) -> float:
        return NO_LATE_FLOOR

    def _delay_without_late(self, wanted: float) -> float:
        if math.isinf(self._exact_rounds):
            return self._solved.required_delay(no_late=wanted)
        if 1 - wanted < 10 * NO_LATE_FLOOR:
            raise AccuracyError(
                f"a probability of a late packet of {1 - wanted:.1e} is finer than {10 * NO_LATE_FLOOR:.0e}: give a "
                "smaller probability of no late packet, or accuracy=exact"
            )
        R, shortest = self.path.rtt, (self._exact_rounds + 1) * self.path.rtt
        if self._no_late_at(shortest) < wanted:
            return smallest_delay(self.stalled_at_worst, 1 - wanted, 2 * shortest, low=shortest, tolerance=R / 250)
        if self._known_exactly is not None:
            return self._known_exactly.required_delay(no_late=wanted)
        return smallest_delay(self.stalled_at_worst, 1 - wanted, shortest, low=self._after_short, tolerance=R / 250)

"""What viewers of a player with buffer thresholds see, solved at two finenesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial.laguerre import laggauss
from numpy.typing import NDArray
from scipy.special import entr

from ..coarse.resolution import FACTOR, Scale
from ..errors import AccuracyError, InputError, TimeLimitError
from ..path import Path
from ..playout.deliveries import Deliveries, deliveries
from ..playout.fineness import RATIOS, Fineness
from ..playout.measures import measures
from ..playout.player_moves import PlayerMoves
from ..playout.renewals import renewals
from ..playout.segment_sessions import STALLS
from ..playout.sessions import Sessions, check, products, sessions
from ..system.threads import on_cores
from ..tcp import Chain, Varying
from ..tcp.idle_restart import GUESSED
from ..video import Video
from .held_at_most import HeldAtMost
from .joining import Delivered, JoinTimes, joined
from .player_fineness import fineness, is_followed, is_quick
from .quadrature import NODES, between_points, quadrature_error
from .rarely_stalled import RarelyStalled
from .reach import Reach
from .seen_by_viewers import Seen
from .stall_by_stall import StallByStall
from .timeline import Timeline

Floats = NDArray[np.float64]

RISK, FEW = 1e-10, 2e-6
"""What is stated to be off at least; and what larger leads may still change on lattices, which is stated, too: of P(any
stall), and of stalled seconds."""

SLACK = 1e-2
"""Part of an answer that more than the largest lead may still change."""

ONE_MODE = 0.05
"""Part of an answer that may be missed by one mode, which is stated; larger leads would not change it."""

STEADY = 1.5
"""Mean times from loss to loss in which what changes quickly from place to place fades, about."""

LEAST = 1e-3
"""Part of an answer that is stated to be off at least, where quanta are not whole packets."""

FEW_LINES = 0.04
"""Part of the stalls that lines of CUBIC a ratio of 1.3 apart may miss, which is stated: 1 to 3% were seen, of P(any
stall), of either sign."""

HALF = 0.5
"""Packets by which places in a round differ at most."""

FEWER = 3.0
"""Times less that a pass takes which follows the first stall alone, about."""

COUNTS = STALLS
"""Numbers of stalls that are told apart: 0 to 3."""


class TwoFinenesses:
    """A path, a video and a player at a constant rate; `counts` numbers of stalls are told apart."""

    def __init__(
        self, chain: Chain, path: Path | Varying, video: Video, held: HeldAtMost | None = None, counts: int = COUNTS
    ) -> None:  # fmt: skip
        if video.curve is not None:
            raise InputError("a player with buffer thresholds is followed at a constant rate, got a playback curve")
        self._chain, self._rtt, self._video, self._counts = chain, path.rtt, video, counts
        self._held, self._lines_apart = held, path.tcp == "cubic"  # its lines do, for those between them
        self._scale, timeline = Scale.of(chain), Timeline.of(path, video)
        self._due, self._length = timeline.packets_due, timeline.length
        self._reach = Reach(chain, self._scale, self._due)
        self._made: dict[Fineness, PlayerMoves] = {}
        self._path = path

    @cached_property
    def _fine(self) -> Fineness:
        return fineness(
            self._chain, self._due, self._length, self._scale.recovered, self._reach.decay, self._columns, self._held,
            self._lines_apart,
        )  # fmt: skip

    @property
    def _columns(self) -> int:
        return self._counts + 2 + NODES

    @cached_property
    def _stalls(self) -> StallByStall:
        return StallByStall(self._chain, self._scale, self._length, self._reach.decay, self._fine)

    def solve(
        self, starts: Sequence[float], resume: float, lengths: int = 1, at_once: Callable[..., Iterable[Any]] = map
    ) -> list[Seen]:  # fmt: skip
        """Return what viewers see that start with some media held [s], each of `starts`, all from the same passes.

        Parameters
        ----------
        starts : sequence of float
        resume : float
            With which they resume [s].
        lengths : int
            Of the video from its begin for which the probability of no stall is kept, about.
        at_once : callable, optional
            As `map`, for passes that do not depend on each other.

        Raises
        ------
        AccuracyError
            Where it takes too long, or too much memory, or does not converge.
        """
        known = {start: self._if_rare(start, resume) for start in starts}
        left = [start for start in starts if known[start] is None]
        found = iter(self._followed(left, resume, lengths, at_once) if left else [])
        return [known[start] or next(found) for start in starts]

    def missed(self, starts: Sequence[float], resume: float, column: int) -> tuple[Floats, Floats]:
        """Return an answer for some media held at the start [s], and how far it is off.

        Where players cannot be followed, and stalls are not rare, it is anything from 0 to 2.
        """
        if self._is_followed:
            seen: Sequence[Seen | None] = self.solve(starts, resume)
        else:
            seen = [self._if_rare(start, resume) for start in starts]
        answers, errors = zip(*((one.answers[column], one.errors[column]) if one else (1.0, 1.0) for one in seen))
        return np.array(answers), np.array(errors)

    def _if_rare(self, start: float, resume: float) -> Seen | None:
        """Return what viewers see where next to none see a stall and passes take long; None elsewhere."""
        return self._rare.seen(self._packets(start), self._packets(resume)) if self._rare else None

    @cached_property
    def _rare(self) -> RarelyStalled | None:
        if self._held is not None:
            return None
        if self._is_followed and self.is_quick:
            return None
        return RarelyStalled(self._chain, self._path, self._due, self._video.packets, self._counts, self._is_followed)

    @property
    def is_quick(self) -> bool:
        """Whether a pass takes little time, even if it follows all leads."""
        return is_quick(self._fine, self._chain, self._length, self._columns)

    @cached_property
    def _is_followed(self) -> bool:
        """Whether the player can be followed at all, for minutes perhaps."""
        if self._held is not None:
            return True
        try:
            return is_followed(self._fine, self._chain)
        except TimeLimitError:
            raise
        except AccuracyError:
            return False

    def _followed(
        self, starts: Sequence[float], resume: float, lengths: int, at_once: Callable[..., Iterable[Any]]
    ) -> list[Seen]:  # fmt: skip
        """Return the same from passes back over the video."""
        fine = self._fine
        passes = [fine]
        if not fine.in_phase:  # packets fall due at places in a round that are not told apart
            passes.append(replace(fine.coarser(), shift=HALF))
        if self._held is None:
            found, rough, *others = self._wide_enough(starts, resume, lengths, passes, at_once)
        else:
            passes.insert(1, fine.coarser())
            found, rough, *others = at_once(lambda one: self._paused(one, starts, resume, lengths), passes)
        later = others[0] if others else rough
        return [self._compared(b, found, rough, later) for b in range(len(starts))]

    def _wide_enough(
        self, starts: Sequence[float], resume: float, lengths: int, passes: Sequence[Fineness],
        at_once: Callable[..., Iterable[Any]],
    ) -> list[Sessions]:  # fmt: skip
        """Return the first of some passes, the coarser one, and the others, up to leads that make no difference."""
        fine, most = self._fine, self._video.packets + 2 * self._due
        held = max(*starts, resume) * self._video.packet_rate
        top = min(self._reach.lead(held, self._length, whole_packets=fine.exact), most)
        many = products(self._moves(fine), self._video.packets, top, self._reach.settled, self._steady(fine))
        follow: Callable[..., Sessions] = self._pass
        if self._stalls.suits(self._packets(resume), many):
            follow = self._renewed
            at_once(self._moves, (fine, fine.coarser()))
            if all(at_once(self._stalls.late, (fine, fine.coarser()))):
                rough, *others = at_once(
                    lambda on: self._renewed(on, starts, resume, top, lengths, late=True), [fine.coarser(), *passes]
                )
                if self._is_enough(rough, ONE_MODE):
                    return [others[0], rough, *others[1:]]
            many /= FEWER
        check(many)
        rough = follow(fine.coarser(), starts, resume, top, lengths)  # much quicker: all that there may be time for
        while top < most and not self._is_enough(rough):
            top = min(2 * top, most)
            rough = follow(fine.coarser(), starts, resume, top, lengths)
        first, *more = at_once(lambda on: follow(on, starts, resume, top, lengths), passes)
        return [first, rough, *more]

    def _is_enough(self, rough: Sessions, part: float = SLACK) -> bool:
        """Return whether larger leads, or what one mode misses, make a difference of a small part only."""
        slack = np.array([self._answers(one) for one in rough.slack])
        least = RISK if self._fine.exact else FEW
        enough = part * np.array([self._seen(rough, b) for b in range(len(slack))]) + least
        return bool((slack <= enough)[:, [0, -2]].all())

    def joined(self, starts: Sequence[float]) -> list[JoinTimes]:
        """Return when playback begins, with some media held [s], each of `starts`; packet by packet, if they are few.

        Those whose quanta are as large are followed on the same lattices.
        """
        begin = [self._packets(start) for start in starts]
        if self._rare and self._rare.suits(begin):
            return self._rare.joined(begin)
        on_cores(self._moves, (self._fine, self._fine.coarser()))  # once, before any group asks for them
        one, other = (Delivered(self._moves(on).found, on) for on in (self._fine, self._fine.coarser()))
        return joined(one, other, self._video.packets, begin, self._lines_apart)

    def _compared(self, b: int, found: Sessions, rough: Sessions, later: Sessions) -> Seen:
        """Return what is seen with a start buffer, and how far it is off: a coarser pass, and one of later packets."""
        seen, other = self._seen(found, b), self._seen(rough, b)
        off = FACTOR * np.abs(seen - other) + self._answers(found.slack[b]) + np.abs(self._seen(later, b) - other)
        off += self._answers(found.of_the_end[b])
        if not (np.isfinite(seen).all() and -off[0] - RISK <= seen[0] <= 1 + off[0] + RISK):
            raise AccuracyError(
                f"the pass over the video did not converge: P(any stall) {seen[0]:.3g} within {off[0]:.1g}; give a "
                f"rate or a round trip time that is a little different"
            )
        stalls, either = float(seen[self._counts]), float(off[self._counts])
        if either > max(1.0, stalls):
            raise AccuracyError(
                f"the number of stalls is not known: {stalls:.3g} within {either:.2g}; TCP delivers "
                f"{self._chain.packets_per_round / self._due:.2g} of what is played: give a lower rate"
            )
        off[-1] += seen[0] * quadrature_error(4 * seen[-2] / max(seen[0], 1e-300) / (self._length * self._rtt))
        guessed = GUESSED if self._held is not None and self._held.restarting is not None else 0.0
        few = FEW_LINES if self._lines_apart and self._fine.ratio > RATIOS[0] else 0.0
        off[1:] += few * np.abs(seen[1:])
        off[0] += few * entr(np.clip(1 - seen[0], 0.0, 1.0))  # as the rate of stalls may be off by so much
        off += (guessed + (0.0 if self._fine.exact else LEAST)) * np.abs(seen) + RISK
        most = seen[-2] / (seen[-2] + self._length * self._rtt)  # of x / (1 + x), which is concave
        seen[-1] = min(seen[-1], most)
        (lengths, unstalled), *others = (_unstalled(one, b) for one in (found, rough, later))
        coarse, late = (np.interp(lengths, *one) for one in others)
        apart = few * entr(np.clip(unstalled, 0.0, 1.0))
        between = float((FACTOR * np.abs(unstalled - coarse) + np.abs(late - coarse) + apart).max())
        between = max(between, float(off[0])) + between_points(lengths, unstalled)
        grown, grown_apart = found.grown, FACTOR * (found.grown - rough.grown)
        grown_apart += (guessed + few) * grown * np.where(grown_apart[-1:] < 0, -1.0, 1.0)  # further, where they are
        return Seen(seen, off, lengths * self._rtt, unstalled, between, grown, grown_apart)

    def _packets(self, seconds: float) -> float:
        """Return the packets of a buffer: one at least, and the whole video at most."""
        return min(max(1.0, seconds * self._video.packet_rate), max(1.0, self._video.packets))

    def _pass(self, fine: Fineness, starts: Sequence[float], resume: float, top: float, lengths: int) -> Sessions:
        begin = [self._packets(start) for start in starts]
        pauses, settled = (None, self._reach.settled) if self._held is None else (self._held.pauses, math.inf)
        packets = self._video.packets
        return sessions(
            self._moves(fine), packets, begin, self._packets(resume), top, lengths, settled, pauses, self._steady(fine)
        )  # fmt: skip

    def _paused(self, on: Fineness, starts: Sequence[float], resume: float, lengths: int) -> Sessions:
        """Return sessions of a player that pauses, from one pass."""
        assert self._held is not None
        stop, steady = self._held.pauses.stop, self._steady(self._fine)
        many = products(self._moves(self._fine), self._video.packets, stop, math.inf, steady)
        if self._held.restarting is not None or not self._stalls.suits(self._packets(resume), many):
            return self._pass(on, starts, resume, stop, lengths)
        check(many / FEWER)
        return self._renewed(on, starts, resume, stop, lengths)

    def _renewed(
        self, on: Fineness, starts: Sequence[float], resume: float, top: float, lengths: int, late: bool = False
    ) -> Sessions:  # fmt: skip
        begin, moves = [self._packets(start) for start in starts], self._moves(on)
        return renewals(
            moves, self._counts, self._factors, self._video.packets, begin, self._packets(resume), top, lengths,
            self._steady(on), self._stalls.late(on) if late else None, self._held.pauses if self._held else None,
        )  # fmt: skip

    @property
    def _factors(self) -> Floats:
        """Of the rebuffering ratio: E[f^S] of each is asked for."""
        return np.exp(-laggauss(NODES)[0] / self._length)

    def _steady(self, fine: Fineness) -> float:
        """Return the rounds in which what changes quickly fades; none are left out where packets are whole numbers."""
        if fine.exact:
            return math.inf
        return max(STEADY * self._scale.rounds, float(self._moves(fine).found.rounds.max()))

    def _moves(self, fine: Fineness) -> PlayerMoves:
        """Return transitions on a lattice, made once for all buffers."""
        if fine not in self._made:
            found = self._deliveries(fine)
            asked = measures(self._counts, self._factors, fine.quanta, int(found.rounds.max()))
            self._made[fine] = PlayerMoves(found, fine, asked)
        return self._made[fine]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": {}}

    def _deliveries(self, fine: Fineness) -> Deliveries:
        if self._held and self._held.restarting is not None:
            return self._held.restarting
        return deliveries(self._chain, fine.step, fine.ratio, fine.further)

    def _seen(self, found: Sessions, b: int) -> Floats:
        """Return the answers for the whole video, by the number of the start buffer."""
        row = found.seen[-1, b].copy()
        row[0] = 1 - row[0]
        row[self._counts + 2 :] = 1 - row[self._counts + 2 :]
        return self._answers(row)

    def _answers(self, row: Floats) -> Floats:
        ratio = float(laggauss(NODES)[1] @ row[self._counts + 2 :])
        return np.concatenate([row[: self._counts + 1], [row[self._counts + 1] * self._rtt, ratio]])


def _unstalled(found: Sessions, b: int) -> tuple[Floats, Floats]:
    """Return lengths of the video [rounds], from 0 on, and the probability that nothing stalls in them."""
    return np.append(0.0, found.lengths), np.append(1.0, found.seen[:, b, 0])

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

from ..coarse.resolution import Scale
from ..errors import AccuracyError, InputError, TimeLimitError
from ..path import Path
from ..playout.deliveries import Deliveries, deliveries
from ..playout.fineness import Fineness
from ..playout.measures import measures
from ..playout.player_moves import PlayerMoves
from ..playout.renewals import renewals
from ..playout.segment_sessions import STALLS
from ..playout.sessions import Sessions, check, products, sessions
from ..system.threads import on_cores
from ..tcp import Chain, Varying
from ..video import Video
from .compared_passes import FEW, RISK, ComparedPasses
from .held_at_most import HeldAtMost
from .joining import Delivered, JoinTimes, joined
from .player_fineness import fineness, is_followed, is_quick
from .quadrature import NODES
from .rarely_stalled import RarelyStalled
from .reach import Reach
from .seen_by_viewers import Seen
from .stall_by_stall import StallByStall
from .timeline import Timeline

Floats = NDArray[np.float64]

SLACK = 1e-2
"""Part of an answer that more than the largest lead may still change."""

ONE_MODE = 0.05
"""Part of an answer that may be missed by one mode, which is stated; larger leads would not change it."""

AGAIN = 0.1
"""Part of an answer that stalls after the first one may be off, where a fill is too short to forget how it stalled."""

STEADY = 1.5
"""Mean times from loss to loss in which what changes quickly from place to place fades, about."""

HALF = 0.5
"""Packets by which places in a round differ at most."""

FEWER = 3.0
"""Times less that a pass takes which follows the first stall alone, about."""

COUNTS = STALLS
"""Numbers of stalls that are told apart: 0 to 3."""


class TwoFinenesses(ComparedPasses):
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
            found, rough, *others = self._paused(starts, resume, lengths, passes, at_once)
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
        follow, rough = self._way(starts, resume, top, lengths, many)
        if follow == self._renewed and rough is None:
            at_once(self._moves, (fine, fine.coarser()))
            if all(at_once(self._stalls.late, (fine, fine.coarser()))):
                told, *others = at_once(
                    lambda on: self._renewed(on, starts, resume, top, lengths, late=True), [fine.coarser(), *passes]
                )
                if self._is_enough(told, ONE_MODE):
                    return [others[0], told, *others[1:]]
        check(many / (1.0 if follow == self._pass else FEWER))
        if rough is None:  # much quicker: all that there may be time for
            rough = follow(fine.coarser(), starts, resume, top, lengths)
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

    def _matters_little(self, rough: Sessions) -> bool:
        """Return whether what stalls after the first one may be off is a small part of all."""
        seen = np.array([self._seen(rough, b) for b in range(len(rough.of_the_end))])
        added = np.array([self._answers(one) for one in rough.of_the_end])
        return bool((added <= AGAIN * seen + FEW)[:, [self._counts, -2]].all())

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

    def _paused(
        self, starts: Sequence[float], resume: float, lengths: int, passes: Sequence[Fineness],
        at_once: Callable[..., Iterable[Any]],
    ) -> list[Sessions]:  # fmt: skip
        """Return some passes of a player that pauses, the second of which is the coarser one."""
        assert self._held is not None
        stop, fine = self._held.pauses.stop, self._fine
        many = products(self._moves(fine), self._video.packets, stop, math.inf, self._steady(fine))
        follow, rough = self._pass, None
        if self._held.restarting is None:
            follow, rough = self._way(starts, resume, stop, lengths, many)
        check(many / (1.0 if follow == self._pass else FEWER))
        left = [on for on in passes if rough is None or on != fine.coarser()]
        found = list(at_once(lambda on: follow(on, starts, resume, stop, lengths), left))
        return found if rough is None else [found[0], rough, *found[1:]]

    def _way(
        self, starts: Sequence[float], resume: float, top: float, lengths: int, many: float
    ) -> tuple[Callable[..., Sessions], Sessions | None]:
        """Return how passes are made that would take so many products else, and the coarser one where it is known."""
        packets = self._packets(resume)
        if self._stalls.suits(packets, many):
            if not self._stalls.doubt(packets):
                return self._renewed, None
            check(many / FEWER)
            rough = self._renewed(self._fine.coarser(), starts, resume, top, lengths)
            if self._matters_little(rough):
                return self._renewed, rough
        return self._pass, None

    def _renewed(
        self, on: Fineness, starts: Sequence[float], resume: float, top: float, lengths: int, late: bool = False
    ) -> Sessions:  # fmt: skip
        begin, moves = [self._packets(start) for start in starts], self._moves(on)
        return renewals(
            moves, self._counts, self._factors, self._video.packets, begin, self._packets(resume), top, lengths,
            self._steady(on), self._stalls.late(on) if late else None, self._held.pauses if self._held else None,
            self._stalls.doubt(self._packets(resume)),
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

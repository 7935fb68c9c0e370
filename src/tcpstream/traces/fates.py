"""What became of each data packet: lost, delivered or not known; and the delay until it was acknowledged.

One walk through the flow, in the order of the capture. `waiting` holds, by sequence number, the packets
that nothing has acknowledged yet, and the holes: bytes that were never seen although later ones were. A
packet that carries waiting bytes again means that the earlier copy was lost behind the point of capture;
one that fills a hole late means that a copy was lost before it. Each packet sent again stands for one loss: where
its bytes are of several packets, of the one with which it shares most. A retransmission that was not needed
shows itself afterwards (`_forgive`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .flow import Flow
from .transmissions import AT_ONCE, Log, Packet, Transmissions

#: Identical packets closer than this [s] are one packet captured on two interfaces.
TWICE = 2e-4
_FAR = 1 << 28


@dataclass(slots=True)
class _Copies:
    """All transmissions of the same bytes, and how many of them were shown to be needless."""

    packets: list[Packet]
    duplicates: int = 0
    early: bool = False


@dataclass(frozen=True)
class Fates:
    """Result of the walk.

    Attributes
    ----------
    sent : Transmissions
        In the order of sending.
    ack_times, acks : array
        Times [s] and numbers of the cumulative acknowledgements, both increasing.
    moments, delays : array of float
        Times [s] of acknowledgements, and the delays [s] since the packets they acknowledge, none sent twice.
    per_ack : array of int
        Packets that each acknowledgement covers, in order and sent once, while nothing is reported missing.
    unseen : int
        Bytes acknowledged but not in the capture.
    twice : int
        Packets left out because the capture holds them twice.
    answered : array of float
        When each packet was first acknowledged, in order or selectively [s].
    """

    sent: Transmissions
    ack_times: NDArray[np.float64]
    acks: NDArray[np.int64]
    moments: NDArray[np.float64]
    delays: NDArray[np.float64]
    per_ack: NDArray[np.int64]
    unseen: int
    twice: int
    answered: NDArray[np.float64]


def follow(flow: Flow, patience: float) -> Fates:
    """Return the fate of each packet of a flow.

    Parameters
    ----------
    flow : Flow
        The flow and its acknowledgements.
    patience : float
        Where packets have no timestamps, a hole filled within this time [s] was reordering, not loss; what is left of
        it has as long again.
    """
    walk = _Walk(patience, flow.opening)
    for start in range(0, len(flow.time), AT_ONCE):
        _follow(flow.part(start, start + AT_ONCE), walk)
    return walk.finish()


def _follow(flow: Flow, walk: _Walk) -> None:
    marks = np.repeat(flow.mark, np.diff(flow.first_block))
    blocks = list(map(tuple, (marks[:, None] + flow.blocks).tolist()))
    rows = zip(
        flow.time.tolist(),
        flow.is_data.tolist(),
        flow.mark.tolist(),
        flow.payload.tolist(),
        np.where(flow.stamped, flow.tsval, np.int64(-1)).tolist(),
        np.where(flow.stamped, flow.tsecr, np.int64(-1)).tolist(),
        (flow.window == 0).tolist(),
        pairwise(flow.first_block.tolist()),
    )
    for time, is_data, mark, payload, tsval, tsecr, no_room, (first, end) in rows:
        if not is_data:
            walk.closed = mark if no_room else -1
            walk.acknowledge(time, mark, tsecr, blocks[first:end])
            continue
        if payload == 1 and (mark == walk.closed or walk.is_keep_alive(mark)):
            continue  # a probe of a closed window, which drops it (RFC 9293, Sections 3.8.6.1 and 3.8.4)
        for start in range(mark, mark + payload, flow.mss):
            walk.send(Packet(time, start, min(start + flow.mss, mark + payload), tsval))


class _Walk:
    def __init__(self, patience: float, opening: int | None = None) -> None:
        self.patience, self.opening = patience, opening
        self.log = Log()
        self.ack_times, self.acks = array("d"), array("q")
        self.moments, self.delays = array("d"), array("d")
        self.per_ack, self.answered = array("q"), array("d")
        self.unseen = self.twice = 0
        self.waiting: list[Packet] = []  # sorted by start
        self.copies: dict[int, _Copies] = {}
        self.top: int | None = None  # end of everything sent so far
        self.acked = 0
        self.closed = -1  # where the receiver has no room for more

    def send(self, packet: Packet) -> None:
        """A data packet passes."""
        if self.top is None:
            begin = packet.start if self.opening is None else self.opening
            self.top = self.acked = begin if 0 <= packet.start - begin < _FAR else packet.start
        if packet.start >= self.top:
            if packet.start > self.top:
                self._queue(Packet(packet.time, self.top, packet.start, packet.tsval, seen=False, drops=[]))
            self._queue(packet)
        elif not self._again(packet):
            return
        self.top = max(self.top, packet.end)

    def is_keep_alive(self, mark: int) -> bool:
        """Tell whether one byte from here is the last one sent, and was acknowledged."""
        return self.top is not None and mark + 1 == self.top <= self.acked

    def _queue(self, packet: Packet) -> None:
        packet.acked = packet.seen and packet.end <= self.acked
        self.log.add(packet)
        if not packet.acked:
            self.waiting.append(packet)

    def _again(self, packet: Packet) -> bool:
        """A packet passes whose bytes are not new; False if it is the same packet captured twice."""
        low = bisect_left(self.waiting, packet.start, key=lambda p: p.end - 1)
        high = bisect_left(self.waiting, packet.end, low, key=lambda p: p.start)
        replaced = self.waiting[low:high]
        if any(_is_copy(packet, old) for old in replaced):
            self.twice += 1
            return False
        left: list[Packet] = []
        right: list[Packet] = []
        main = max(replaced, key=lambda old: _shared(old, packet), default=None)
        for old in replaced:
            if not old.seen:
                packet.again |= self._fill(old, packet, left, right, counts=old is main)
            elif old is main:
                packet.again = old.lost = True
                self.log.settle(old)
                self._link(old, packet)
            else:
                packet.again = True
                _keep(old, packet, left, right)
        if not replaced:  # delivered before: needless from the start
            packet.again = True
            packet.copies = self.copies.setdefault(packet.start, _Copies([]))
            packet.copies.packets.append(packet)
        packet.acked = packet.end <= self.acked
        self.log.add(packet)
        self.waiting[low:high] = left + ([] if packet.acked else [packet]) + right
        return True

    def _fill(self, hole: Packet, packet: Packet, left: list[Packet], right: list[Packet], *, counts: bool) -> bool:
        """Cut the bytes of a packet out of a hole; True if they had been lost, False if only out of order."""
        since = hole.time
        if packet.tsval >= 0 and hole.tsval >= 0:
            late = _later(packet.tsval, hole.tsval)
        else:
            late = packet.time - hole.time > self.patience
            since = hole.time if late else packet.time  # a flight that was overtaken comes one by one
        if hole.start < packet.start:
            left.append(Packet(hole.time, hole.start, packet.start, hole.tsval, seen=False, drops=hole.drops))
        if packet.end < hole.end:
            right.append(Packet(since, packet.end, hole.end, hole.tsval, seen=False, drops=hole.drops))
        if late and counts:
            start, end = max(packet.start, hole.start), min(packet.end, hole.end)
            assert hole.drops is not None
            hole.drops.append(Packet(hole.time, start, end, seen=False, lost=True))
        return late

    def _link(self, old: Packet, new: Packet) -> None:
        if old.copies is None:
            old.copies = _Copies([old])
        new.copies = self.copies[new.start] = old.copies
        new.copies.packets.append(new)

    def acknowledge(self, time: float, number: int, tsecr: int, sack: list[tuple[int, int]]) -> None:
        """An acknowledgement passes."""
        if self.top is None and self.opening is not None and 0 < number - self.opening < _FAR:
            self.opening = number  # data of the SYN, or data that the capture lacks
        if self.top is None or not -_FAR < number - self.top < _FAR:
            return
        if sack and (sack[0][1] <= number or (len(sack) > 1 and _inside(sack[0], sack[1]))):
            self._duplicate(*sack[0])
            sack = sack[1:]
        leaving: list[Packet] = []
        if number > self.acked:
            leaving += self._take(None, number)
            if leaving and leaving[0].copies is not None and tsecr >= 0 and leaving[0].tsval >= 0:
                leaving[0].copies.early |= _later(leaving[0].tsval, tsecr)
            self.acked = number
            self.ack_times.append(time)
            self.acks.append(number)
        for left, right in sack:
            if number < left < right <= self.top:
                leaving += self._take(left, right)
        for packet in leaving:
            packet.acked, packet.acked_at = True, time
            self.answered.append(time)
            self.log.settle(packet)
        if leaving and not any(packet.again for packet in leaving):
            if not sack:
                self.per_ack.append(len(leaving))
            self.moments.append(time)
            self.delays.append(time - min(packet.time for packet in leaving))

    def _take(self, left: int | None, right: int) -> list[Packet]:
        """Remove the waiting packets that end by `right` (and start from `left` on); return those seen."""
        low = 0 if left is None else bisect_left(self.waiting, left, key=lambda p: p.start)
        high = bisect_left(self.waiting, right + 1, low, key=lambda p: p.end)
        taken = self.waiting[low:high]
        self.unseen += sum(p.end - p.start for p in taken if not p.seen)
        del self.waiting[low:high]
        return [p for p in taken if p.seen]

    def _duplicate(self, left: int, right: int) -> None:
        """The receiver reports bytes that it got twice (RFC 2883)."""
        while left < right and (copies := self.copies.get(left)) is not None:
            copies.duplicates += 1
            left = max(copies.packets[-1].end, left + 1)

    def finish(self) -> Fates:
        """Take back the losses that were none; put packets lost before the capture where they belong."""
        quick = min(self.delays, default=0.0) / 2
        for copies in {id(c): c for c in self.copies.values()}.values():
            _forgive(copies, quick)
            for packet in copies.packets:
                self.log.settle(packet)
        return Fates(
            self.log.finish(),
            np.frombuffer(self.ack_times or b""),
            np.frombuffer(self.acks or b"", np.int64),
            np.frombuffer(self.moments or b""),
            np.frombuffer(self.delays or b""),
            np.frombuffer(self.per_ack or b"", np.int64),
            self.unseen,
            self.twice,
            np.frombuffer(self.answered or b""),
        )


def _forgive(copies: _Copies, quick: float) -> None:
    """Call copies delivered that were shown to have arrived.

    Each report of a duplicate (DSACK, RFC 2883) shows that one more copy arrived. So does an acknowledgement
    that echoes a timestamp older than the last copy's (Eifel, RFC 3522), or that follows it sooner than half
    of the smallest delay ever seen.
    """
    last = copies.packets[-1]
    early = copies.early or (last.acked and last.acked_at - last.time < quick)
    needless = max(copies.duplicates, int(early))
    for packet in copies.packets[:-1][-needless:] if needless else []:
        packet.lost, packet.acked = False, True


def _is_copy(packet: Packet, old: Packet) -> bool:
    """Tell whether a packet is an earlier one again, rather than sent again, which has a later timestamp."""
    at_once = packet.time - old.time < TWICE
    return old.seen and old.start == packet.start and old.tsval == packet.tsval and at_once


def _shared(old: Packet, new: Packet) -> int:
    """Return how many bytes two packets share."""
    return min(old.end, new.end) - max(old.start, new.start)


def _keep(old: Packet, new: Packet, left: list[Packet], right: list[Packet]) -> None:
    """Leave waiting what a packet carries besides the bytes sent again; its loss, if any, counts with those."""
    if old.start < new.start:
        old.end = new.start
        left.append(old)
    elif new.end < old.end:
        old.start = new.end
        right.append(old)


def _later(first: int, second: int) -> bool:
    """Tell whether one 32-bit timestamp is later than another."""
    return 0 < (first - second) % (1 << 32) < 1 << 31


def _inside(block: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= block[0] and block[1] <= other[1]

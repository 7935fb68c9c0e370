"""Transmissions of a flow in columns: what stays of each packet once its fate is known."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEEN, AGAIN, LOST, ACKED = 1, 2, 4, 8
#: Rows whose columns become Python numbers at once.
AT_ONCE = 1 << 12


@dataclass(slots=True)
class Packet:
    """One transmission of bytes `start` to `end`, passing the point of capture at `time` [s].

    A hole, bytes never seen although later ones were, is a packet that was not `seen`; its `drops` are the packets in
    it that turned out to be lost. `row` is its place among the transmissions.
    """

    time: float
    start: int
    end: int
    tsval: int = -1
    seen: bool = True
    again: bool = False
    lost: bool = False
    acked: bool = False
    acked_at: float = 0.0
    copies: Any = None
    drops: list[Packet] | None = None
    row: int = -1

    @property
    def state(self) -> int:
        """The flags of a row."""
        return SEEN * self.seen | AGAIN * self.again | LOST * self.lost | ACKED * self.acked


@dataclass(frozen=True)
class Transmissions:
    """All transmissions in the order of sending; those lost before the point of capture are not `SEEN`.

    Attributes
    ----------
    time : array of float
        When they passed the point of capture [s].
    start, length : array of int
        Their first sequence number, and how many bytes they carry.
    state : array of int
        `SEEN`, `AGAIN` (not the first copy), `LOST` and `ACKED` (arrived), added up.
    """

    time: NDArray[np.float64]
    start: NDArray[np.int64]
    length: NDArray[np.uint32]
    state: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.time)

    def having(self, flags: int) -> NDArray[np.bool_]:
        """Tell which have all of these flags."""
        return np.asarray(self.state & flags == flags, dtype=bool)

    def rows(self) -> Iterator[tuple[float, int, int, int]]:
        """Yield time, start, length and state of each."""
        for i in range(0, len(self), AT_ONCE):
            part = slice(i, i + AT_ONCE)
            columns = (self.time[part], self.start[part], self.length[part], self.state[part])
            yield from zip(*(column.tolist() for column in columns))


class Log:
    """Transmissions as they come; their states are settled later."""

    def __init__(self) -> None:
        self.time, self.start, self.length, self.state = array("d"), array("q"), array("I"), array("B")
        self.holes: dict[int, list[Packet]] = {}

    def add(self, packet: Packet) -> None:
        """Append a packet or a hole."""
        packet.row = len(self.time)
        self.time.append(packet.time)
        self.start.append(packet.start)
        self.length.append(packet.end - packet.start)
        self.state.append(packet.state)
        if packet.drops is not None:
            self.holes[packet.row] = packet.drops

    def settle(self, packet: Packet) -> None:
        """Write down the state of a packet that was added."""
        self.state[packet.row] = packet.state

    def finish(self) -> Transmissions:
        """Return the transmissions, the lost packets of each hole in its place."""
        drops = [(row, drop) for row, found in self.holes.items() for drop in sorted(found, key=lambda p: p.start)]
        columns = (self.time, self.start, self.length, self.state)
        time, start, length, state = (np.frombuffer(column or b"", column.typecode) for column in columns)
        if not self.holes:
            return Transmissions(time, start, length, state)
        holes, places = list(self.holes), [row for row, _ in drops]
        kept = np.ones(len(self.time) + len(drops), dtype=bool)
        kept[np.array(holes, dtype=int) + np.searchsorted(places, holes, side="right")] = False
        return Transmissions(
            np.insert(time, places, [p.time for _, p in drops])[kept],
            np.insert(start, places, [p.start for _, p in drops])[kept],
            np.insert(length, places, [p.end - p.start for _, p in drops])[kept],
            np.insert(state, places, [p.state for _, p in drops])[kept],
        )

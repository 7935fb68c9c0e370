"""Packets that a capture holds more than once, as one of both sides of a switch or of a router does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .connections import Connection, Ints

#: Copies of a packet are at most this far apart [ns]; identifications come again after 65,536 packets.
_APART = 1_000_000_000
_SAME = ("ident", "seq", "ack", "payload", "flags", "tsval")
#: A sender that numbers its packets gives more than this share of them a number of their own.
_NUMBERED = 0.5


def twins(connection: Connection) -> NDArray[np.bool_]:
    """Tell which packets are further copies of an earlier one: all numbers are the same, the IP identification as well.

    A packet that is sent again has an identification of its own, unless its sender does not number its packets, as it
    need not where they cannot be fragmented (RFC 6864): then nothing is known.

    Parameters
    ----------
    connection : Connection
        Its packets, in the order of their times.
    """
    found = np.zeros(len(connection.column("time")), dtype=bool)
    for way in (0, 1):
        rows = _candidates(connection, way)
        columns = [connection.column(name)[rows] for name in _SAME]
        order = np.lexsort(columns)  # stable: copies stay in the order of their times
        same = np.diff(connection.column("time")[rows][order]) <= _APART
        for column in columns:
            same &= np.diff(column[order]) == 0
        found[rows[order[1:][same]]] = True
    return found


def _candidates(connection: Connection, way: int) -> Ints:
    """Return the packets of this way with identification and sequence number of another, if its sender numbers them."""
    ident = connection.column("ident")
    rows = np.flatnonzero((connection.column("way") == way) & (ident != 0))
    numbers = ident[rows].astype(np.int64) << 32 | connection.column("seq")[rows]
    ordered = np.sort(numbers)
    repeated = ordered[1:][np.diff(ordered) == 0]
    if not len(repeated):
        return rows[:0]
    places = np.unique(connection.column("seq")[rows].astype(np.int64) << 32 | connection.column("ack")[rows])
    numbered = len(np.unique(ident[rows])) > max(_NUMBERED * min(len(places), 1 << 15), 1)
    return rows[np.isin(numbers, repeated)] if numbered else rows[:0]

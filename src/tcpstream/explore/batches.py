"""Which points are solved together: those that share work, in chunks that do not depend on who solves them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ..errors import InputError
from ..sender import DEFAULT_SENDER, sender_of
from ..variants import VARIANTS
from .cases import Row
from .columns import LOAD, PATH

SOLVES = 8
"""Solves of a chunk, about: a second or so for each. What an interruption can lose."""

MOST_POINTS = 500
"""Points of a chunk."""


def chunks(rows: Sequence[Row], kind: str, alpha: bool) -> list[list[int]]:
    """Return chunks of positions of points.

    Stored points of one TCP chain, whatever their round trip time, rate and delay, share a transient; live ones of
    one chain and as many packets a round share a backlog. With `alpha` each stored point is a solve of its own.
    """
    groups: dict[Hashable, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault((_chain(row), _packets_due(row) if kind == "live" else None), []).append(i)
    most = SOLVES if alpha else MOST_POINTS
    pieces = [members[i : i + most] for members in groups.values() for i in range(0, len(members), most)]
    return _packed(pieces, alpha)


def _packed(pieces: Iterable[list[int]], alpha: bool) -> list[list[int]]:
    """Put neighbouring pieces into one chunk as long as it is small."""
    found: list[list[int]] = []
    solves = SOLVES
    for piece in pieces:
        more = len(piece) if alpha else 1
        if solves + more > SOLVES or len(found[-1]) + len(piece) > MOST_POINTS:
            found.append([])
            solves = 0
        found[-1] += piece
        solves += more
    return found


def _chain(row: Row) -> Hashable:
    """Return what is equal for points with one TCP chain; only what is solved together depends on it."""
    ratio = row["rto"] / row["rtt"] if _numbers(row, "rto", "rtt") and row["rtt"] else row.get("rto")
    other = ("rtt", "rto") if _counts_rounds(row) else ("rto",)
    return tuple(str(row.get(name)) for name in PATH if name not in other), ratio


def _counts_rounds(row: Row) -> bool:
    """Tell whether the round trip time does not say which TCP chain it is."""
    try:
        given = {"tcp": row["tcp"]} if "tcp" in row else {}
        tcp = sender_of(row.get("sender", DEFAULT_SENDER), row.get("losses"), given).tcp
    except InputError:  # which is said when it is solved
        return True
    return VARIANTS[tcp].counts_rounds(row.get("bottleneck"))


def _packets_due(row: Row) -> Hashable:
    """Return what is equal for points with as many packets a round."""
    if LOAD in row:
        return str(row[LOAD]), str(row.get("duration"))
    rates = [row[name] * row["rtt"] for name in ("packet_rate", "bitrate") if _numbers(row, name, "rtt")]
    return tuple(round(rate, 9) for rate in rates), str(row.get("duration"))


def _numbers(row: Row, *names: str) -> bool:
    return all(isinstance(row.get(name), (int, float)) for name in names)

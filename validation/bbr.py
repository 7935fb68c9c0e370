"""The throughput of BBR behind a bottleneck, by its formula and by packets.

``python validation/bbr.py`` records what is missing (some ten minutes on one core); ``--table`` prints the summary of
the documentation. The conditions are drawn by a seeded generator before anything is computed. A run is ten minutes, of
which the first twenty seconds do not count. Beyond a loss rate of 0.1 the formula is not offered: there it is packets
alone, to show where BBR ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from queues import LONG, WARMUP, Condition, delivered, path, recorded
from tcpstream import InputError

RESULTS = FilePath(__file__).parent / "results" / "bbr.jsonl"

SEED, DRAWN = 2711, 100
"""Of the generator, and conditions."""

LARGEST = 2000
"""Packets of a pipe with its buffer: the receiver's window does not matter."""

BEYOND = 0.15, 0.2, 0.25
"""Loss rates without the formula."""

NEAR = 0.01, 0.02, 0.05
"""Relative errors that are counted."""


def conditions() -> list[Condition]:
    """Return conditions drawn, then those beyond."""
    rng = np.random.default_rng(SEED)
    found: list[Condition] = []
    while len(found) < DRAWN:
        rate = round(float(np.exp(rng.uniform(math.log(2), math.log(40)))), 2)
        rtt = round(float(np.exp(rng.uniform(math.log(0.015), math.log(0.3)))), 4)
        pipes = round(float(np.exp(rng.uniform(math.log(0.1), math.log(4)))), 2)
        loss = 0.0 if rng.random() < 0.1 else float(f"{np.exp(rng.uniform(math.log(1e-5), math.log(0.1))):.2g}")
        one = Condition("bbr", rate, rtt, pipes, loss, math.nan)
        if one.packets * one.rtt + one.buffer < LARGEST:
            found.append(one)
    links = product((8.0, 25.0), (0.02, 0.05, 0.15), BEYOND)
    return found + [Condition("bbr", rate, rtt, 1.0, p, math.nan) for rate, rtt, p in links]


def row(number: int, one: Condition) -> dict[str, Any]:
    """Return the throughput [packets/s] by packets and by the formula; None where that is refused or not offered."""
    times = delivered(one, LONG, np.random.default_rng([SEED, number])).times
    found: dict[str, Any] = {"number": number, **one._asdict(), "load": None}
    found["T"] = float((times > WARMUP).sum() / (LONG - WARMUP))
    try:
        formula = None if one.loss in BEYOND else tcpstream.throughput(path(one))
    except InputError:
        formula = None
    return found | {"T_formula": formula}


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Give what the record comes to."""
    offered = [one for one in rows if one["T_formula"] is not None]
    off = sorted(((one["T_formula"] / one["T"] - 1, one) for one in offered), key=lambda pair: abs(pair[0]))
    yield f"{DRAWN - len(off)} of {DRAWN} refused, as the buffer does not hold a burst"
    for near in NEAR:
        yield f"T within {near:.0%}: {sum(abs(x) <= near for x, _ in off)} of {len(off)}"
    for x, one in off[-5:]:
        at = f"{one['rate']:g} Mbit/s, R {one['rtt']:g} s, buffer {one['pipes']:g} C R, p {one['loss']:g}"
        yield f"off by {x:+.1%}: {at}"
    yield ""
    yield "| p | T / C by packets, at least and at most |"
    yield "|--:|--:|"
    for p in BEYOND:
        shares = [one["T"] * 12e3 / (one["rate"] * 1e6) for one in rows if one["loss"] == p]
        yield f"| {p:g} | {min(shares):.2f}, {max(shares):.2f} |"


if __name__ == "__main__":
    raise SystemExit(recorded(__doc__, RESULTS, conditions(), row, summary))

"""A queue that the flow fills: the chains of Reno with SACK and CUBIC beside packets, for stored videos.

Run ``python validation/queues.py`` (a quarter of an hour on one core). Conditions are drawn before anything is solved;
what is recorded is not computed again; ``--table`` prints the table of the documentation. The bundled simulator is the
witness: senders as Linux has them (windows of 10 at first, RACK, proportional rate reduction, of CUBIC HyStart), a
drop-tail queue, and independent losses before it.

The path of the chain has the round trip time that a packet sees where the queue is empty, with its own transmission.
The simulator's times are those of packets in order, less the travel of R/2. A session stalls at a startup delay if it
needs a longer one, the largest by which a packet is later than due.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Path, Video, sim
from tcpstream.system.log import appending, read

RESULTS = FilePath(__file__).parent / "results" / "queues.jsonl"

SEED = 20
DURATION, SESSIONS, LONG, WARMUP = 60.0, 60, 600.0, 20.0
"""Of a video, and how many are watched; of a run that measures T, and its begin that does not count [s]."""

SENDERS: dict[str, dict[str, Any]] = {
    "reno-sack": {"prr": True},
    "cubic": {"prr": True, "congestion": "cubic", "hystart": True},
    "bbr": {"congestion": "bbr"},
}
"""What the simulator's sender has that belongs to its congestion control."""

BITS = 12_000.0
"""Of a packet."""

SHARES = 0.9, 0.5, 0.1
"""Of the sessions that stall at the delays which are looked at."""

NEAR, FACTOR, SIGMAS = 0.05, 2.0, 2.0
"""T is near within this; a probability within the factor, or so many standard errors."""

LATE = 120.0
"""Time after the end of a video, in which all of it has arrived [s]."""


One = TypeVar("One")
Table: TypeAlias = Callable[[list[dict[str, Any]]], Iterator[str]]


class Condition(NamedTuple):
    """A sender, a bottleneck and a video.

    Attributes
    ----------
    tcp : {"reno-sack", "cubic", "bbr"}
    rate : float
        Of the bottleneck [Mbit/s].
    rtt : float
        Of propagation [s].
    pipes : float
        Room before it, in bandwidth-delay products.
    loss : float
        Besides, of each packet.
    load : float
        Rate of the video over the T that packets have.
    """

    tcp: str
    rate: float
    rtt: float
    pipes: float
    loss: float
    load: float

    @property
    def packets(self) -> float:
        """Of the bottleneck in a second."""
        return self.rate * 1e6 / BITS

    @property
    def buffer(self) -> int:
        """Room before it [packets]."""
        return max(1, round(self.pipes * self.packets * self.rtt))


def conditions() -> list[Condition]:
    """Return a condition for each sender, rate, round trip time and loss rate, with buffers and loads in turn."""
    rng = np.random.default_rng(SEED)
    combined = list(product(("reno-sack", "cubic"), (8.0, 25.0), (0.02, 0.05, 0.15), (0.0, 0.002)))
    pipes = rng.permutation(np.resize([0.3, 1.0, 4.0], len(combined))).tolist()
    loads = rng.permutation(np.resize([0.6, 0.7, 0.8, 0.95], len(combined))).tolist()
    return [Condition(tcp, rate, rtt, b, p, x) for (tcp, rate, rtt, p), b, x in zip(combined, pipes, loads)]


def delivered(one: Condition, seconds: float, rng: np.random.Generator) -> sim.Delivery:
    """Return what the simulator's sender delivers."""
    settings: dict[str, Any] = {"timer": "rfc6298", "granularity": 0.2, "initial_rto": 1.0} | SENDERS[one.tcp]
    tcp = sim.Tcp("rack", 2172, 10, **settings)
    loss = sim.Bernoulli(one.loss) if one.loss else None
    there = sim.Link(one.rtt / 2, one.rate * 1e6, queue=one.buffer, loss=loss)
    return sim.simulate(sim.single_path(there, sim.Link(one.rtt / 2), tcp, sim.Backlogged()), seconds, rng).flows[0]


def path(one: Condition) -> Path:
    """Return the path of the chain."""
    return Path(
        loss=one.loss or 1e-9, rtt=one.rtt + 1 / one.packets, tcp=one.tcp, bottleneck=one.packets, buffer=one.buffer,
        sender="linux",
    )  # fmt: skip


def needed(one: Condition, video_rate: float, rng: np.random.Generator) -> float:
    """Return the startup delay without which a session stalls [s]."""
    due = np.arange(math.ceil(video_rate * DURATION)) / video_rate
    times = delivered(one, DURATION + LATE, rng).times[: len(due)]
    return math.inf if len(times) < len(due) else float((times - due).max()) - one.rtt / 2


def row(number: int, one: Condition) -> dict[str, Any]:
    """Return throughputs, and probabilities of a stall at some startup delays, by packets and by the chain."""
    sessions = SESSIONS if one.loss else 1
    streams = np.random.default_rng([SEED, number]).spawn(sessions + 1)
    long = delivered(one, LONG, streams[0]).times
    T, on = float((long > WARMUP).sum() / (LONG - WARMUP)), path(one)
    video_rate = one.load * T
    waits = np.array([needed(one, video_rate, rng) for rng in streams[1:]])
    found = {"number": number, **one._asdict(), "T": T, "T_chain": tcpstream.throughput(on)}
    stored = tcpstream.stored(on, Video(packet_rate=video_rate, duration=DURATION))
    if not one.loss:
        try:
            required: float | None = stored.required_delay(no_late=0.5)
        except AccuracyError:  # less than a round trip, which the chain does not resolve at such rates
            required = None
        return found | {"required": float(waits[0]), "required_chain": required}
    least = math.ceil(on.rtt * 1e4) / 1e4  # [s]; alpha is not resolved within a round at such rates
    delays = sorted({max(round(float(np.quantile(waits, 1 - share)), 4), least) for share in SHARES})
    answers = [1 - float(alpha) for alpha in np.atleast_1d(stored.no_late_probability(delays))]
    return found | {"delays": delays, "stalled": [float((waits > d).mean()) for d in delays], "stalled_chain": answers}


def near(measured: float, answer: float) -> bool:
    """Return whether a probability is within the factor, or within what so many sessions tell."""
    error = math.sqrt(max(measured * (1 - measured), 1 / SESSIONS) / SESSIONS)
    within = max(measured, answer) <= FACTOR * min(measured, answer)
    return within or abs(measured - answer) <= SIGMAS * error


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Give the lines of a table, and what the record comes to."""
    yield "| sender | Mbit/s | R [ms] | B / C R | p | video / T | T / C | chain | stalls at a delay [s] | chain |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|---|---|"
    pairs = []
    for one in rows:
        C = one["rate"] * 1e6 / BITS
        if "required" in one:
            seen, known = f"none from {one['required']:.3f}", one["required_chain"]
            answer = "none from R" if known is None else f"none from {known:.3f}"
        else:
            seen = ", ".join(f"{share:.2f} at {d:.3g}" for d, share in zip(one["delays"], one["stalled"]))
            answer = ", ".join(f"{share:.2f}" for share in one["stalled_chain"])
            pairs += [pair for pair in zip(one["stalled"], one["stalled_chain"]) if 0.05 <= pair[0] <= 0.95]
        yield (
            f"| {one['tcp']} | {one['rate']:g} | {one['rtt'] * 1e3:g} | {one['pipes']:g} | {one['loss']:g} "
            f"| {one['load']:g} | {one['T'] / C:.3f} | {one['T_chain'] / C:.3f} | {seen} | {answer} |"
        )
    good = sum(abs(one["T_chain"] / one["T"] - 1) <= NEAR for one in rows)
    yield ""
    yield f"T within {NEAR:.0%}: {good} of {len(rows)}"
    yield f"P(any stall) between .05 and .95 by packets, near: {sum(near(*pair) for pair in pairs)} of {len(pairs)}"


def recorded(
    about: str, results: FilePath, every: list[One], row: Callable[[int, One], dict[str, Any]], table: Table
) -> int:
    """Record the conditions that are missing, or print the table, as the command line says."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print the table of the documentation, and run nothing")
    given = parser.parse_args()
    done = {one["number"] for one in read(results)}
    if not given.table:
        with appending(results) as append:
            for number, one in enumerate(every):
                if number not in done:
                    append(row(number, one))
    print("\n".join(table(sorted(read(results), key=lambda one: int(one["number"])))))
    return 0


if __name__ == "__main__":
    raise SystemExit(recorded(__doc__, RESULTS, conditions(), row, table))

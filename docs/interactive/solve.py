"""Solve what the interactive page shows: ``python docs/interactive/solve.py {nodes,points}``.

`nodes` are the points of the grid, `points` random ones that the surface between the nodes is compared with. Each solve
becomes a line of ``nodes.jsonl`` or ``points.jsonl``; a run continues where the last one ended.
"""

import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np

import tcpstream

HERE = Path(__file__).parent
SENDERS = {"classic": {}, "reno-sack": {"tcp": "reno-sack"}}
"""Settings beside ``sender="classic"``."""

DURATION = 60.0
"""Of the video [s]."""

BITS = 8 * 1500
"""Of a packet."""

LOSSES = np.geomspace(0.01, 0.05, 4)
ROUND_TRIPS = np.geomspace(0.1, 0.2, 3)
LOADS = np.geomspace(0.8, 2.4, 7)
"""T/mu, throughput over playback rate."""
DELAYS = np.geomspace(1, 16, 9)
"""Start-up delays [s]."""

LEAST_LOSS = 0.018
"""Of the page and of the random points: below, solves to check against are dear. The grid goes further."""

PATHS, SEED = 460, 96
"""Random paths, with five start-up delays each."""

NOTHING = 1e-9
"""Probability below which the engine is not asked."""


def path_of(sender, loss, rtt):
    """Return the path of a sender, with the timer that follows from the round trip time."""
    return tcpstream.Path(sender="classic", loss=loss, rtt=rtt, **SENDERS[sender])


def solved(sender, loss, rtt, load, delays):
    """Return late fractions and probabilities of a stall at the delays, as a line of a record."""
    path = path_of(sender, loss, rtt)
    rate = tcpstream.throughput(path) / load
    start = time.process_time()
    result = tcpstream.stored(path, tcpstream.Video(packet_rate=rate, duration=DURATION), accuracy="exact")
    late = result.late_fraction(delays)
    asked = late * rate * DURATION > NOTHING  # the mean number of late packets is at least the probability of one
    stall = np.zeros(len(delays))
    if asked.any():
        stall[asked] = 1 - result.no_late_probability(delays[asked])
    return {
        "sender": sender,
        "loss": loss,
        "rtt_s": rtt,
        "rate_pps": rate,
        "delays_s": delays.tolist(),
        "late_fraction": late.tolist(),
        "stall": stall.tolist(),
        "error_bound": float(result.error_bound),
        "cpu_s": round(time.process_time() - start, 3),
    }


def nodes():
    """Return what `solved` is asked for on the grid."""
    return [(*one, DELAYS) for one in itertools.product(SENDERS, LOSSES, ROUND_TRIPS, LOADS)]


def points():
    """Return what `solved` is asked for at random places of the page, evenly in the grid's coordinates."""
    random = np.random.default_rng(SEED)
    low = np.log([LEAST_LOSS, ROUND_TRIPS[0], LOADS[0]])
    high = np.log([LOSSES[-1], ROUND_TRIPS[-1], LOADS[-1]])
    found = []
    for _ in range(PATHS):
        sender = random.choice(list(SENDERS))
        where = np.exp(random.uniform(low, high))
        delays = np.sort(np.exp(random.uniform(np.log(DELAYS[0]), np.log(DELAYS[-1]), 5)))
        found.append((str(sender), *where.tolist(), delays))
    return found


def main():
    """Solve what the record does not have yet."""
    what = {"nodes": nodes, "points": points}[sys.argv[1]]
    record = HERE / f"{sys.argv[1]}.jsonl"
    done = len(record.read_text("utf-8").splitlines()) if record.exists() else 0
    with record.open("a", encoding="utf-8") as output:
        for one in what()[done:]:
            output.write(json.dumps(solved(*one)) + "\n")
            output.flush()


if __name__ == "__main__":
    main()

"""A server that paces, by `tcpstream.play` and by packets.

``python validation/pace_beside_packets.py`` records what is missing, some ten minutes on one core; ``--table`` prints
the table of the documentation. An application of the simulator writes to TCP what is due at K times the rate of the
video after a burst. Sender, losses, the chain's p and the clocks are those of the sender "independent" of
`beside_packets`. A chain without a burst has nothing to send in its first round, which is up to R later than packets.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from beside_packets import SENDERS, distance, matched
from tcpstream import Pacing, Path, Player, Video, sim
from tcpstream.system.log import appending, read

RESULTS = FilePath(__file__).parent / "results" / "pace_beside_packets.jsonl"

WORLD = SENDERS["independent"]

R, RATE, DURATION, PATIENCE = 0.1, 64.0, 60.0, 300.0
"""Round trip time [s], mu [packets/s], length of the video, and how long it is waited for [s]."""

RUNS, START = 2000, 1.0

PACES = ((1.1, 0.0), (1.25, 0.0), (1.5, 0.0), (2.0, 0.0), (1.25, 5.0))
"""K, and the burst [s of media]."""

ANSWERS = ("stall_probability", "mean_total_rebuffer")


@dataclass(frozen=True)
class PacedServer(sim.Application):
    """Writes packets as they fall due.

    Parameters
    ----------
    rate : float
        K mu [packets/s].
    burst, packets : int
        Written at once, and of the whole video.
    """

    rate: float
    burst: int
    packets: int

    def server(self) -> sim.Server:
        """Return the server of a run."""
        return _Server(self)

    def client(self) -> sim.Client:
        """Return the client of a run."""
        return sim.Client()


class _Server(sim.Server):
    def __init__(self, paced: PacedServer) -> None:
        self.paced, self.written = paced, 0

    def start(self, host: sim.ServerHost) -> None:
        """Write the burst."""
        if self.paced.burst:
            self.written = host.write(self.paced.burst)
        host.wake("due", 1 / self.paced.rate)

    def timer(self, host: sim.ServerHost, name: str) -> None:
        """Write what is due."""
        self.written += host.write(1)
        if self.written < self.paced.packets:
            host.wake(name, 1 / self.paced.rate)


def delivered(pace: float, burst: float, rng: np.random.Generator) -> sim.Delivery:
    """Return what a server that paces delivers."""
    source = PacedServer(pace * RATE, math.ceil(burst * RATE), math.ceil(DURATION * RATE))
    tcp = replace(WORLD["tcp"], send_buffer=source.packets)
    path = sim.single_path(sim.Link(R / 2, loss=WORLD["loss"]), sim.Link(R / 2), tcp, source)
    return sim.simulate(path, PATIENCE, rng).flows[0]


def watched(pace: float, burst: float, runs: int, seed: int) -> dict[str, list[float]]:
    """Return means and standard errors of what viewers see."""
    player, values = sim.Player(start=START + R / 2), []
    for rng in np.random.default_rng(seed).spawn(runs):
        seen = delivered(pace, burst, rng).session(player, RATE, DURATION)
        values.append([float(len(seen.stall_start) > 0), seen.total_rebuffer])
    found = np.array(values)
    errors = found.std(axis=0, ddof=1) / math.sqrt(runs)
    return {name: [float(mean), float(error)] for name, mean, error in zip(ANSWERS, found.mean(axis=0), errors)}


def solved(pace: float, burst: float, p: float, start: float = START) -> dict[str, list[float]]:
    """Return the answers of the chain, and by how much they may be off."""
    path, video = Path(loss=p, **WORLD["chain"]), Video(packet_rate=RATE, duration=DURATION)
    result = tcpstream.play(path, video, Player(start=start), pacing=Pacing(pace, burst=burst))
    return {name: [getattr(result, name), result.errors.get(name, 0.0)] for name in ANSWERS}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the documentation."""
    lines = [
        "| K | burst [s] | P(any stall): packets, `play`, ratio | stalled, mean [s] | z |",
        "|--:|--:|---|---|--:|",
    ]
    for row in rows:
        cells = []
        for name in ANSWERS:
            (mean, error), value = row["simulated"][name], row["play"][name][0]
            cells.append(f"{mean:.4f} ± {error:.4f}, {value:.4f}, {value / mean:.2f}" if mean else f"0, {value:.2g}")
        lines.append(f"| {row['pace']:g} | {row['burst']:g} | {' | '.join(cells)} | {distance(row, ANSWERS[0]):.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Record what is missing, or print the table."""
    parser = argparse.ArgumentParser(description="a server that paces, by packets and by the chain")
    parser.add_argument("--table", action="store_true", help="print what is recorded as a table")
    if parser.parse_args().table:
        print(table(read(RESULTS)))
        return
    done = {(row["pace"], row["burst"]) for row in read(RESULTS)}
    same = matched(WORLD)
    with appending(RESULTS) as append:
        for seed, (pace, burst) in enumerate(PACES, 1):
            if (pace, burst) not in done:
                row: dict[str, Any] = {"pace": pace, "burst": burst, "runs": RUNS, "chain": same}
                row["simulated"] = watched(pace, burst, RUNS, seed)
                row["play"] = solved(pace, burst, same["p"])
                append(row)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

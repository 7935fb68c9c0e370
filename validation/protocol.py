"""What is abstraction and what is protocol: TCP senders, and an agent that obeys the chain, under the chain's losses.

Run ``python validation/protocol.py`` (2 minutes on two cores). Losses are `round`: the chain's own. The path has a
fixed delay and no queue, the timer is R + 0.2 s, as Linux has it; so what differs is the sender:

- agent: the chain's rules packet by packet (`tcpstream.sim.rounds_agent`);
- rack, sack, newreno, reno: the simulator's senders without slow start;
- rack, slow start: with it, after timeouts and at the start.

The chain gets p, R and the mean timer that the sender had. Live late fractions are means over runs with 95% intervals.
"""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import Path, Video
from tcpstream.paper.compare import interval
from tcpstream.sim import Backlogged, Delivery, Link, RoundLoss, Steady, Tcp, rounds_agent, simulate, single_path
from tcpstream.system.threads import on_cores

CASES = ((0.02, 0.1), (0.01, 0.05), (0.004, 0.2))
"""p and R [s]."""

LOADS = (1.3, 1.6, 2.0)
"""T / mu, with T that of the chain."""

DELAYS = np.array([1, 2, 3, 4, 6, 8, 10, 15, 20.0])
RUNS, SECONDS = 20, 4000.0
WINDOW = 64
SENDERS = (
    {"agent": None}
    | {
        variant: Tcp(variant, WINDOW, 1, slow_start=False, timer="rfc6298", granularity=0.2)
        for variant in ("rack", "sack", "newreno", "reno")
    }
    | {"rack, slow start": Tcp("rack", WINDOW, timer="rfc6298", granularity=0.2)}
)


def run(sender: str, p: float, R: float, T_O: float, rate: float | None, seed: int) -> Delivery:
    """Let one sender send for a while; without a rate it is backlogged."""
    rng = np.random.default_rng(seed)
    tcp = SENDERS[sender]
    if tcp is None:
        return rounds_agent(
            loss=p, rtt=R, timeout_ratio=T_O, max_window=WINDOW, duration=SECONDS, rng=rng, packet_rate=rate
        )
    chain = Backlogged() if rate is None else Steady(rate)
    there = Link(R / 2, loss=RoundLoss(p))
    return simulate(single_path(there, Link(R / 2), tcp, chain), SECONDS, rng).flows[0]


def study(sender: str, p: float, R: float) -> dict[str, Any]:
    """Compare one sender with the chain."""

    def runs(rate: float | None) -> list[Delivery]:
        return on_cores(lambda seed: run(sender, p, R, 1 + 0.2 / R, rate, seed), range(RUNS))

    backlogged = runs(None)
    T_O = 1 + 0.2 / R if SENDERS[sender] is None else float(np.mean([one.timeout_ratio for one in backlogged]))
    path = Path(sender="classic", loss=p, rtt=R, timeout_ratio=T_O, max_window=WINDOW)
    chain, seen = tcpstream.throughput(path), np.array([[one.throughput] for one in backlogged])
    points = []
    for load in LOADS:
        rate = chain / load
        late = np.array([one.late_fraction(DELAYS) for one in runs(rate)])
        half = interval(late)
        model = tcpstream.live(path, Video(packet_rate=rate)).late_fraction(DELAYS)
        points += [
            {"load": load, "delay": tau, "f": f, "half": h, "chain": m}
            for tau, f, h, m in zip(
                DELAYS.tolist(), late.mean(axis=0).tolist(), half.tolist(), np.asarray(model).tolist()
            )
        ]
    return {
        "sender": sender,
        "p": p,
        "R": R,
        "T_O": T_O,
        "T": float(seen.mean()),
        "T_half": float(interval(seen)[0]),
        "T_chain": chain,
        "loss_events": float(np.mean([one.loss_event_rate for one in backlogged])),
        "points": points,
    }


def main() -> None:
    """Run all, print and record."""
    rows = []
    for p, R in CASES:
        for sender in SENDERS:
            row = study(sender, p, R)
            rows.append(row)
            judged = [one for one in row["points"] if one["f"] >= 1e-3]
            ratios = [one["chain"] / one["f"] for one in judged]
            print(
                f"p = {p:g}, R = {R:g} s, {sender}: T/T_chain = {row['T'] / row['T_chain']:.3f} +- "
                f"{row['T_half'] / row['T_chain']:.3f}; f: chain/run from {min(ratios):.2f} to {max(ratios):.2f} in "
                f"{len(judged)} points, within 2 in {sum(0.5 <= ratio <= 2 for ratio in ratios)}",
                flush=True,
            )
    target = FilePath(__file__).parent / "results" / "protocol.json"
    target.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Copies that LC-RTP repairs: 10,000 seeds, with losses of 0 to 30% each way, in both modes.

``python validation/lc_rtp.py`` makes the runs that are not recorded (some minutes; interrupted, it goes on where it
was); ``--table`` prints what is recorded. A line of the record is a hundred seeds.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tcpstream.layered import incomplete, lists
from tcpstream.sim import Bernoulli, Flow, Link, Scenario, Traffic, simulate
from tcpstream.sim.layers import VideoLayers
from tcpstream.sim.lcrtp import LcRtp
from tcpstream.system.log import appending, read

RESULTS = Path(__file__).parent / "results" / "lc_rtp.jsonl"

SEEDS, BLOCK, CORES = 10_000, 100, 2

VIDEO = VideoLayers(duration=0.5)
"""64 segments in 16 frames: lists are one packet."""

MOST, RTT, CAP = 0.3, 0.1, 1e6
"""Losses are uniform on 0 to the first, each way for itself; round trip [s], and what is sent at most [bit/s]."""

PATIENCE, SECONDS = 30.0, 1500.0
"""Longer than the 243 round trips from packet to packet that the equation gives where all are lost [s]; of a run."""

TRIES, FEW = 60, 10


def run(seed: int, mode: int) -> tuple[float, float, Traffic]:
    """Return the losses there and back, and what became of a stream."""
    rng = np.random.default_rng((4, seed))
    there, back = rng.uniform(0, MOST, 2)
    links = {"there": Link(RTT / 2, loss=Bernoulli(there)), "back": Link(RTT / 2, loss=Bernoulli(back))}
    flow = Flow(("there",), ("back",), None, LcRtp(cap=CAP, video=VIDEO, mode=mode, tries=TRIES, patience=PATIENCE))
    return float(there), float(back), simulate(Scenario(links, (flow,)), SECONDS, rng).traffic[0]


def block(first: int) -> dict[str, Any]:
    """Return what the runs of a hundred seeds show."""
    found = {
        "first": first, "ended": 0, "incomplete": 0, "few": 0, "few_expected": 0.0, "few_variance": 0.0, "lists": 0,
        "lists_expected": 0.0, "lists_squares": 0.0, "most_lists": 0, "ended_0": 0, "exact_0": 0, "wrong": 0,
    }  # fmt: skip
    for seed in range(first, first + BLOCK):
        p, q, whole = run(seed, 1)
        if end := _end(whole):
            missing = whole.noted("missing")[1]
            chance = incomplete(int(missing[0]), p, q, FEW) if len(missing) else 0.0
            wanted = lists(int(missing[0]), p, q).mean if len(missing) else 0.0
            found["ended"] += 1
            found["incomplete"] += end["lacking"] > 0
            found["wrong"] += end["same"] != 1
            found["few"] += end["lists"] > FEW or end["lacking"] > 0
            found["few_expected"] += chance
            found["few_variance"] += chance * (1 - chance)
            found["lists"] += int(end["lists"])
            found["lists_expected"] += wanted
            found["lists_squares"] += (end["lists"] - wanted) ** 2
            found["most_lists"] = max(found["most_lists"], int(end["lists"]))
        _, _, losses = run(seed, 0)
        if end := _end(losses):
            found["ended_0"] += 1
            found["wrong"] += end["same"] != 1
            found["exact_0"] += int(VIDEO.segments - end["lacking"] == losses.noted("sent")[1][0])
    return found


def _end(traffic: Traffic) -> dict[str, float]:
    """Return how a run ended; nothing if it did not."""
    found = {name: traffic.noted(name)[1] for name in ("lists", "lacking", "same")}
    return {name: float(values[0]) for name, values in found.items()} if len(found["lists"]) else {}


def table(rows: list[dict[str, Any]]) -> str:
    """Return sums over all seeds."""
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    seeds = BLOCK * len(rows)
    away = (total["few"] - total["few_expected"]) / total["few_variance"] ** 0.5
    apart = (total["lists"] - total["lists_expected"]) / total["lists_squares"] ** 0.5
    return "\n".join(
        (
            f"{seeds} seeds, losses of 0 to {MOST:.0%} each way",
            f"mode 1, {TRIES} tries: {total['ended']} ended, {total['incomplete']} incomplete, "
            f"at most {max(row['most_lists'] for row in rows)} lists",
            f"mode 1, {FEW} tries: {total['few']} incomplete, {total['few_expected']:.1f} expected, {away:+.1f} sigma",
            f"lists: {total['lists'] / seeds:.3f} a copy, {total['lists_expected'] / seeds:.3f} expected, "
            f"{apart:+.1f} sigma",
            f"mode 0: {total['ended_0']} ended, {total['exact_0']} with exactly what was sent",
            f"copies with a wrong byte: {total['wrong']}",
        )
    )


def main() -> None:
    """Make what is missing, or print what is recorded."""
    parser = argparse.ArgumentParser(description="copies that LC-RTP repairs")
    parser.add_argument("--table", action="store_true", help="print what is recorded")
    if parser.parse_args().table:
        print(table(read(RESULTS)))
        return
    done = {row["first"] for row in read(RESULTS)} if RESULTS.exists() else set()
    todo = [first for first in range(0, SEEDS, BLOCK) if first not in done]
    with appending(RESULTS) as append, ProcessPoolExecutor(CORES) as pool:
        for found in pool.map(block, todo):
            append(found)
            print(found["first"], flush=True)


if __name__ == "__main__":
    main()

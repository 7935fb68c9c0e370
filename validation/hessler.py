"""Draw what Hessler and Welzl draw: rates that are sent and received over time, a second a point.

``python validation/hessler.py`` writes PNGs into ``docs/figures/hessler``; ``--downloads`` prints what downloads of
other senders send under heavy cross traffic, over those without any. Either takes some seconds.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from tcpstream import sim
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.hessler import SECONDS, SENDERS, Hessler, scenario
from tcpstream.testbeds.hessler_rows import NAMES

mpl.use("Agg")
from matplotlib import pyplot as plt

OUT = Path(__file__).parent.parent / "docs" / "figures" / "hessler"
SEED = 5

SENDER: dict[str, dict[str, Any]] = {
    "sack": {},
    "reno": {"variant": "reno"},
    "newreno": {"variant": "newreno"},
    "rack": {"variant": "rack"},
    "sack, least timer 0.3 s": {"min_rto": 0.3},
    "sack, least timer 1 s": {"min_rto": 1.0},
}
"""Senders of a download, and how they differ from that of the test bed."""

RUNS = 20


def main() -> None:
    """Draw each kind of cross traffic: a panel a sender."""
    OUT.mkdir(parents=True, exist_ok=True)
    for cross in ("little", "medium", "heavy"):
        figure, panels = plt.subplots(len(SENDERS), 1, figsize=(6.4, 1.8 * len(SENDERS)), sharex=True, sharey=True)
        for sender, panel in zip(SENDERS, panels):
            sent, received, begin = rates(f"{sender} {cross}")
            seconds = np.arange(len(sent)) + 0.5
            panel.axvspan(begin, begin + 60, color="0.92")
            panel.plot(seconds, sent, lw=1, label="sent")
            panel.plot(seconds, received, lw=1, label="received")
            panel.set_title(f"{NAMES[sender][0].upper()}{NAMES[sender][1:]}", fontsize=9, loc="left")
        panels[0].set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), fontsize=8, frameon=False, ncols=2, loc="upper right")
        panels[-1].set_xlabel("time [s]")
        figure.supylabel("rate [kB/s]", fontsize=9)
        figure.tight_layout()
        figure.savefig(OUT / f"{cross}.png", dpi=120)
        plt.close(figure)


def downloads() -> None:
    """Print means over runs, and their 95% intervals."""
    bed = Hessler()
    assumed = bed.values(Variant())
    for name, other in SENDER.items():
        shares = []
        for seed in range(RUNS):
            sent = []
            for cross in ("heavy", "none"):
                rng = np.random.default_rng(seed)
                made = scenario(f"ftp {cross}", assumed, rng)
                first = made.flows[0]
                assert first.tcp is not None
                flows = (replace(first, tcp=replace(first.tcp, **other)), *made.flows[1:])
                sent.append(sim.simulate(replace(made, flows=flows), SECONDS, rng).traffic[0].there.sent_bytes)
            shares.append(sent[0] / sent[1])
        mean, low, high = sim.interval(shares)
        print(f"{name}: {mean:.3f} ({low:.3f} to {high:.3f})")


def rates(condition: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return what is sent and received in each second [kB/s], and when cross traffic begins [s]."""
    bed, rng = Hessler(), np.random.default_rng(SEED)
    made = scenario(condition, bed.values(Variant()), rng, bins=1.0)
    bins = sim.simulate(made, SECONDS, rng).traffic[0].bins
    assert bins is not None
    return bins.sent / 1000, bins.received / 1000, made.flows[1].start


if __name__ == "__main__":
    downloads() if "--downloads" in sys.argv[1:] else main()

"""Draw what Hessler and Welzl draw: rates that are sent and received over time, a second a point.

``python validation/hessler.py`` writes PNGs into ``docs/figures/hessler``; a minute.
"""

from __future__ import annotations

from pathlib import Path

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


def rates(condition: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return what is sent and received in each second [kB/s], and when cross traffic begins [s]."""
    bed, rng = Hessler(), np.random.default_rng(SEED)
    made = scenario(condition, bed.values(Variant()), rng, bins=1.0)
    bins = sim.simulate(made, SECONDS, rng).traffic[0].bins
    assert bins is not None
    return bins.sent / 1000, bins.received / 1000, made.flows[1].start


if __name__ == "__main__":
    main()

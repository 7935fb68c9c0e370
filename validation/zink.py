"""Draw what Zink et al. draw: valid layers of each frame, and their mean over the frame and the previous 100.

``python validation/zink.py`` writes PNGs into ``docs/figures/zink``: their Figures 11 to 14. It takes a minute.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from tcpstream import sim
from tcpstream.sim.layers import valid_layers, windowed_mean
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.zink import SECONDS, Zink, scenario, video

mpl.use("Agg")
from matplotlib import pyplot as plt

OUT = Path(__file__).parent.parent / "docs" / "figures" / "zink"
SEED, SHOWN = 5, 100.0
"""Of the runs, and how much of each is drawn [s]."""

NAMES = {"tfrc": "TFRC", "udp": "UDP after TFRC", "none": "UDP all the way"}


def layers(run: sim.Run, flow: int, *, hierarchical: bool = True) -> NDArray[np.int64]:
    """Return the layers of each frame that is drawn."""
    made = video(Zink().values(Variant()), SECONDS)
    seen = run.traffic[flow].arrivals
    assert seen is not None
    return valid_layers(made, seen.tag, hierarchical=hierarchical)[: round(SHOWN / made.period)]


def both(name: str, runs: dict[str, tuple[sim.Run, int]]) -> None:
    """Draw frames, a panel each, and all means in one."""
    figure, panels = plt.subplots(len(runs) + 1, 1, figsize=(6.4, 1.6 * (len(runs) + 1)), sharex=True, sharey=True)
    for panel, (label, (run, flow)) in zip(panels, runs.items()):
        frames = layers(run, flow)
        seconds = np.arange(len(frames)) * SHOWN / len(frames)
        panel.plot(seconds, frames, lw=0.3)
        panel.set_title(label, fontsize=9, loc="left")
        panels[-1].plot(seconds, windowed_mean(frames), lw=1, label=label)
    finish(figure, panels[-1], OUT / name, loc="center right", bbox_to_anchor=(1, 0.7), ncols=2)


def hierarchical(runs: dict[str, sim.Run]) -> None:
    """Draw means with and without hierarchy."""
    figure, panels = plt.subplots(1, 2, figsize=(6.4, 2.8), sharey=True)
    for panel, one in zip(panels, (True, False)):
        for name, run in runs.items():
            frames = layers(run, -1, hierarchical=one)
            seconds = np.arange(len(frames)) * SHOWN / len(frames)
            panel.plot(seconds, windowed_mean(frames), lw=1, label=NAMES[name])
        panel.set_title("hierarchical" if one else "not hierarchical", fontsize=9, loc="left")
        panel.set_xlabel("time [s]")
    finish(figure, panels[1], OUT / "14.png", loc="lower right")


def finish(figure: Any, panel: Any, file: Path, **legend: Any) -> None:
    """Name the axes and the lines, and save."""
    panel.set_ylim(-0.1, 4.1)
    panel.set_xlabel("time [s]")
    panel.legend(fontsize=8, frameon=False, **legend)
    figure.supylabel("layers", fontsize=9)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main() -> None:
    """Draw all."""
    OUT.mkdir(parents=True, exist_ok=True)
    assumed = Zink().values(Variant())
    runs = {
        name: sim.simulate(scenario(name, assumed), SECONDS, np.random.default_rng(SEED))
        for name in ("tfrc", "udp", "none", "internet tfrc", "internet udp")
    }
    for name, condition in (("11.png", "tfrc"), ("12.png", "udp")):
        both(name, {"cache": (runs[condition], 0), "client": (runs[condition], 1)})
    both("13.png", {"TFRC, 384 kbit/s": (runs["internet tfrc"], 1), "UDP": (runs["internet udp"], 1)})
    hierarchical({name: runs[name] for name in NAMES})


if __name__ == "__main__":
    main()

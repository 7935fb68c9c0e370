"""Draw what Chung, Claypool and Zhu draw, from the runs as recorded; levels over time from two runs that are made.

``python validation/chung.py`` writes PNGs into ``docs/figures/chung``; a few seconds. ``--numbers`` prints what the
page says of the recorded runs besides rows and tables.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

from tcpstream import sim
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.chung import CLIP_65, RATES, Chung, scenario
from tcpstream.testbeds.chung_measures import PACKET
from tcpstream.testbeds.chung_rows import EQUAL
from tcpstream.testbeds.chung_table import FAIR, MEASURES, friendly
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.study import recorded

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

OUT = Path(__file__).parent.parent / "docs" / "figures" / "chung"
SEED = 5


def as_assumed() -> Seen:
    """Return the recorded runs with all as assumed."""
    return Seen(record for record in recorded(Chung()) if not record["assumption"])


def numbers(seen: Seen) -> str:
    """Return what the page says of the runs besides rows and tables."""
    narrow = [run["rtt"] for run in seen.runs("75") if run["most"] < FAIR["75"]]
    quiet = [f"{rate}: {np.mean([run['p'] == 0 for run in seen.runs(rate)]):.0%}" for rate in RATES]
    least = []
    for rate, fair in FAIR.items():
        rtt = float(np.median([run["rtt"] for run in seen.runs(rate)]))
        least.append(f"{rate}: {(8e-3 * PACKET * math.sqrt(1.5) / (rtt * fair)) ** 2:.0%}")
    more = np.mean([run["udp"] - run["tcp"] > EQUAL * 150 for run in seen.runs("150")])
    runs = [run for rate in FAIR for run in seen.runs(rate)]
    changed = [
        f"{measure}: {sum(friendly(run, 'mathis') != friendly(run, measure) for run in runs)} of {len(runs)}"
        for measure in MEASURES[1:]
    ]
    return "\n".join(
        (
            f"median round trip time at 75 kbit/s, levels all below the fair share: {np.median(narrow):.2f} s",
            f"clips without a lost ping, by kbit/s: {', '.join(quiet)}",
            f"lost pings from which Equation 1 calls the fair share unfriendly: {', '.join(least)}",
            f"more over UDP at 150 kbit/s by over {EQUAL:.0%} of it: {more:.0%} of the clips",
            f"verdicts of Equation 1 that change: {', '.join(changed)}",
        )
    )


def main() -> None:
    """Draw all figures."""
    OUT.mkdir(parents=True, exist_ok=True)
    seen = as_assumed()
    for name, draw in (("shares", shares), ("scaling", scaling), ("buffering", buffering)):
        draw(name, seen)
    levels("levels")


def levels(name: str) -> None:
    """Draw the coded rate over time: Figure 7, with a server that steps over TCP, and one that does not."""
    figure, panels = plt.subplots(2, 1, figsize=(6.4, 4.4), sharex=True)
    for steps, panel in zip((True, False), panels):
        for over in ("udp", "tcp"):
            made = scenario("35", CLIP_65._replace(steps=steps), Chung().values(Variant()), (over,))
            times, rates = sim.simulate(made, 320.0, np.random.default_rng(SEED)).traffic[0].noted("coded")
            panel.step([*times, 200.0], [*rates / 1e3, rates[-1] / 1e3], where="post", label=over.upper(), lw=1.2)
        panel.axhline(35, color="0.6", lw=0.8, ls="--")
        panel.set_title(
            f"over TCP the server goes down {'level by level' if steps else 'at once'}", fontsize=9, loc="left"
        )
    panels[0].legend(frameon=False, fontsize=8)
    panels[1].set_xlabel("time [s]")
    figure.supylabel("coded rate [kbit/s]", fontsize=9)
    save(figure, name)


def shares(name: str, seen: Seen) -> None:
    """Draw CDFs of mean rates and of their difference over the bottleneck: Figures 2 and 4."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
    for number, rate in enumerate(RATES):
        udp, tcp = (np.array([run[over] for run in seen.runs(rate)]) for over in ("udp", "tcp"))
        cdf(panels[0], udp, f"C{number}-", f"{rate} kbit/s, UDP")
        cdf(panels[0], tcp, f"C{number}:", "TCP")
        cdf(panels[1], (tcp - udp) / float(rate), f"C{number}-", f"{rate} kbit/s")
    panels[0].set_xlabel("mean rate [kbit/s]")
    panels[1].set_xlabel("(TCP - UDP) / bottleneck")
    panels[0].set_ylabel("share of clips")
    for panel in panels:
        panel.legend(frameon=False, fontsize=7)
    save(figure, name)


def scaling(name: str, seen: Seen) -> None:
    """Draw CDFs of the number of changes and of the time to adapt: Figures 8 and 9."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    for over in ("udp", "tcp"):
        cdf(panels[0], [run[f"{over}_level_changes"] for run in seen.runs("35")], "-", over.upper())
        times = [run[f"{over}_adapted"] for run in seen.runs("35")]
        cdf(panels[1], [time for time in times if time is not None], "-", over.upper())
    panels[0].set_xlabel("changes of the level")
    panels[0].set_xlim(-1, 40)
    panels[1].set_xlabel("time until the coded rate is below 35 kbit/s [s]")
    panels[0].set_ylabel("share of clips")
    panels[0].legend(frameon=False, fontsize=8)
    save(figure, name)


def buffering(name: str, seen: Seen) -> None:
    """Draw the ratio of buffering to steady rate, and its CDF without a bottleneck: Figures 10 and 11."""
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2))
    for over, mark in (("udp", "C0."), ("tcp", "C1.")):
        runs = [run for rate in RATES for run in seen.runs(rate) if run[f"{over}_ratio"] is not None]
        panels[0].plot(
            [run[over] for run in runs], [run[f"{over}_ratio"] for run in runs], mark, ms=3, label=over.upper()
        )
        found = [run[f"{over}_ratio"] for run in seen.runs("lan") if run[f"{over}_ratio"] is not None]
        cdf(panels[1], found, "-", over.upper())
    panels[0].set_ylim(0, 10)
    panels[0].set_xlabel("mean rate [kbit/s]")
    panels[0].set_ylabel("buffering over steady rate")
    panels[1].set_xlim(0, 10)
    panels[1].set_xlabel("buffering over steady rate, campus network")
    panels[1].set_ylabel("share of clips")
    panels[0].legend(frameon=False, fontsize=8)
    save(figure, name)


def cdf(panel: Axes, values: Sequence[float] | np.ndarray, style: str, label: str) -> None:
    """Draw the share of values up to each."""
    ordered = np.sort(values)
    panel.plot(
        ordered, np.arange(1, len(ordered) + 1) / len(ordered), style, drawstyle="steps-post", lw=1.1, label=label
    )


def save(figure: Figure, name: str) -> None:
    """Write a figure."""
    figure.tight_layout()
    figure.savefig(OUT / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    print(numbers(as_assumed())) if "--numbers" in sys.argv[1:] else main()

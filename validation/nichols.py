"""Draw what Nichols draws: rates over time, and rates and losses over the rate of the clip.

``python validation/nichols.py`` writes PNGs into ``docs/figures/nichols``; a minute. The last two are of the recorded
study. ``--thinned`` counts of 100 runs those that random losses thin; a minute.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from tcpstream import sim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.nichols import CASES, SECONDS, Nichols, scenario
from tcpstream.testbeds.nichols_cases import CAPACITIES, RATES
from tcpstream.testbeds.nichols_seen import seconds

mpl.use("Agg")
from matplotlib import pyplot as plt

OUT = Path(__file__).parent.parent / "docs" / "figures" / "nichols"
SEED = 5

THINNED = 100

ASSUMED = Nichols().values(Variant())


def main() -> None:
    """Draw all figures."""
    OUT.mkdir(parents=True, exist_ok=True)
    for condition in ("340 over 725", "548 over 250"):
        over_time(condition)
    records = study.recorded(Nichols())
    seen = Seen(record for record in records if study.key(record).variant == Variant())
    over_rates(seen, "rates", "rate [kbit/s]", (("offered", "sent"), ("got", "received"), ("tcp", "download")), "after")
    over_rates(seen, "losses", "loss [%]", (("loss", "while buffering"), ("after_loss", "after")), None)


def thinned() -> None:
    """Print how many runs settle on less, by the random loss."""
    for percent in (2, 3, 5, 10):
        rngs = np.random.default_rng(SEED).spawn(THINNED)
        less = sum(Nichols().simulate(f"loss {percent}", ASSUMED, rng)["less"] > 0 for rng in rngs)
        print(f"{percent}%: {less} of {THINNED}")


def over_time(condition: str) -> None:
    """Draw rates and losses of a run, a second a point."""
    rng = np.random.default_rng(SEED)
    made = scenario(CASES[condition], ASSUMED, rng)
    run = sim.simulate(made, SECONDS, rng)
    figure, (rates, losses) = plt.subplots(2, 1, figsize=(6.4, 4.4), sharex=True, height_ratios=(2, 1))
    for traffic, name, color in zip(run.traffic, ("download", "player"), ("C1", "C0")):
        assert traffic.bins is not None
        sent, received, dropped = (seconds(getattr(traffic.bins, what)) for what in ("sent", "received", "dropped"))
        time = np.arange(len(sent)) + 0.5
        if name == "player":
            rates.plot(time, 8 * sent / 1e3, lw=1, ls=":", color=color, label="player, sent")
        rates.plot(time, 8 * received / 1e3, lw=1, color=color, label=f"{name}, received")
        losses.plot(time, 100 * dropped / np.maximum(sent, 1), lw=1, color=color)
    begin, full = (float(run.traffic[1].noted(name)[0][0]) for name in ("plays", "full"))
    for axes in (rates, losses):
        axes.axvspan(begin, full, color="0.92")
        axes.set_ylim(bottom=0)
    rates.legend(fontsize=8, frameon=False)
    rates.set_ylabel("rate [kbit/s]")
    losses.set_ylabel("loss [%]")
    losses.set_xlabel(f"time [s]; {condition} kbit/s, grey: while buffering")
    save(figure, condition.replace(" ", "-"))


def over_rates(seen: Seen, name: str, label: str, numbers: tuple[tuple[str, str], ...], after: str | None) -> None:
    """Draw means of numbers over the rates of clips of one level: a panel a link."""
    figure, panels = plt.subplots(1, len(CAPACITIES), figsize=(8.4, 3.0), sharex=True)
    for capacity, panel in zip(CAPACITIES, panels):
        conditions = [f"{rate} over {capacity}" for rate in RATES]
        for number, what in numbers:
            _points(panel, seen, conditions, number, what)
        if after:
            _points(panel, seen, conditions, after, "received after")
        panel.axvline(capacity, color="0.8", lw=1, zorder=0)
        panel.set_xlim(0, 1200)
        panel.set_ylim(bottom=0)
        panel.set_title(f"{capacity} kbit/s", fontsize=9)
    panels[0].set_ylabel(label)
    figure.supxlabel("rate of the clip [kbit/s]", fontsize=9)
    panels[0].legend(fontsize=7, frameon=False)
    save(figure, name)


def _points(panel: Any, seen: Seen, conditions: list[str], number: str, what: str) -> None:
    means = [seen.of(condition, number).mean for condition in conditions]
    panel.plot(RATES, means, lw=1, marker=".", label=what)


def save(figure: Any, name: str) -> None:
    """Write a figure."""
    figure.tight_layout()
    figure.savefig(OUT / f"{name}.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    thinned() if "--thinned" in sys.argv[1:] else main()

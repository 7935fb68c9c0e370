"""How late fractions depend on the length of coarse steps: ``python validation/steps.py``, two minutes.

CUBIC at 5 Mbit/s for ten minutes, T/mu = 0.98: f in steps of one, two and three rounds, whose variance is that of the
chain, and whose mean is alone. What they say about decision 0066 is the spread of each line.
"""

from __future__ import annotations

from dataclasses import replace

from tcpstream import Path, Video
from tcpstream.answers.coarse_arrivals import CoarseArrivals
from tcpstream.answers.timeline import Timeline
from tcpstream.coarse import resolution
from tcpstream.tcp import chain_of

PATH = Path(sender="classic", loss=0.005, rtt=0.04, rto=0.24, tcp="cubic", initial_window=10, detection="rack")
VIDEO = Video(bitrate=5e6, duration=600)
STEPS, DELAYS = (1, 2, 3), (5.0, 20.0, 40.0, 60.0)


def fractions(step: int) -> list[float]:
    """Return f at the delays, in steps of so many rounds."""
    rounds = resolution.Scale.of(chain_of(PATH)).rounds
    longer = resolution.LONGER if chain_of(PATH).n_states > resolution.MANY_STATES else 1.0
    fine = replace(resolution.FINE, steps=longer * rounds / (step + 1e-3))
    on = Timeline.of(PATH, VIDEO)
    law = CoarseArrivals(PATH, [on], fine)
    return [law.late_packets(on, delay) / VIDEO.packets for delay in DELAYS]


def main() -> None:
    """Print both tables."""
    spare = resolution.SPARE
    for name, until in (("mean and variance of the chain", spare), ("mean of the chain", 0.0)):
        resolution.SPARE = until
        rows = [fractions(step) for step in STEPS]
        print(name)
        for delay, *values in zip(DELAYS, *rows):
            spread = max(values) / min(values) - 1
            print(f"  {delay:3.0f} s: " + ", ".join(f"{one:.5g}" for one in values) + f"; spread {100 * spread:.2g}%")
    resolution.SPARE = spare


if __name__ == "__main__":
    main()

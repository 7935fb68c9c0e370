"""Late packets of a live stream under TFRC: `layered.late_of_paced` beside the simulator's TFRC.

``python validation/paced_late.py`` records what is missing, a few minutes on one core; ``--table`` prints the table of
the documentation. Places, delays and what counts as near were written down before the first run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from tcpstream import sim
from tcpstream.layered import late_of_paced
from tcpstream.sim.tfrc import Feed, Segment
from tcpstream.sim.tfrc.tfrc_figures import figures
from tcpstream.system.log import appending, read

RESULTS = FilePath(__file__).parent / "results" / "paced_late.jsonl"

DELAYS = (0.25, 0.5, 1.0, 2.0)
"""How much later than without a wait packets may come [s]."""

SECONDS, WARMUP, RUNS, SEED = 500.0, 20.0, 10, 7
"""Length of a run and what is left out at its begin [s]; runs."""

JITTER = 0.001
"""Senders before a bottleneck take up to so long a packet [s], at random: else all runs were one."""

NEAR, FACTOR, RARE = 0.05, 2.0, 0.01
"""Late fractions are near within so much, or within a factor where one packet in a hundred is late by packets."""


class Place(NamedTuple):
    """Where a stream is sent: independent losses and no queue, or a bottleneck beside a TCP download.

    Attributes
    ----------
    made : float
        By the stream [packets/s], of 1000 bytes.
    rtt : float
        Without queue [s].
    loss : float
        Of each packet; 0 at a bottleneck.
    rate : float
        Of the bottleneck [bit/s], with a queue of 25 packets; 0 for none.
    """

    made: float
    rtt: float
    loss: float = 0.0
    rate: float = 0.0


PLACES = (
    Place(90.0, 0.1, loss=0.01),
    Place(75.0, 0.1, loss=0.01),
    Place(45.0, 0.2, loss=0.01),
    Place(90.0, 0.05, loss=0.03),
    Place(75.0, 0.05, loss=0.03),
    Place(22.0, 0.2, loss=0.03),
    Place(40.0, 0.06, rate=1e6),
    Place(50.0, 0.06, rate=1e6),
    Place(80.0, 0.06, rate=2e6),
    Place(100.0, 0.06, rate=2e6),
)


class Live(Feed):
    """Segments that are made one after the other, each at its time.

    Parameters
    ----------
    interval : float
        [s].
    """

    def __init__(self, interval: float) -> None:
        self._interval, self._number = interval, 0

    def due(self, now: float) -> float:
        """Return when the next one is made [s]."""
        del now
        return self._number * self._interval

    def pull(self, now: float) -> Segment | None:
        """Return the oldest one that is left."""
        if now < self.due(now):
            return None
        self._number += 1
        return Segment(1000, tag=self._number - 1)


@dataclass(frozen=True)
class Camera(sim.Tfrc):
    """A live stream under TFRC.

    Parameters
    ----------
    made : float
        [packets/s].
    """

    made: float = 60.0

    def feed(self) -> Feed:
        """Return what a run's sender pulls from."""
        return Live(1 / self.made)


def scenario(place: Place) -> sim.Scenario:
    """Return the network, with the stream as its first flow."""
    way = place.rtt / 2
    camera = Camera(made=place.made, jitter=JITTER if place.rate else 0.0)
    stream = sim.Flow(("there",), ("back",), None, camera, measured=True)
    if not place.rate:
        there = sim.Link(way, loss=sim.Bernoulli(place.loss))
        return sim.Scenario({"there": there, "back": sim.Link(way)}, (stream,))
    links = {"there": sim.Link(way, rate=place.rate, queue=25), "back": sim.Link(way)}
    tcp = sim.Tcp("sack", packet_size=1000, jitter=JITTER)
    return sim.Scenario(links, (stream, sim.Flow(("there",), ("back",), tcp)))


def row(place: Place) -> dict[str, Any]:
    """Return late fractions of runs with their 95% intervals, and those of the model at the p and R that they saw.

    ``variation`` is the coefficient of variation of the packets from a loss event to the next: about 1 in the model.
    """
    seen = [_run(place, rng) for rng in np.random.default_rng(SEED).spawn(RUNS)]
    p, rtt, variation = (
        float(np.mean([one[name] for one in seen])) for name in ("loss_event_rate", "rtt_s", "variation")
    )
    least = rtt - place.rtt / 2
    simulated = [sim.interval([float(np.mean(one["took"] > least + tau)) for one in seen]) for tau in DELAYS]
    found = late_of_paced(place.loss or p, rtt, place.made, DELAYS, np.random.default_rng(SEED))
    return {
        "place": list(place),
        "p": round(p, 5),
        "rtt": round(rtt, 4),
        "variation": round(variation, 2),
        "simulated": [[round(float(value), 5) for value in one] for one in simulated],
        "model": found.fractions.round(5).tolist(),
        "margins": found.margins.round(5).tolist(),
    }


def _run(place: Place, rng: np.random.Generator) -> dict[str, Any]:
    """Return what the stream measured, how its loss intervals vary, and how long packets took since made [s]."""
    traffic = sim.simulate(scenario(place), SECONDS, rng).traffic[0]
    assert traffic.arrivals is not None
    took = traffic.arrivals.time - traffic.arrivals.tag / place.made
    times, numbers = traffic.noted("loss_event")
    intervals = np.diff(numbers[times > WARMUP])
    return {
        **figures(traffic, WARMUP, SECONDS),
        "variation": intervals.std() / intervals.mean(),
        "took": took[traffic.arrivals.time > WARMUP],
    }


def near(found: dict[str, Any]) -> list[tuple[bool, bool | None]]:
    """Return for each delay whether the model is within `NEAR`, and within `FACTOR`, None where few are late."""
    verdicts: list[tuple[bool, bool | None]] = []
    for (mean, _, _), model in zip(found["simulated"], found["model"]):
        within = 1 / FACTOR <= model / mean <= FACTOR if mean >= RARE else None
        verdicts.append((abs(model - mean) <= NEAR, within))
    return verdicts


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the documentation."""
    lines = [
        f"| packets/s | p | R [s] | variation | {' | '.join(f'{tau:g} s' for tau in DELAYS)} |",
        f"|--:|--:|--:|--:|{'---|' * len(DELAYS)}",
    ]
    for one in rows:
        place = Place(*one["place"])
        cells = [
            f"{mean:.3f} ({max(low, 0):.3f} to {high:.3f}), {model:.3f}"
            for (mean, low, high), model in zip(one["simulated"], one["model"])
        ]
        p = f"{place.loss:g}" if place.loss else f"{one['p']:.4f}"
        lines.append(f"| {place.made:g} | {p} | {one['rtt']:.3f} | {one['variation']:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdicts(rows: list[dict[str, Any]]) -> str:
    """Return how many late fractions are near, for each kind of place."""
    lines = []
    for kind, those in (
        ("independent losses", [one for one in rows if Place(*one["place"]).loss]),
        ("behind a bottleneck", [one for one in rows if not Place(*one["place"]).loss]),
    ):
        found = [verdict for one in those for verdict in near(one)]
        factors = [within for _, within in found if within is not None]
        lines.append(
            f"{kind}: {sum(close for close, _ in found)} of {len(found)} within {NEAR:g}; "
            f"{sum(factors)} of {len(factors)} within a factor of {FACTOR:g} where 1 in {1 / RARE:g} is late"
        )
    return "\n".join(lines)


def main() -> None:
    """Make what is missing, or print what is recorded."""
    parser = argparse.ArgumentParser(description="late packets of a live stream under TFRC")
    parser.add_argument("--table", action="store_true", help="print what is recorded")
    if parser.parse_args().table:
        rows = read(RESULTS)
        print(f"{table(rows)}\n\n{verdicts(rows)}")
        return
    done = {Place(*one["place"]) for one in read(RESULTS)}
    with appending(RESULTS) as append:
        for place in PLACES:
            if place not in done:
                append(row(place))
                print(place, flush=True)


if __name__ == "__main__":
    main()

"""Nichols: Windows Streaming Media behind an emulated link, beside a download."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from .. import sim
from ..paper.claim import Claim
from ..sim.players.wsm import Wsm
from .bed import Bed
from .measured import Seen
from .nichols_cases import AUDIO, CAPACITIES, RATES, Case, cases
from .nichols_rows import rows
from .nichols_seen import BIN, figures

CLIP = 60.0
"""Section 4.1 [s]."""

BEFORE = 10.0
"""The download begins so much earlier [s] (Section 3.4)."""

JITTER = 1.0
"""The player begins up to so much later [s], at random: else all runs without losses were one."""

SECONDS = BEFORE + 75
"""Length of a run."""

CASES = dict(cases())


class Nichols(Bed):
    """The test bed of Section 3: server, NIST Net router, client."""

    name = "nichols"
    title = "Nichols, Measurement of Windows Streaming Media, thesis, Worcester Polytechnic Institute, 2004"
    runs = 3
    assumed: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "window_packets": (12.0, 44.0),
        "delay_each_way": (1.0, 0.5),
        "packet_bytes": (1000.0, 500.0, 1400.0),
        "buffer_s": (14.0, 16.0),
        "most_speed": (4.0, 2.0),
        "resends": (3.0, 2.0, 4.0),
        "clean": (0.1, 0.05, 0.15),
        "settling_s": (2.0, 5.0),
        "patience_s": (40.0, 35.0),
    }

    def conditions(self) -> tuple[str, ...]:
        """Return the names of the cases, of choices among more and more levels, and of the download alone."""
        choices = (f"choice {way} {capacity}" for way in ("down", "up") for capacity in CAPACITIES)
        return (*CASES, *choices, "alone")

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what a run shows: see `figures`; levels chosen [kbit/s]; what the download alone receives [kbit/s]."""
        if condition == "alone":
            return {f"window {window}": _alone(window, rng) for window in (12, 44)}
        if condition.startswith("choice"):
            _, way, capacity = condition.split()
            return {"chosen": [_chosen(Case(levels, float(capacity)), assumed, rng) for levels in growing(way)]}
        case = CASES[condition]
        return figures(sim.simulate(scenario(case, assumed, rng), SECONDS, rng), case)

    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield what the text says, judged."""
        yield from rows(seen)


def growing(way: str) -> list[tuple[int, ...]]:
    """Return sets of levels: from the highest down, or from the lowest up, with one more each."""
    return [RATES[-n:] if way == "down" else RATES[:n] for n in range(1, len(RATES) + 1)]


def scenario(case: Case, assumed: Mapping[str, float], rng: np.random.Generator) -> sim.Scenario:
    """Return the download and the player."""
    start = BEFORE + JITTER * rng.random()
    player = Wsm(
        sim.Clip(CLIP, tuple(1e3 * rate for rate in case.rates), tuple(1e3 * AUDIO[rate] for rate in case.rates)),
        packet=int(assumed["packet_bytes"]), buffer=assumed["buffer_s"],
        most_speed=int(assumed["most_speed"]), resends=int(assumed["resends"]), clean=assumed["clean"],
        settling=assumed["settling_s"], patience=assumed["patience_s"],
    )  # fmt: skip
    delay = case.delay / 1e3 * assumed["delay_each_way"]
    losing = case.loss > 0 or case.later > 0
    links = {
        "in": sim.Link(1e-4, rate=100e6),
        "out": sim.Link(
            delay, rate=1e3 * case.capacity, queue=case.queue, holds_delayed=True,
            loss=sim.Bernoulli(case.loss) if losing else None,
            changes=(sim.Change(start + player.setup + 15, loss=case.later),) if losing else (),
        ),
        "back": sim.Link(delay),
    }  # fmt: skip
    flows = (
        _download(int(assumed["window_packets"])),
        sim.Flow(("in", "out"), ("back",), None, player, start=start, name="player"),
    )
    return sim.Scenario(links, flows, bins=BIN)


def _download(window: int) -> sim.Flow:
    """Return a TCP download of the time."""
    tcp = sim.Tcp(
        "sack", max_window=window, min_rto=0.2, initial_rto=3.0, timer="rfc6298", granularity=0.2, ack_every=2,
        jitter=1e-3,
    )  # fmt: skip
    return sim.Flow(("in", "out"), ("back",), tcp, name="download")


def _chosen(case: Case, assumed: Mapping[str, float], rng: np.random.Generator) -> int:
    """Return the level that a player chooses [kbit/s]."""
    run = sim.simulate(scenario(case, assumed, rng), BEFORE + 10, rng)
    return case.rates[int(run.traffic[1].noted("level")[1][0])]


def _alone(window: int, rng: np.random.Generator) -> int:
    """Return what a download receives from 10 s to 20 s over 140 kbit/s and a round trip of 1 s [kbit/s]."""
    links = {
        "in": sim.Link(1e-4, rate=100e6),
        "out": sim.Link(0.5, rate=140e3, queue=80, holds_delayed=True),
        "back": sim.Link(0.5),
    }
    run = sim.simulate(sim.Scenario(links, (_download(window),), bins=10.0), 20.0, rng)
    bins = run.traffic[0].bins
    assert bins is not None
    return round(8 * int(bins.received[1]) / 1e4)

"""TCP beside the players of the test beds, and the chain with the p and R that it saw.

``python validation/beside_players.py`` makes and records what is missing, some minutes; ``--table PAPER`` prints the
tables of a page. A download begins when the player is steady, and is watched for 80 s, as a stored video of 60 s would
be that is played at a share of the download's mean throughput T. The chains get what these flows saw: the paper's the
mean loss-event rate, that of a SACK sender with slow start what is dropped over sent, both R and the timer, and the
second one for its late fractions also the p at which it has T. Without losses T is the window over R.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

import tcpstream
from tcpstream import Path, Video, sim
from tcpstream.errors import InputError, NoFiniteDelayError, unremarked
from tcpstream.numerics.roots import crossing
from tcpstream.system.log import appending, read
from tcpstream.testbeds import chung, hessler, nichols
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.nichols_cases import Case
from tcpstream.testbeds.papers import NAMES, bed
from tcpstream.testbeds.population import Draw

RESULTS = FilePath(__file__).parent / "results" / "beside_players.jsonl"

RUNS, SEED = 60, 2004

START, SECONDS, VIDEO = 40.0, 80.0, 60.0
"""When the download begins, how long it is watched, and the length of the video [s]."""

SHARES, DELAYS = (0.8, 0.9), (1.0, 2.0, 4.0, 8.0)
"""mu / T, and startup delays [s]."""

LONG = 200.0
"""Length of a clip: the player is steady while the download is watched [s]."""

VISIBLE, LEAST = 1e-3, 1e-4
"""Late fractions, and loss rates, from here on are judged."""


class Place(NamedTuple):
    """A download beside a player in a test bed."""

    paper: str
    player: str
    window: int


PLACES = tuple(
    Place(paper, player, window)
    for paper, players in {
        "nichols": ("148", "340", "548"),
        "hessler": ("wmp", "quicktime", "real"),
        "chung": ("300", "600"),
    }.items()
    for player in players
    for window in (12, 44)
)  # fmt: skip
"""Players by their rate over 725 kbit/s, their name, and the token rate [kbit/s]."""


def scenario(place: Place, rng: np.random.Generator) -> sim.Scenario:
    """Return the network, the download, and the player."""
    made = _bed(place, rng)
    player = next(flow for flow in made.flows if isinstance(flow.source, sim.Application) and flow.tcp is None)
    source: Any = player.source
    if place.player == "quicktime":
        source = replace(source, duration=LONG)
    else:
        source = replace(source, clip=replace(source.clip, duration=LONG))
    tcp = nichols._download(place.window).tcp
    start = START + rng.random()
    return sim.Scenario(
        made.links,
        (
            sim.Flow(player.there, player.back, tcp, sim.Backlogged(), start=start, measured=True, name="download"),
            replace(player, source=source),
        ),
        bins=1.0,
    )


def _bed(place: Place, rng: np.random.Generator) -> sim.Scenario:
    assumed = bed(place.paper).values(Variant())
    if place.paper == "nichols":
        return nichols.scenario(Case((int(place.player),), 725.0), assumed, rng)
    if place.paper == "hessler":
        return hessler.scenario(f"{place.player} none", assumed, rng)
    clip = sim.Clip(LONG, (20e3, 34e3, 45e3, 80e3, 150e3, 225e3, 350e3, 450e3))
    return chung.scenario(place.player, Draw(clip, 0.08, 0.0, steps=False), assumed, ("udp",))


def watched(place: Place) -> dict[str, Any]:
    """Return what the downloads saw, and the chains' numbers."""
    runs = [
        sim.simulate(scenario(place, rng), START + 1 + SECONDS, rng)
        for rng in np.random.default_rng((SEED, PLACES.index(place))).spawn(RUNS)
    ]
    flows = [run.flows[0] for run in runs]
    seen = {
        name: float(np.nanmean([getattr(flow, what) for flow in flows]))
        for name, what in (
            ("dropped", "loss_rate"), ("events", "loss_event_rate"), ("rtt", "rtt"), ("rto", "rto"),
            ("T", "throughput"),
        )
    }  # fmt: skip
    seen["u"] = float(np.mean([_rate(run) for run in runs]))
    found: dict[str, Any] = {**place._asdict(), "seen": seen, "T": {"window": place.window / seen["rtt"]}, "late": []}
    lossy = seen["dropped"] >= LEAST
    if lossy:
        found["T"]["paper"] = tcpstream.throughput(paper_path(place, seen))
        found["T"]["sack"] = tcpstream.throughput(path(place, seen, seen["dropped"]))
    given = {"sack": seen["dropped"], "same T": _matched(place, seen)} if lossy else {}
    for share in SHARES:
        late = [[_late(flow, share * seen["T"], tau) for tau in DELAYS] for flow in flows]
        row: dict[str, Any] = {"share": share, "simulated": np.mean(late, axis=0).tolist()}
        row["low"], row["high"] = np.array([sim.interval(one)[1:] for one in zip(*late)]).T.tolist()
        found["late"].append(row | {name: _solved(place, seen, p, share) if p else None for name, p in given.items()})
    return found


def _rate(run: sim.Run) -> float:
    """Return the rate of the player while the download is watched [bit/s]."""
    bins = run.traffic[1].bins
    assert bins is not None
    return float(8 * bins.received[int(START) + 1 :].mean())


def paper_path(place: Place, seen: dict[str, float]) -> Path:
    """Return the path of the paper's chain."""
    ratio = max(1.0, seen["rto"] / seen["rtt"])
    return Path(sender="classic", loss=seen["events"], rtt=seen["rtt"], timeout_ratio=ratio, max_window=place.window)


def path(place: Place, seen: dict[str, float], p: float) -> Path:
    """Return the path of the chain of a SACK sender with slow start, and acknowledgements of two packets each."""
    ratio = max(1.0, seen["rto"] / seen["rtt"])
    return Path(
        sender="classic",
        loss=p, rtt=seen["rtt"], timeout_ratio=ratio, max_window=place.window, tcp="reno-sack", initial_window=1,
        rounds_per_increase=2,
    )  # fmt: skip


def _matched(place: Place, seen: dict[str, float]) -> float | None:
    """Return the p at which the chain has T, if there is one."""
    if seen["T"] >= tcpstream.throughput(path(place, seen, LEAST)):
        return None
    return float(crossing(lambda p: tcpstream.throughput(path(place, seen, p)) - seen["T"], LEAST, 0.5, 1e-7))


def _late(flow: sim.Delivery, rate: float, tau: float) -> float:
    return float(flow.late_fraction(tau, rate, VIDEO))


def _solved(place: Place, seen: dict[str, float], p: float, share: float) -> list[float] | None:
    """Return late fractions of the chain; none where no delay would do."""
    video = Video(packet_rate=share * seen["T"], duration=VIDEO)
    try:
        return [float(one) for one in tcpstream.stored(path(place, seen, p), video).late_fraction(np.array(DELAYS))]
    except (NoFiniteDelayError, InputError):
        return None


def table(paper: str, rows: list[dict[str, Any]]) -> str:
    """Return throughputs, and late fractions that are visible, of a paper."""
    lines = [
        "| beside | window | u [kbit/s] | dropped | R [ms] | T_O | T [packets/s] | window/R | paper's chain | SACK |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    late = [
        "| beside | window | mu/T | startup delay [s] | simulated | chain | chain at the same T |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        if row["paper"] != paper:
            continue
        seen, beside = row["seen"], f"| {row['player']} | {row['window']} "
        ratios = [
            f"{row['T'][name] / seen['T']:.2f}" if name in row["T"] else "" for name in ("window", "paper", "sack")
        ]
        lines.append(
            f"{beside}| {seen['u'] / 1e3:.0f} | {seen['dropped']:.2%} | {1e3 * seen['rtt']:.0f} | "
            f"{seen['rto'] / seen['rtt']:.1f} | {seen['T']:.1f} | {' | '.join(ratios)} |"
        )
        late += [f"{beside}{line}" for one in row["late"] for line in _lines(one)]
    return "\n".join([*lines, "", *late])


def _lines(one: dict[str, Any]) -> list[str]:
    """Return the ends of rows of late fractions."""
    found = []
    for k, tau in enumerate(DELAYS):
        f = one["simulated"][k]
        if f >= VISIBLE:
            chains = [f"{one[name][k]:.2g}" if one.get(name) else "" for name in ("sack", "same T")]
            interval = f"{max(one['low'][k], 0):.2g} to {one['high'][k]:.2g}"
            found.append(f"| {one['share']:g} | {tau:g} | {f:.2g} ({interval}) | {' | '.join(chains)} |")
    return found


def main() -> None:
    """Make what is missing, or print a table."""
    parser = argparse.ArgumentParser(description="TCP beside the players of the test beds, and the chain")
    parser.add_argument("--table", metavar="PAPER", choices=NAMES, help="print what is recorded")
    paper = parser.parse_args().table
    if paper:
        print(table(paper, read(RESULTS)))
        return
    done = {(row["paper"], row["player"], row["window"]) for row in read(RESULTS)}
    with appending(RESULTS) as append, unremarked():
        for place in PLACES:
            if place not in done:
                append(watched(place))
                print(*place, flush=True)


if __name__ == "__main__":
    main()

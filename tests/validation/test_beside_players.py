"""TCP beside players: the network is the bed's, and the record is what the chain says."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pytest

import tcpstream
from beside_players import LONG, PLACES, SECONDS, START, Place, paper_path, path, scenario, table
from beside_players import RESULTS as ROWS_FILE
from tcpstream import sim
from tcpstream.system.log import read

ROWS = {Place(row["paper"], row["player"], row["window"]): row for row in read(ROWS_FILE)}


def test_every_place_is_recorded() -> None:
    assert tuple(ROWS) == PLACES
    for paper in {place.paper for place in PLACES}:
        told = table(paper, list(ROWS.values()))
        assert all(f"| {place.player} | {place.window} |" in told for place in PLACES if place.paper == paper)


@pytest.mark.parametrize("paper", ["nichols", "hessler", "chung"])
def test_the_page_has_what_is_recorded(paper: str) -> None:
    page = (FilePath(__file__).parents[2] / "docs" / f"{paper}.md").read_text(encoding="utf-8")
    throughputs, late = table(paper, list(ROWS.values())).split("\n\n")
    assert throughputs in page
    assert late in page or late.count("\n") == 1


@pytest.mark.parametrize(
    "place", [Place("nichols", "340", 12), Place("hessler", "quicktime", 12), Place("chung", "300", 44)]
)
def test_the_player_plays_while_the_download_is_watched(place: Place) -> None:
    rng = np.random.default_rng(2)
    made = scenario(place, rng)
    run = sim.simulate(made, START + 1 + SECONDS, rng)
    assert START <= made.flows[0].start <= START + 1
    bins = run.traffic[1].bins
    assert bins is not None
    assert (bins.received[int(START) :].reshape(-1, 9).sum(axis=1) > 0).all()
    assert LONG > START + 1 + SECONDS
    for traffic in run.traffic:
        assert 0 <= traffic.there.under_way <= 300


@pytest.mark.parametrize("place", [place for place in PLACES if ROWS[place]["T"].get("sack")])
def test_throughputs_are_those_of_the_chains(place: Place) -> None:
    seen, found = ROWS[place]["seen"], ROWS[place]["T"]
    assert found["paper"] == pytest.approx(tcpstream.throughput(paper_path(place, seen)), rel=1e-6)
    assert found["sack"] == pytest.approx(tcpstream.throughput(path(place, seen, seen["dropped"])), rel=1e-6)


@pytest.mark.parametrize("place", [place for place in PLACES if not ROWS[place]["T"].get("sack")])
def test_without_losses_the_throughput_is_the_window_over_the_round_trip(place: Place) -> None:
    seen = ROWS[place]["seen"]
    assert seen["T"] == pytest.approx(place.window / seen["rtt"], rel=0.05)


@pytest.mark.parametrize("place", [place for place in PLACES if place.paper != "chung"])
def test_the_download_has_what_the_player_leaves(place: Place) -> None:
    seen = ROWS[place]["seen"]
    capacity = 725e3 if place.paper == "nichols" else 1e6
    size = 8 * 1500
    assert seen["T"] * size == pytest.approx(capacity - seen["u"], rel=0.03)

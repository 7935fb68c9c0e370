"""What was tried: the record is whole, and is of the test beds as they are."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.sim.players.real_client import Report
from tcpstream.sim.players.real_settings import RealSettings
from tcpstream.sim.players.realplayer import RealPlayer
from tcpstream.system.log import read
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.papers import NAMES, bed
from tried import ALTERNATIVES, RESULTS, RUNS, table
from tried_parts.alternative import Alternative, records
from tried_parts.cross_traffic import Repeating, _download
from tried_parts.layered_video import TICK, TickingLayered
from tried_parts.real_video import Arrives, NoHurry
from tried_parts.windows_media import AnyMultiple, ByRate

ROWS = read(RESULTS)


def test_all_that_was_tried_is_recorded_once() -> None:
    names = [(paper, "") for paper in NAMES] + [(one.paper, one.name) for one in ALTERNATIVES]
    assert sorted((row["paper"], row["name"]) for row in ROWS) == sorted(names)
    assert all(name in table(ROWS) for _, name in names)


@pytest.mark.parametrize("paper", NAMES)
def test_without_an_alternative_the_rows_are_those_of_the_recorded_study(paper: str) -> None:
    """On as many runs."""
    of = bed(paper)
    runs = [one for one in study.recorded(of) if study.key(one).variant == Variant() and one["run"] < RUNS[paper]]
    expected = [[one.key, one.basis, bool(one.holds), one.found] for one in of.rows(Seen(runs))]
    (row,) = (row["claims"] for row in ROWS if (row["paper"], row["name"]) == (paper, ""))
    assert row == expected


@pytest.mark.parametrize("paper", NAMES)
def test_two_explanations_were_tried_for_each_test_that_fails(paper: str) -> None:
    """They are recorded, and the item of the paper's page that names the row in italics names them as well."""
    of = bed(paper)
    rows = list(of.rows(Seen(one for one in study.recorded(of) if study.key(one).variant == Variant())))
    tried = {row["name"] for row in ROWS if row["paper"] == paper}
    explained = {one.name: one.rows for one in ALTERNATIVES if one.paper == paper}
    page = (FilePath(__file__).parents[2] / "docs" / f"{paper}.md").read_text(encoding="utf-8")
    items = [" ".join(item.split()) for item in re.findall(r"^- (?:.+\n)(?:  .+\n)*", page, re.MULTILINE)]
    for key in (row.key for row in rows if row.basis == "T" and not row.holds):
        names = [name for name, keys in explained.items() if key in keys and name in tried]
        assert len(names) >= 2, key
        (item,) = [item for item in items if re.search(rf"\*(?:[^*:]*[ ,])?{key}(?:,[^*:]*)?\*", item)]
        assert [name for name in names if name.lower() not in item.lower()] == [], key
    assert {key for keys in explained.values() for key in keys} <= {row.key for row in rows}


def test_an_alternative_changes_the_bed_while_it_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    of = bed("nichols")
    monkeypatch.setattr(type(of), "conditions", lambda _: ("548 over 250",))
    before, other, after = (
        records(of, one, 1)[0]["figures"]
        for one in (
            Alternative("nichols", ""),
            Alternative("nichols", "", assumed={"resends": 0}),
            Alternative("nichols", ""),
        )
    )
    assert before == after
    assert other["offered"] < before["offered"]
    (replaced,) = records(of, Alternative("nichols", "", replaced={"figures": lambda *_: {"seen": 1}}), 1)
    assert replaced["figures"] == {"seen": 1}


def test_other_multiples() -> None:
    assert AnyMultiple().speed(340e3, 500e3) == pytest.approx(500 / 340)
    assert AnyMultiple().speed(340e3, 100e3) == 1
    assert AnyMultiple().speed(28e3, 1e6) == 4
    assert [ByRate().speed(rate, 1.0) for rate in (28e3, 340e3, 548e3, 1128e3)] == [4, 2, 1, 1]


class Host:
    """Time, and what the client is told."""

    now = 1.0

    def tell(self, message: object) -> None:
        raise AssertionError(message)


@pytest.mark.parametrize(
    ("player", "received", "level"),
    [(Arrives, 50e3, 1), (Arrives, 40e3, 0), (NoHurry, 50e3, 0)],
)
def test_other_rules_of_realplayer(player: type[RealSettings], received: float, level: int) -> None:
    """A report of losses takes the level down; for one alternative only if less than the 45 kbit/s arrive."""
    server = player(sim.Clip(60.0, (20e3, 45e3))).server()
    host = Host()
    server._began = server._clean_since = server._bearable = 0.0
    server._clean, server._tried, server._available = 20.0, -1e9, 1e9
    assert server.fast() > 1
    server.message(host, Report(received, 10, 10, 0.0, True))
    assert server.level == level
    assert (server.fast() == 1) == (player is NoHurry)


def test_lost_packets_are_sent_again() -> None:
    """Three of the first hundred are lost; all else is as without that rule, whose packets vary in size at random."""
    lost = np.zeros(10_000, dtype=bool)
    lost[[20, 21, 60]] = True
    links = {"there": sim.Link(0.05, loss=sim.LossTrace(lost)), "back": sim.Link(0.05)}
    sent = []
    for player in (RealPlayer, Repeating):
        flow = sim.Flow(("there",), ("back",), None, player(sim.Clip(20.0, (100e3,)), spread=0.0), measured=True)
        sent.append(sim.simulate(sim.Scenario(links, (flow,)), 30.0, np.random.default_rng(1)).traffic[0].there)
    assert [one.dropped for one in sent] == [3, 3]
    assert sent[1].sent == sent[0].sent + 3


def test_senders_that_see_a_clock_alone() -> None:
    """A segment of 8 ms leaves each 10 ms at most, at a tick."""
    flow = sim.Flow(("there",), ("back",), None, TickingLayered(cap=1e6), measured=True)
    links = {"there": sim.Link(0.02), "back": sim.Link(0.02)}
    seen = sim.simulate(sim.Scenario(links, (flow,)), 10.0, np.random.default_rng(1)).traffic[0].arrivals
    assert seen is not None
    ticks = (seen.time - 0.02) / TICK
    np.testing.assert_allclose(ticks, np.round(ticks), atol=1e-6)
    assert len(seen) == pytest.approx(10 / TICK, rel=0.05)


def test_other_downloads() -> None:
    flow = _download(min_rto=1.0)["_flow"]
    assumed = bed("hessler").values(Variant())
    assert flow("ftp", assumed).tcp.min_rto == 1.0
    assert flow("wmp", assumed).tcp is None

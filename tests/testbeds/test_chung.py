"""The test bed of Chung, Claypool and Zhu: its clips, what is measured, Table 1, and the runs as recorded."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.chung import CLIP_65, RATES, Chung, scenario
from tcpstream.testbeds.chung_measures import buffering_ratio, chain, pinged
from tcpstream.testbeds.chung_table import MEASURES, THEIRS, Row, friendly, row
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.population import KINDS, LONGEST, SHORTEST, Draw, draw, draw_clip

BED = Chung()
ASSUMED = BED.values(Variant())
SHORT = Draw(sim.Clip(60.0, (20e3, 45e3, 150e3)), 0.08, 0.01, steps=False)


@pytest.mark.parametrize("condition", [*RATES, "35", "lan"])
def test_packets_and_bytes_are_conserved(condition: str) -> None:
    made = scenario(condition, SHORT, ASSUMED, ("udp", "tcp"), bins=1.0)
    for traffic in sim.simulate(made, 120.0, np.random.default_rng(3)).traffic:
        for count in (traffic.there, traffic.back):
            assert 0 <= count.under_way <= 100
            assert 0 <= count.sent_bytes - count.received_bytes - count.dropped_bytes <= 100 * 1500
        assert traffic.bins is not None
        assert traffic.bins.sent.sum() == traffic.there.sent_bytes
        assert traffic.bins.received.sum() == traffic.there.received_bytes
        assert traffic.bins.dropped.sum() == traffic.there.dropped_bytes


def test_no_more_than_the_token_rate_passes() -> None:
    made = scenario("75", SHORT, ASSUMED, ("udp", "tcp"), bins=1.0)
    bins = [traffic.bins for traffic in sim.simulate(made, 120.0, np.random.default_rng(3)).traffic]
    together = sum(one.received for one in bins if one is not None)
    assert np.convolve(together, np.ones(10), "valid").max() <= 10 * 75e3 / 8 + 1600 + 1500


def test_clips_are_those_of_the_paper() -> None:
    """Table 1 and Sections 3.1 and 5.3; four standard errors of 4000 clips."""
    rng = np.random.default_rng(5)
    clips = [draw_clip(rng) for _ in range(4000)]
    least, most = (np.array([clip.rates[which] for clip in clips]) / 1e3 for which in (0, -1))
    levels, lengths = (np.array([of(clip) for clip in clips]) for of in (lambda c: len(c.rates), lambda c: c.duration))

    def near(found: Any, share: float) -> bool:
        return abs(float(np.mean(found)) - share) < 4 * math.sqrt(share * (1 - share) / len(clips))

    for fair, above, below in ((37.5, 0.20, 0.27), (75, 0.11, 0.38), (150, 0.11, 0.44)):
        assert near(least > fair, above)
        assert near(most < fair, below)
    assert near(levels == 1, 0.35)
    assert np.mean(levels > 4) < 0.5
    assert (most[levels > 1] > 35).all()
    assert lengths.min() >= SHORTEST
    assert lengths.max() <= LONGEST
    assert np.median(lengths) == pytest.approx(180, rel=0.1)
    assert sum(share for share, _ in KINDS) == pytest.approx(1)


def test_half_of_the_ways_lose_nothing() -> None:
    rng = np.random.default_rng(6)
    drawn = [draw(rng, 0.08, 0.02, 0.5) for _ in range(2000)]
    losses, rtts = (np.array([getattr(one, name) for one in drawn]) for name in ("loss", "rtt"))
    assert np.mean(losses == 0) == pytest.approx(0.5, abs=0.05)
    assert losses[losses > 0].mean() == pytest.approx(0.02, rel=0.15)
    assert np.median(rtts) == pytest.approx(0.08, rel=0.1)
    assert np.mean([one.steps for one in drawn]) == pytest.approx(0.5, abs=0.05)


def test_a_clip_stays_when_something_else_is_assumed() -> None:
    one, other = (draw(np.random.default_rng(7), *settings) for settings in ((0.08, 0.02, 0.5), (0.12, 0.0, 1.0)))
    assert one.clip == other.clip
    assert other.rtt == pytest.approx(one.rtt * 1.5)


def test_the_same_clips_are_played_at_every_rate() -> None:
    seen = [study.made("chung", study.Job(Variant(), rate, 4))["figures"] for rate in ("75", "600")]
    assert seen[0]["least"] == seen[1]["least"]
    assert seen[0]["most"] == seen[1]["most"]


def test_the_scenario_file_runs() -> None:
    observed = sim.read_experiment(Path(__file__).parents[2] / "examples" / "chung.toml", runs=1, seconds=60.0)
    assert isinstance(observed, sim.Observation)
    udp, tcp, _ = observed.outcome(observed.run())["flows"]
    assert 20e3 < udp["received_bps"] < 150e3
    assert udp["figures"]["join_time_s"] < tcp["figures"]["join_time_s"]


def test_buffering_ratio() -> None:
    """6000 bytes/s from 20 to 30 s, else 1000."""
    times = np.arange(0, 200, 0.1)
    sizes = np.where((times >= 20) & (times < 30 - 1e-9), 600, 100)
    assert buffering_ratio(times, sizes) == pytest.approx(6, rel=0.01)
    assert buffering_ratio(times[:1200], sizes[:1200]) is None


def test_pings_count_until_a_clip_has_come() -> None:
    """An echo takes .2 s; the second and the fifth are lost, and the fifth is sent after that."""
    notes = [sim.Note(float(k), "server", "ping", 1.0) for k in range(6)]
    notes += [sim.Note(k + 0.2, "server", "rtt", 0.2) for k in (0, 2, 3, 5)]
    none = sim.Count(0, 0, 0, 0, 0, 0)
    assert pinged(sim.Traffic(none, none, notes=tuple(notes)), 3.5) == (0.2, 0.25)


def test_friendly_by_equation_1() -> None:
    """1.5 sqrt(2/3) 1500 / (R sqrt p) bytes/s, on both sides of it."""
    most = 8e-3 * 1.5 * math.sqrt(2 / 3) * 1500 / (0.5 * math.sqrt(0.04))
    for rate, expected in ((0.999 * most, True), (1.001 * most, False)):
        assert friendly({"p": 0.04, "rtt": 0.5, "udp": rate, "chain": None}, "mathis") is expected
    assert friendly({"p": 0.0, "rtt": 0.5, "udp": 1e9, "chain": None}, "mathis")


def test_what_tcp_gets_by_each_measure() -> None:
    """Timeouts make it less than Equation 1 says, whose bound is that of an aggressive TCP."""
    run = {"p": 0.05, "rtt": 0.3, "chain": chain(0.05, 0.3)}
    most = {}
    for measure in MEASURES:
        low, high = 0.0, 1e5
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if friendly(run | {"udp": middle}, measure) else (low, middle)
        most[measure] = low
    assert most["mathis"] > most["chain"] > 0.5 * most["pftk"] > 0
    assert most["mathis"] > most["tfrc"]


def test_a_row_of_table_1() -> None:
    """Of a fair share of 37.5: one above, two below, three with both, of which one is not friendly."""
    levels = [(45, 45), (20, 34), (34, 34), (20, 45), (34, 450), (20, 80)]
    runs = [{"least": low, "most": high, "p": 0.04, "rtt": 0.5, "udp": 20.0, "chain": 10.0} for low, high in levels]
    for bad in (0, 3):
        runs[bad]["udp"] = 1e4
    seen = Seen({"condition": "75", "figures": run} for run in runs)
    assert row(seen, "75") == Row(6, 2, 1, 2, 3, 1)
    assert row(seen, "75").effective_percent == pytest.approx(100 / 3)
    assert row(seen, "75", "chain").unfriendly == 6
    for rate, theirs in THEIRS.items():
        assert theirs.able == theirs.clips - theirs.above - theirs.below, rate


def test_clip_65_takes_longer_over_tcp() -> None:
    figures = BED.simulate("clip-65", ASSUMED, np.random.default_rng(1))
    assert figures["tcp_end_s"] > figures["udp_end_s"] > CLIP_65.clip.duration
    assert figures["tcp_adapted"] > figures["udp_adapted"]


PAGE = (Path(__file__).parents[2] / "docs" / "chung.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, Any]:
    records = study.recorded(BED)
    assert len(records) == len(study.jobs(BED))
    return {claim.key: claim for claim in study.judged(BED, records)}


def test_the_runs_as_recorded(recorded: Mapping[str, Any]) -> None:
    bases = [claim.basis for claim in recorded.values()]
    assert {basis: bases.count(basis) for basis in "RCT"} == {"R": 13, "C": 0, "T": 20}
    assert recorded["table-1-counts"].holds
    assert recorded["table-1-counts"].found == "12.2%"
    assert all(claim.tried == 21 for claim in recorded.values())


def test_the_page_has_the_rows_as_recorded(recorded: Mapping[str, Any]) -> None:
    told = re.findall(r"^\| [\d.]+ (\S+) \| ([RCT]) \|.* \| (holds|\*\*does not hold\*\*) \|", PAGE, re.MULTILINE)
    assert told == [(one.key, one.basis, "holds" if one.holds else "**does not hold**") for one in recorded.values()]
    assert f"{sum(one.holds for one in recorded.values())} of {len(recorded)} claims hold" in PAGE


def test_the_page_has_table_1_as_recorded() -> None:
    seen = Seen(record for record in study.recorded(BED) if not record["assumption"])
    for rate, theirs in THEIRS.items():
        for who, one in (("authors", theirs), ("ours", row(seen, rate))):
            effective = f"{one.effective}/{one.able} ({one.effective_percent:.0f}%)"
            line = f"{one.unfriendly}/{one.clips} | {one.above} | {one.below} | {effective}"
            assert f"| {rate} kbit/s, {who} | {line} |" in PAGE
    for measure in MEASURES:
        counts = [str(row(seen, rate, measure).unfriendly) for rate in THEIRS]
        assert f"| {measure} | {' | '.join(counts)} |" in PAGE


def test_the_page_has_table_1_by_every_measure() -> None:
    page = (Path(__file__).parents[2] / "docs" / "chung.md").read_text(encoding="utf-8")
    seen = Seen(one for one in study.recorded(BED) if not one["assumption"])
    for measure in MEASURES:
        counts = " | ".join(str(row(seen, rate, measure).unfriendly) for rate in THEIRS)
        assert f"| {measure} | {counts} |" in page

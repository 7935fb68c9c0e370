"""The test bed of Hessler and Welzl: nothing is lost unseen, and rows are those of the tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.sim.hosts import HEADERS, MESSAGE
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.hessler import SECONDS, SENDERS, Hessler, scenario
from tcpstream.testbeds.hessler_real import FAST, SPEED, player

BED = Hessler()


@pytest.mark.parametrize("condition", BED.conditions())
def test_packets_and_bytes_are_conserved(condition: str) -> None:
    rng = np.random.default_rng(3)
    run = sim.simulate(scenario(condition, BED.values(Variant()), rng, bins=1.0), SECONDS, rng)
    for flow, traffic in zip(run.scenario.flows, run.traffic):
        for count in (traffic.there, traffic.back):
            assert 0 <= count.under_way <= 200
            assert count.sent_bytes - count.received_bytes - count.dropped_bytes <= 200 * 1514
        assert traffic.bins is not None
        assert traffic.bins.sent.sum() == traffic.there.sent_bytes
        assert traffic.bins.received.sum() == traffic.there.received_bytes
        assert traffic.bins.dropped.sum() == traffic.there.dropped_bytes
        if flow.name == "real":
            assert traffic.arrivals is not None
            words = traffic.there.received_bytes - traffic.arrivals.size.sum()
            assert words % MESSAGE == 0
            assert 0 <= words <= 20 * MESSAGE
        elif flow.name != "ftp":
            assert traffic.there.dropped_bytes == pytest.approx(
                traffic.there.dropped * traffic.there.sent_bytes / traffic.there.sent, rel=1e-9
            )


def test_cross_traffic_is_what_section_2_says() -> None:
    rng = np.random.default_rng(1)
    made = scenario("ftp medium", BED.values(Variant()), rng)
    cross = sim.simulate(made, SECONDS, rng).traffic[1].there
    assert cross.sent == pytest.approx(90 * 60, abs=1)
    assert 30 <= made.flows[1].start <= 31


def test_realplayer_without_cross_traffic_sends_its_clip_as_section_3_1_and_table_2_say() -> None:
    """In closed form: so many times as fast until 45 s, and all of two minutes before the run ends."""
    found = BED.simulate("real none", BED.values(Variant()), np.random.default_rng(3))
    one = player(BED.values(Variant()))
    header = 1 + HEADERS / (one.packet(540e3, 0.5) - HEADERS)
    assert found["sent"] == pytest.approx(120 * 540e3 / 8 * header, rel=2e-3)
    assert found["first"] == pytest.approx(SPEED * 540 / 8 * header, rel=5e-3)
    steady = (found["sent"] / 1e3 - FAST * found["first"]) / (120 - FAST * SPEED)
    assert found["last"] == pytest.approx(steady, rel=1e-2)
    assert found["lost"] == 0
    assert found["rises"] is None


def test_packets_of_realplayer_are_those_of_section_3_1() -> None:
    one = player(BED.values(Variant()))
    assert 1100 < one.packet(540e3, 0.5) <= 1200
    assert one.packet(540e3, 1.0) <= 1472
    assert one.packet(225e3, 0.5) < 500


@pytest.mark.parametrize(
    ("assumption", "sender"), [("real_top_bps", "real"), ("wmp_report_s", "wmp"), ("window_packets", "ftp")]
)
def test_what_is_assumed_of_a_sender_is_simulated_for_it_alone(assumption: str, sender: str) -> None:
    made = {one: BED.repeats(Variant(assumption, 1.0), f"{one} none") for one in SENDERS}
    assert made == {one: BED.runs if one == sender else 0 for one in SENDERS}
    assert all(BED.repeats(Variant("queue_packets", 50.0), f"{one} none") == BED.runs for one in SENDERS)


def test_the_page_tells_the_verdicts_of_the_recorded_study() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hessler.md").read_text(encoding="utf-8")
    told = re.findall(
        r"^\| (?:Table 2|3.1|4) (\S+) \| ([RCT]) \|.* \| (holds|\*\*does not hold\*\*) \|", page, re.MULTILINE
    )
    found = study.judged(BED, study.recorded(BED))
    assert told == [(row.key, row.basis, "holds" if row.holds else "**does not hold**") for row in found]
    assert f"{sum(row.holds for row in found)} of {len(found)} claims hold" in page

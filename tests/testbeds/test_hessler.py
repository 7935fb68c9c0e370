"""The test bed of Hessler and Welzl: nothing is lost unseen, and rows are those of the tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.hessler import SECONDS, Hessler, scenario

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
        if flow.name != "ftp":
            assert traffic.there.dropped_bytes == pytest.approx(
                traffic.there.dropped * traffic.there.sent_bytes / traffic.there.sent, rel=1e-9
            )


def test_cross_traffic_is_what_section_2_says() -> None:
    rng = np.random.default_rng(1)
    made = scenario("ftp medium", BED.values(Variant()), rng)
    cross = sim.simulate(made, SECONDS, rng).traffic[1].there
    assert cross.sent == pytest.approx(90 * 60, abs=1)
    assert 30 <= made.flows[1].start <= 31


def test_the_page_tells_the_verdicts_of_the_recorded_study() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hessler.md").read_text(encoding="utf-8")
    told = re.findall(
        r"^\| (?:Table 2|4) (\S+) \| ([RCT]) \|.* \| (holds|\*\*does not hold\*\*) \|", page, re.MULTILINE
    )
    found = study.judged(BED, study.recorded(BED))
    assert told == [(row.key, row.basis, "holds" if row.holds else "**does not hold**") for row in found]
    assert f"{sum(row.holds for row in found)} of {len(found)} claims hold" in page

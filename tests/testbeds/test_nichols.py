"""The test bed of Nichols: nothing is lost unseen, and its cases are those of the text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.nichols import CASES, SECONDS, Nichols, growing, scenario
from tcpstream.testbeds.nichols_seen import Between

BED = Nichols()


@pytest.mark.parametrize(
    "condition", ["340 over 725", "1128 over 250", "queue 20", "loss 20", "loss off 10", "scaled loss 3", "delay 1350"]
)
def test_packets_and_bytes_are_conserved(condition: str) -> None:
    rng = np.random.default_rng(3)
    run = sim.simulate(scenario(CASES[condition], BED.values(Variant()), rng), SECONDS, rng)
    for traffic in run.traffic:
        for count in (traffic.there, traffic.back):
            assert 0 <= count.under_way <= 200
            assert 0 <= count.sent_bytes - count.received_bytes - count.dropped_bytes <= 200 * 1514
        assert traffic.bins is not None
        for name in ("sent", "received", "dropped"):
            assert getattr(traffic.bins, name).sum() == getattr(traffic.there, f"{name}_bytes")


def test_sets_of_levels_grow_from_both_ends() -> None:
    assert [len(levels) for levels in growing("down")] == list(range(1, 11))
    assert growing("down")[1] == (764, 1128)
    assert growing("up")[1] == (28, 43)


def test_the_page_tells_the_verdicts_of_the_recorded_study() -> None:
    page = (Path(__file__).parents[2] / "docs" / "nichols.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| [\d.]+ (\S+) \| ([RCT]) \|.* \| (holds|\*\*does not hold\*\*) \|", page, re.MULTILINE)
    found = study.judged(BED, study.recorded(BED))
    assert told == [(row.key, row.basis, "holds" if row.holds else "**does not hold**") for row in found]
    assert f"{sum(row.holds for row in found)} of {len(found)} claims hold" in page


def test_figures_count_what_a_run_shows() -> None:
    bins = sim.Bins(0.1, *(np.full(20, each) for each in (500, 375, 125)))
    part = Between(bins, 0.5, 1.5)
    assert part.rate("sent") == pytest.approx(8 * 5000 / 1e3)
    assert part.loss == pytest.approx(25.0)
    assert part.peak == pytest.approx(25.0)

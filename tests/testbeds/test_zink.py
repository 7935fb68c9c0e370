"""The test bed of Zink et al.: nothing is lost unseen, measures by hand, and the page tells what is recorded."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.layered import loss_event_rate
from tcpstream.sim.traffic import Arrivals, Count, Traffic
from tcpstream.testbeds import study, zink
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.zink import LAB, Zink, scenario, video
from tcpstream.testbeds.zink_seen import shown

BED = Zink()
ASSUMED = BED.values(Variant())


@pytest.mark.parametrize("condition", [*LAB, "internet tfrc", "internet udp"])
def test_packets_are_conserved(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is sent arrives, is dropped, or is under way; a cache sends no more than it gets."""
    monkeypatch.setattr(zink, "SECONDS", 10.0)
    run = sim.simulate(scenario(condition, ASSUMED), 10.0, np.random.default_rng(3))
    for seen in run.traffic:
        assert seen.arrivals is not None
        assert 0 <= seen.there.under_way <= 60
        assert seen.there.received == len(seen.arrivals)
    if len(run.traffic) > 1:
        assert run.traffic[1].there.sent <= run.traffic[0].there.received


def test_what_a_client_has_by_hand() -> None:
    """A video of 70 s, 2240 frames: in each frame of the last 10 s layers 1 and 3 arrive, in each other one also 2."""
    made = video(ASSUMED, 70.0)
    frames = np.arange(1920, 2240)
    tags = np.sort(np.concatenate([4 * frames, 4 * frames + 2, 4 * frames[::2] + 1]))
    arrivals = Arrivals(made.period / 4 * tags, np.arange(len(tags)), np.full(len(tags), 1000), tags)
    count = Count(0, 0, 0, 0, 0, 0)
    run = sim.Run(scenario("none", ASSUMED), 70.0, [], [Traffic(count, count, arrivals=arrivals)], 0, 0, {})
    found = shown(run, made)
    assert (found["valid"], found["arrived"]) == (2.0, 2.5)
    assert (found["layer_1"], found["layer_2"], found["layer_3"], found["layer_4"]) == (1, 0.5, 0.5, 0)
    assert found["changes"] == found["changes_flat"] == pytest.approx(319 / 320, abs=1e-5)
    assert found["rate"] == pytest.approx(8000 * 800 / 70, abs=1e-3)


def test_random_drops_let_the_rate_of_the_last_hop_pass() -> None:
    """UDP loses half; TFRC what its equation makes of 512 kbit/s over 30 ms."""
    assert scenario("udp random", ASSUMED).links["access"].loss == sim.Bernoulli(0.5)
    assert scenario("tfrc random", ASSUMED).links["access"].loss == sim.Bernoulli(loss_event_rate(512e3, 0.03))


def test_other_assumptions_are_simulated_in_the_lab_alone() -> None:
    made = {condition: BED.repeats(Variant("queue_packets", 10.0), condition) for condition in BED.conditions()}
    assert {condition for condition, runs in made.items() if runs} == set(LAB)


def test_the_page_tells_the_verdicts_of_the_recorded_study() -> None:
    page = (Path(__file__).parents[2] / "docs" / "zink.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| [\d.]+ (\S+) \| ([RCT]) \|.* \| (holds|\*\*does not hold\*\*) \|", page, re.MULTILINE)
    found = study.judged(BED, study.recorded(BED))
    assert told == [(row.key, row.basis, "holds" if row.holds else "**does not hold**") for row in found]
    assert f"{sum(row.holds for row in found)} of {len(found)} claims hold" in page

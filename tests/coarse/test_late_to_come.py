"""What is late after some losses, of all rounds together: beside a lattice that is followed, and exact answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcpstream import Path, Video, stored, time_limit
from tcpstream.answers import coarse_arrivals
from tcpstream.answers.coarse_arrivals import CoarseArrivals, shared_arrivals
from tcpstream.answers.coarse_stored import CoarseStored
from tcpstream.answers.sums_over_rounds import sampled
from tcpstream.answers.timeline import Timeline
from tcpstream.coarse.late_to_come import LateToCome
from tcpstream.coarse.law import Law
from tcpstream.coarse.lead import decay
from tcpstream.coarse.steps import Steps
from tcpstream.errors import AccuracyError, TimeLimitError
from tcpstream.tcp import chain_of

PATH = Path(loss=0.02, rtt=0.1)
WAITS = Path(loss=0.015, rtt=0.3, rto=0.5, losses="independent")
MANY_WAITS = Path(loss=0.1, rtt=0.3, rto=0.5, losses="independent")
"""Of the others timeouts decide, where delays are long: the third one waits much of the time."""
STEP, BEGIN, FOLLOWED = 2, 40, 1600
"""Rounds of a step, steps until the sum begins, and rounds in which a lattice is followed."""


@pytest.fixture(scope="module", params=[(PATH, 1.4), (WAITS, 1.75), (MANY_WAITS, 2.5)], ids=["losses", "waits", "many"])
def case(request):
    path, ratio = request.param
    chain = chain_of(path)
    return Steps.of(chain, STEP, 1.1), chain.packets_per_round / ratio


@pytest.fixture(scope="module")
def steps(case):
    return case[0]


@pytest.fixture(scope="module")
def due(case):
    return case[1]


@pytest.fixture(scope="module")
def coming(steps, due):
    found = decay(steps, due)
    return LateToCome(steps, due, found.rate, found.safe, BEGIN, 1.0)


@pytest.fixture(scope="module")
def lattice(steps, due):
    lead = decay(steps, due).safe
    law = Law(steps, 1.0, due * FOLLOWED + lead, due, lead)
    law.until(FOLLOWED)
    return law


@pytest.mark.parametrize("delay", [0.0, 3.0, 12.0, 40.0])
def test_it_is_the_sum_over_a_lattice(coming, lattice, due, delay):
    assert coming.begin == STEP * BEGIN
    late = sampled(lattice, coming.begin, float(FOLLOWED), due, delay, FOLLOWED)
    assert coming.late(delay) == pytest.approx(late, rel=4e-4)


@pytest.mark.parametrize("delay", [0.0, 12.0])
@pytest.mark.parametrize("end", [100.0, 300.0])
def test_what_comes_after_the_end_is_bounded(coming, lattice, steps, due, delay, end):
    beyond = sampled(lattice, end, float(FOLLOWED), due, delay, FOLLOWED)
    waits_decide = steps.chain.loss == pytest.approx(MANY_WAITS.loss)  # then one theta bounds badly
    loose = 1e5 if waits_decide else 1e3
    assert beyond < coming.after(delay, end) < loose * beyond


def test_integrand_must_vanish_as_far_as_the_lattice_tells(steps, due):
    found = decay(steps, due)
    with pytest.raises(AccuracyError, match="does not vanish"):
        LateToCome(steps, due, found.rate, found.safe, 2, 1.0)  # nothing is smooth after four rounds


def test_late_fractions_are_exact():
    video = Video(packet_rate=chain_of(WAITS).packets_per_round / WAITS.rtt / 1.75, duration=150)
    found = CoarseStored(WAITS, video, "paper", shared_arrivals([(WAITS, video)], None))
    assert found._arrivals._coming is not None
    delays = [0.0, 0.3, 1.0, 4.0]
    exact, answers = stored(WAITS, video, accuracy="exact").late_fraction(delays), found.late_fraction(delays)
    assert np.all(np.abs(answers / exact - 1) < found.relative_error(delays))
    assert answers == pytest.approx(exact, rel=3e-3)


def test_where_more_may_come_after_the_end_laws_are_followed(monkeypatch):
    """At a long delay nothing is late soon, and what rare waits make late is so at any time."""
    video = Video(packet_rate=chain_of(WAITS).packets_per_round / WAITS.rtt / 1.75, duration=150)
    timeline = Timeline.of(WAITS, video)
    arrivals = CoarseArrivals(WAITS, [timeline])
    assert arrivals._coming is not None
    late = arrivals.late_packets(timeline, 6.0)
    monkeypatch.setattr(coarse_arrivals, "AFTER", 0.0)
    monkeypatch.setattr(coarse_arrivals, "NONE", 0.0)
    assert CoarseArrivals(WAITS, [timeline]).late_packets(timeline, 6.0) == pytest.approx(late, rel=3e-3)
    monkeypatch.setattr(coarse_arrivals, "AMPLE", 0.0)
    plain = CoarseArrivals(WAITS, [timeline])
    assert plain._coming is None
    assert plain.late_packets(timeline, 6.0) == pytest.approx(late, rel=3e-3)


def test_time_limit_is_passed_on():
    timeline = Timeline.of(PATH, Video(packet_rate=60, duration=600))
    arrivals = CoarseArrivals(PATH, [timeline])
    assert math.isfinite(arrivals.lead)
    with time_limit(1e-6), pytest.raises(TimeLimitError):
        arrivals.late_packets(timeline, 1.0)

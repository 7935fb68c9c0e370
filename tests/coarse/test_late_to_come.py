"""What is late after some losses, by one sum over all steps, beside a lattice that is followed."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream import Path, Video
from tcpstream.answers.coarse_arrivals import CoarseArrivals
from tcpstream.answers.sums_over_rounds import sampled
from tcpstream.answers.timeline import Timeline
from tcpstream.coarse import late_to_come
from tcpstream.coarse.law import Law
from tcpstream.coarse.long_law import LongLaw
from tcpstream.coarse.modes import Modes
from tcpstream.coarse.resolution import FINE
from tcpstream.errors import TimeLimitError

FOLLOWED = 12_000
"""Rounds in which a lattice is followed."""


def _arrivals(duration: float, **path: object) -> CoarseArrivals:
    given = Path(loss=0.0486, rtt=0.2, rto=0.481, **path)
    return CoarseArrivals(given, [Timeline.of(given, Video(packet_rate=13.7, duration=duration))])


@pytest.fixture(scope="module")
def followed() -> Law:
    arrivals = _arrivals(9000.0)
    m = arrivals.due
    law = Law(arrivals._whole, 8.0, m * FOLLOWED + 2 * arrivals.lead, m, 2 * arrivals.lead)
    law.until(FOLLOWED)
    return law


@pytest.mark.parametrize("tau", [0.0, 40.0, 150.0])
def test_sum_over_all_steps_is_that_of_a_lattice(tau: float, followed: Law) -> None:
    arrivals = _arrivals(9000.0)
    timeline = arrivals.cases[0]
    found = arrivals.to_come(timeline, tau)
    assert found is not None
    end = timeline.length + tau
    late = sampled(followed, found.begin, float(FOLLOWED), arrivals.due, tau, FOLLOWED)
    assert found.late(tau, end + 0.5) == pytest.approx(late, rel=3e-3)  # the lattice: 8 packets


def test_what_is_late_after_the_end_is_taken_off(followed: Law) -> None:
    arrivals = _arrivals(600.0)  # 3,000 rounds
    timeline = arrivals.cases[0]
    found = arrivals.to_come(timeline, 30.0)
    assert found is not None
    assert found._after is not None
    end = int(timeline.length) + 30
    judged = sampled(followed, found.begin, end + 0.5, arrivals.due, 30.0, end)
    beyond = sampled(followed, end + 0.5, float(FOLLOWED), arrivals.due, 30.0, FOLLOWED)
    assert beyond > 0.05 * judged
    assert found.late(30.0, end + 0.5) == pytest.approx(judged, rel=3e-3)


def test_time_limit_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeLimitError("over")

    monkeypatch.setattr(late_to_come, "LateForEver", late)
    arrivals = _arrivals(9000.0)
    with pytest.raises(TimeLimitError, match="over"):
        arrivals.late_packets(arrivals.cases[0], 1.0)


def test_law_of_one_mode_is_that_of_a_lattice_where_waits_have_modes_of_their_own(followed: Law) -> None:
    arrivals = _arrivals(9000.0)
    decay, t = arrivals._decay, 3800.0
    assert decay is not None
    law = LongLaw(Modes(arrivals._whole), t, 14_000.0, decay.rate, 60.0, 8.0)
    due = arrivals.due * t - np.array([0.0, 150.0, 300.0])
    times = np.full(3, t)
    np.testing.assert_allclose(law.missing(times, due), followed.missing(times, due), rtol=3e-3)


def test_modes_are_those_of_states_that_are_visited_again() -> None:
    """A first slow start that doubles to hundreds of packets makes the vector of a mode at theta < 0 huge there."""
    path = Path(loss=0.0243, rtt=0.0136, rto=0.261, sender="linux")
    arrivals = CoarseArrivals(path, [Timeline.of(path, Video(packet_rate=529.0, duration=100.0))], FINE)
    modes = Modes(arrivals._whole)
    slopes = [modes.at(complex(theta), modes.about(complex(theta))).slope.real for theta in (-0.012, -0.01, -0.008)]
    assert slopes == sorted(slopes)  # log lambda is convex
    assert -9 < slopes[0] < slopes[-1] < -7.5  # packets a round: 6.5 at theta = 0, more where they count more

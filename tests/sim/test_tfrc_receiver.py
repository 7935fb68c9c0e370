"""Losses, loss events, their intervals and reports of a TFRC receiver: by hand, and beside a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.path import Path
from tcpstream.sim import Flow, Link, LossTrace, Scenario, simulate
from tcpstream.sim.tfrc import Tfrc
from tcpstream.sim.tfrc.equation import loss_event_rate, round_trips, throughput
from tcpstream.sim.tfrc.loss_history import LossHistory
from tcpstream.sim.tfrc.loss_intervals import WEIGHTS, LossIntervals
from tcpstream.tcp.formulas import tfrc as formula
from tests.twins import tfrc_twin

R = 0.1


def intervals(*lengths: float, discounting: bool = False) -> LossIntervals:
    """Loss intervals, oldest first."""
    found = LossIntervals(discounting=discounting)
    for length in lengths:
        found.close(length)
    return found


def history(numbers, spacing: float = 0.03, first: float = 10.0, rtt: float = R) -> LossHistory:
    """A history of packets sent every so often [s], of which those with these numbers arrive."""
    found = LossHistory(lambda _null: first)
    for number in numbers:
        found.received(number, spacing * number, rtt)
    return found


@pytest.mark.parametrize("p", [1e-4, 0.01, 0.2, 1.0])
def test_the_equation_is_that_of_the_model(p: float) -> None:
    path = Path(sender="classic", loss=min(p, 0.5), rtt=0.2, timeout_ratio=4)
    assert throughput(1500, 0.2, min(p, 0.5)) == pytest.approx(1500 * formula(path), rel=1e-12)
    assert throughput(1500, 0.2, p) == pytest.approx(tfrc_twin.equation(1500, 0.2, p), rel=1e-12)
    assert round_trips(np.array([p]), np.sqrt) == pytest.approx([round_trips(p)], rel=1e-12)


@given(st.floats(1e-9, 1.0))
def test_the_equation_is_inverted(p: float) -> None:
    assert loss_event_rate(1 / round_trips(p)) == pytest.approx(p, rel=1e-12)


def test_half_a_segment_a_round_trip() -> None:
    """A first packet that is lost: about 20.64% (RFC 5348, Section 6.3.1, in numbers that Linux has too)."""
    assert loss_event_rate(0.5) == pytest.approx(0.2064, abs=5e-5)
    assert loss_event_rate(1e-4) == 1.0


def test_no_loss_no_events() -> None:
    assert history(range(1000)).event_rate == 0


def test_the_average_interval() -> None:
    """Section 5.4 by hand: the open interval counts if it makes the average longer."""
    assert intervals(20.0).event_rate(5) == 1 / 20
    assert intervals(20.0).event_rate(30) == 1 / 30  # I_tot0 = I_0, since k = 1
    assert intervals(20.0, 40.0).event_rate(10) == 1 / 30
    assert intervals(20.0, 40.0).event_rate(60) == 1 / 50  # (60 + 40) / 2
    eight = intervals(*range(10, 90, 10))
    assert eight.event_rate(1) == pytest.approx(6 / (80 + 70 + 60 + 50 + 0.8 * 40 + 0.6 * 30 + 0.4 * 20 + 0.2 * 10))
    assert eight.event_rate(500) == pytest.approx(6 / (500 + 80 + 70 + 60 + 0.8 * 50 + 0.6 * 40 + 0.4 * 30 + 0.2 * 20))
    assert intervals(10_000, *range(10, 90, 10)).event_rate(1) == eight.event_rate(1)  # a ninth is forgotten


def test_old_intervals_are_discounted() -> None:
    """Section 5.5 by hand: I_mean = 10, I_0 = 40 > 20: DF = 1/2. A loss keeps it: weights 1, 1/2, 1/2 from then on."""
    before = intervals(10, 10, 10, discounting=True)
    assert before.event_rate(20) == intervals(10, 10, 10).event_rate(20)
    assert before.event_rate(40) == pytest.approx((1 + 0.5 + 0.5) / (40 + 0.5 * 10 + 0.5 * 10))
    assert before.event_rate(4000) == pytest.approx((1 + 0.25 + 0.25) / (4000 + 0.25 * 10 + 0.25 * 10))
    before.close(40)
    assert before.event_rate(1) == pytest.approx((1 + 3 * 0.5) / (40 + 0.5 * 30))
    assert before.event_rate(1) < intervals(10, 10, 10, 40).event_rate(1)


def test_a_loss_is_known_after_three_later_packets() -> None:
    numbers = [0, 1, 2, 4, 5, 6]
    assert history(numbers[:-1]).events == 0
    found = history(numbers)
    assert (found.events, found.start) == (1, 3)
    assert history([0, 1, 2, 4, 5, 3, 6]).events == 0  # late, not lost


def test_losses_within_a_round_trip_are_one_event() -> None:
    """Packets every 30 ms, R = 100 ms: 3, 5 and 6 are lost within 90 ms of 3; 7 would be 120 ms behind it."""
    later = [*range(8, 15)]
    assert history([0, 1, 2, 4, 7, *later]).events == 1
    found = history([0, 1, 2, 4, 5, 6, *later])
    assert (found.events, found.start) == (2, 7)
    assert found.event_rate == pytest.approx(
        1 / max((10 + 4) / 2, (8 + 4) / 2)
    )  # open: 7 to 14; closed: 4, and the first


def test_a_gap_longer_than_a_round_trip_has_several_events() -> None:
    """Packets 3 to 12 of 30 ms each: 3, then the first that comes more than 100 ms later, 7, and then 11."""
    found = history([0, 1, 2, 13, 14, 15])
    assert (found.events, found.start) == (3, 11)
    assert found.event_rate == pytest.approx(1 / max((10 + 4 + 4) / 3, (5 + 4 + 4) / 3))


def test_one_loss_event_in_two_gaps() -> None:
    """Several losses within one R, which end one interval only, of 20 packets."""
    numbers = [one for one in range(40) if one not in (10, 12, 13, 30, 31)]
    found = history(numbers)
    assert (found.events, found.start) == (2, 30)
    assert found.event_rate == pytest.approx(1 / max((10 + 20) / 2, (10 + 20) / 2))


def test_the_first_packet_is_lost() -> None:
    nulls = []
    found = LossHistory(lambda null: nulls.append(null) or 5.0)
    for number in (1, 2, 3):
        found.received(number, 0.1 * number, R)
    assert nulls == [True]
    assert (found.events, found.start) == (1, 0)


@given(
    st.lists(st.booleans(), min_size=4, max_size=120),
    st.lists(st.floats(1e-3, 0.2), min_size=1, max_size=7),
    st.sampled_from([0.0, 0.05, 0.1, 0.7]),
    st.floats(1.0, 200.0),
    st.booleans(),
)
def test_beside_the_twin(arrives, spacings, rtt, first, discounting) -> None:
    found = LossHistory(lambda _null: first, discounting=discounting)
    arrivals, time = [], 0.0
    for number, there in enumerate(arrives):
        time += spacings[number % len(spacings)]
        if not there:
            continue
        now = rtt * (1 + number % 3)
        arrivals.append((number, time, now))
        found.received(number, time, now)
        p, starts = tfrc_twin.loss_event_rate(arrivals, first, discounting)
        assert found.events == len(starts)
        assert found.event_rate == pytest.approx(p, rel=1e-12)
    assert list(WEIGHTS) == tfrc_twin.WEIGHTS


def sent(lost, seconds: float, **settings):
    """A flow of 1000 bytes a segment over 50 ms and back, of which packets with some numbers are lost."""
    trace = np.zeros(100_000, dtype=bool)
    trace[list(lost)] = True
    links = {"down": Link(0.05, loss=LossTrace(trace)), "up": Link(0.05)}
    flow = Flow(("down",), ("up",), None, Tfrc(**settings), measured=True)
    return simulate(Scenario(links, (flow,), bins=0.1), seconds, np.random.default_rng(1)).traffic[0]


def test_reports_come_once_a_round_trip() -> None:
    """The first packet at once (.05 s); the first that knows R comes .15 s in: from then on every .1 s, .05 s back."""
    times, _ = sent([], 0.75).noted("allowed_rate")
    assert times == pytest.approx([0.1, 0.3, 0.4, 0.5, 0.6, 0.7])


def test_a_loss_event_is_reported_at_once() -> None:
    """The 20th packet is lost: known with the third later one, when p rises from 0."""
    run = sent([19], 1.0)
    known = run.arrivals.time[run.arrivals.number == 22][0]
    times, p = run.noted("p")
    assert times[p > 0][0] == pytest.approx(known + 0.05)
    assert run.noted("loss_event")[0] == pytest.approx([known])


def test_the_first_interval_is_what_the_rate_received_says() -> None:
    """Half of the rate before, not the 20 packets before the loss (Section 6.3.1)."""
    run = sent([19], 1.0)
    known = run.arrivals.time[run.arrivals.number == 22][0]
    came = run.arrivals.time
    times, p = run.noted("p")
    regular = times[times < known + 0.05 - 1e-9][1:] - 0.05  # the first report knows no R
    most = max(((came > one - 0.1 + 1e-9) & (came < one - 1e-9)).sum() for one in regular)
    most = max(most, ((came > known - 0.1 + 1e-9) & (came <= known)).sum())
    assert p[p > 0][0] == pytest.approx(loss_event_rate(most), rel=1e-9)


def test_a_first_packet_that_is_lost_costs_half_a_packet_a_round_trip() -> None:
    run = sent([0], 5.0)
    _, p = run.noted("p")
    assert p[p > 0][0] == pytest.approx(0.2064, abs=5e-5)


def test_slow_packets_are_reported_each() -> None:
    """A cap of three packets a second, fewer than one a round trip: each time the report waits for a packet."""
    run = sent([], 20.0, cap=24_000)
    times, rtts = run.noted("rtt")
    assert np.diff(times[5:]) == pytest.approx(1 / 3)
    assert rtts == pytest.approx(0.1)

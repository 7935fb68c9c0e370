"""What a TFRC sender may send, by hand and beside a slow twin, and when its packets leave."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.sim import Bernoulli, Change, Flow, Link, Scenario, simulate
from tcpstream.sim.tfrc import Feed, Segment, Tfrc
from tcpstream.sim.tfrc.allowed_rate import AllowedRate
from tcpstream.sim.tfrc.data_limits import DataLimits
from tcpstream.sim.tfrc.equation import throughput
from tcpstream.sim.tfrc.feedback import Feedback
from tests.twins.tfrc_twin import SenderTwin

R = 0.1
S = 1000
WAY = Link(0.05)


def told(rate: AllowedRate, now: float, received: float = 1e9, p: float = 0.0, events: int = 0, limited: bool = False):
    """The rate after feedback at a time [s], of a packet that was sent R before."""
    rate.feedback(now, Feedback(now - R, 0.0, received, p, events), limited=limited)
    return rate.rate


def allowed(*, p: float = 0.0, received: float = 1e9) -> AllowedRate:
    """A sender after its first feedback, 4000 bytes a round trip, and a second report."""
    rate = AllowedRate(S, 4000)
    told(rate, R, received)
    told(rate, 2 * R, received, p)
    return rate


def test_slow_start_doubles_once_a_round_trip() -> None:
    rate = AllowedRate(S, 4000)
    assert rate.rate == S  # a segment a second
    assert told(rate, 0.1, 0.0) == 40_000
    assert told(rate, 0.2, 40_000) == 80_000
    assert told(rate, 0.25, 60_000) == 80_000  # less than a round trip later
    assert told(rate, 0.3, 90_000) == 160_000


def test_slow_start_is_limited_by_what_is_received() -> None:
    """Twice the largest rate of two round trips; without a limit until the first two are over."""
    rate = AllowedRate(S, 4000)
    rates = [told(rate, 0.1 * k, 50_000) for k in range(1, 8)]
    assert rates == pytest.approx([40_000, 80_000, 160_000, 100_000, 100_000, 100_000, 100_000])
    assert told(rate, 0.8, 1000) == pytest.approx(100_000)
    assert told(rate, 0.9, 1000) == pytest.approx(100_000)
    assert told(rate, 1.01, 1000) == pytest.approx(40_000)  # never less than the initial rate


def test_the_equation_rules_after_a_loss() -> None:
    rate = allowed(p=0.01)
    assert rate.rate == throughput(S, R, 0.01)
    assert told(rate, 0.3, 1e9, 0.04) == throughput(S, R, 0.04)
    for k in range(4, 8):
        told(rate, 0.1 * k, 20_000, 0.04)
    assert rate.rate == pytest.approx(40_000)  # twice what is received


def test_a_segment_in_64_seconds_at_least() -> None:
    rate = allowed(p=1.0)
    for k in range(3, 8):
        told(rate, 0.1 * k, 1.0, 1.0)
    assert rate.rate == S / 64
    assert rate.timeout == 128


def test_a_loss_while_data_are_short_halves_what_was_received() -> None:
    """Section 4.3: 100 kB/s before; a report of 80 kB/s with a loss: max(50, .85 * 80) = 68 kB/s, not doubled."""
    rate = allowed(received=100_000)
    told(rate, 0.5, 100_000)
    assert told(rate, 0.6, 80_000, 1e-4, 1, limited=True) == pytest.approx(68_000)
    assert told(rate, 0.7, 68_000, 1e-4, 1, limited=True) == pytest.approx(136_000)  # no new loss: twice the larger
    assert told(rate, 0.8, 50_000, 1e-4, 2, limited=True) == pytest.approx(42_500)  # an event, though p is as it was


def test_short_data_keep_the_largest_rate_received() -> None:
    """Without loss a sender that has little to send does not lose its limit."""
    rate = allowed(received=100_000)
    for k in range(3, 30):
        told(rate, 0.1 * k, 5_000, 0.0, limited=True)
    assert rate.rate == pytest.approx(200_000)
    for k in range(30, 34):
        told(rate, 0.1 * k, 5_000, 0.0)
    assert rate.rate == pytest.approx(40_000)


def test_no_feedback_halves_the_rate() -> None:
    """Section 4.4: by X, by what was received, or by the equation."""
    first = AllowedRate(S, 4000)
    first.expired(2.0, idle=False)
    assert first.rate == 500
    started = allowed()
    started.expired(1.0, idle=False)
    assert started.rate == 40_000  # 80 kB/s before
    lossy = allowed(p=0.01)
    equation = lossy.rate
    lossy.expired(1.0, idle=False)
    assert lossy.rate == pytest.approx(equation / 2)
    lossy.expired(2.0, idle=False)
    assert lossy.rate == pytest.approx(equation / 4)
    limited = allowed(p=0.0001)
    for k in range(3, 7):
        told(limited, 0.1 * k, 60_000, 0.0001)
    assert limited.rate == pytest.approx(120_000)
    limited.expired(1.0, idle=False)
    assert limited.rate == pytest.approx(60_000)


def test_an_idle_sender_keeps_a_small_rate() -> None:
    """Below twice the initial rate of 40 kB/s nothing is halved; with losses, if less than 40 kB/s was received."""
    fast = allowed()
    assert [told(fast, 0.3), told(fast, 0.4)] == [160_000, 320_000]
    rates = []
    for time in (1.0, 2.0, 3.0, 4.0):
        fast.expired(time, idle=True)
        rates.append(fast.rate)
    assert rates == [160_000, 80_000, 40_000, 40_000]
    lossy = allowed(p=0.0001)
    for k in range(3, 7):
        told(lossy, 0.1 * k, 60_000, 0.0001)
    rates = []
    for time in (1.0, 2.0, 3.0, 4.0):
        lossy.expired(time, idle=True)
        rates.append(lossy.rate)
    assert rates == pytest.approx([60_000, 60_000, 60_000, 60_000])  # 30 kB/s are received, less than 40


def test_damping_follows_the_round_trip() -> None:
    """Section 4.5: four times the round trip that it was: X sqrt(R) over 2 sqrt(R), but for a tenth of the new root."""
    rate = AllowedRate(S, 4000, damping=True)
    told(rate, 0.1)
    rate.feedback(1.0, Feedback(0.6, 0.0, 1e9, 0.01, 1), limited=False)
    assert rate.instantaneous == pytest.approx(rate.rate * (0.9 + 0.1 * 2) / 2)
    plain = AllowedRate(S, 4000)
    plain.feedback(1.0, Feedback(0.6, 0.0, 1e9, 0.01, 1), limited=False)
    assert plain.instantaneous == plain.rate


def test_the_receiver_does_not_count_as_round_trip() -> None:
    rate = AllowedRate(S, 4000)
    rate.feedback(1.0, Feedback(0.6, 0.3, 0.0, 0.0, 0), limited=False)
    assert rate.rtt == pytest.approx(0.1)


steps = st.tuples(
    st.sampled_from(["feedback", "feedback", "feedback", "idle", "expired"]),
    st.floats(0.01, 1.0),
    st.floats(0.01, 0.4),
    st.sampled_from([0.0, 500.0, 2e4, 1e5, 1e7]),
    st.sampled_from([0.0, 1e-4, 0.02, 0.5, 1.0]),
    st.booleans(),
)


@given(st.lists(steps, max_size=40), st.sampled_from([1000.0, 4000.0]))
def test_beside_the_twin(taken, window) -> None:
    rate, twin = AllowedRate(S, window), SenderTwin(S, window)
    now, events, lossy = 0.0, 0, 0.0
    for what, after, rtt, received, p, limited in taken:
        now += after
        if what == "feedback":
            lossy = p if lossy == 0 or p > 0 else lossy  # p does not become 0 again
            events += int(p > 0.1)
            rate.feedback(now, Feedback(now - rtt - 0.001, 0.001, received, lossy, events), limited=limited)
            twin.feedback(now, now - rtt - 0.001, 0.001, received, lossy, events, limited)
        else:
            rate.expired(now, idle=what == "idle")
            twin.expired(now, what == "idle")
        assert rate.rate == pytest.approx(twin.X, rel=1e-12)
        assert rate.rate >= S / 64


@given(st.lists(st.tuples(st.floats(1e-3, 1), st.booleans(), st.booleans())))
def test_data_were_short_if_no_moment_says_otherwise(moments) -> None:
    limits, times, now, before = DataLimits(), [], 0.0, -1.0
    for after, unlimited, report in moments:
        now += after
        if unlimited:
            limits.unlimited(now)
            times.append(now)
        if report:
            assert limits.covered(now) == (not any(before < time <= now for time in times))
            before = now


@dataclass(frozen=True)
class Scripted(Tfrc):
    """A flow that has segments at some times only [s]."""

    times: tuple[float, ...] = ()

    def feed(self) -> Feed:
        """Return what has them."""
        left = list(self.times)

        class Timed(Feed):
            def pull(self, now: float) -> Segment | None:
                return Segment(500, round(10 * left.pop(0))) if left and left[0] <= now else None

            def due(self, now: float) -> float:
                del now
                return left[0] if left else math.inf

        return Timed()


def ran(source: Tfrc, seconds: float, down: Link = WAY, up: Link = WAY):
    """A run of one flow."""
    flow = Flow(("down",), ("up",), None, source, measured=True)
    scenario = Scenario({"down": down, "up": up}, (flow,), bins=0.1)
    return simulate(scenario, seconds, np.random.default_rng(1)).traffic[0]


def left(run) -> list[float]:
    """When packets left that arrived 50 ms later [s]."""
    return (run.arrivals.time - 0.05).tolist()


def test_packets_are_spaced() -> None:
    """A packet; 4 a round trip from .1 s on; twice as many from .3 s on, when the rate of those is reported."""
    found = left(ran(Tfrc(), 0.42))
    assert found == pytest.approx([0.0, *np.arange(0.1, 0.3, 0.025), *np.arange(0.3, 0.37, 0.0125)], abs=1e-9)


def test_the_start_of_rfc_3448() -> None:
    """One packet a round trip instead of four."""
    found = left(ran(Tfrc(start="rfc3448"), 0.45))
    assert found == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.35, 0.4][: len(found)], abs=1e-9)


def test_without_feedback_the_first_rate_is_halved_down_to_a_packet_in_64_seconds() -> None:
    """X is halved at 2, 6, 14, 30, 62 and 126 s, each time for twice as long; packets follow the last one by 1 / X."""
    lost = Link(0.05, loss=Bernoulli(1.0))
    found = left(ran(Tfrc(), 400.0, up=lost))
    assert found == pytest.approx([0, 1, 3, 5, 9, 13, 21, 29, 45, 61, 93, 125, 189, 253, 317, 381], abs=1e-6)


def test_the_timer_is_four_round_trips() -> None:
    """After feedback at .1 and .3 s there is none: 80 kB/s are halved every .4 s, though the first timer was of 2 s."""
    run = ran(Tfrc(), 1.6, up=Link(0.05, loss=Bernoulli(0.0), changes=(Change(0.29, loss=1.0),)))
    times, rates = run.noted("allowed_rate")
    assert times == pytest.approx([0.1, 0.3, 0.7, 1.1, 1.5])
    assert rates / 8000 == pytest.approx([40, 80, 40, 20, 10])


def test_the_rate_is_capped() -> None:
    """From 400 kbit/s on, 50 packets a second."""
    run = ran(Tfrc(cap=400e3), 20.0)
    assert np.diff(left(run))[-500:] == pytest.approx(0.02, abs=1e-9)
    allowed_rate = run.noted("allowed_rate")[1]
    assert allowed_rate[-1] == pytest.approx(2 * 8000 * 50, rel=0.11)  # twice what is received, and no more


@pytest.mark.parametrize(("cap", "limited"), [(200e3, True), (None, False)])
def test_a_capped_sender_is_short_of_data(monkeypatch, cap, limited) -> None:
    """It could send more: from the second second on, in each report."""
    found = []
    feedback = AllowedRate.feedback

    def seen(self, now, report, *, limited):
        found.append((now, limited))
        feedback(self, now, report, limited=limited)

    monkeypatch.setattr(AllowedRate, "feedback", seen)
    ran(Tfrc(cap=cap), 10.0, down=Link(0.05, rate=1e6, queue=20))
    assert {one for now, one in found if now > 2} == {limited}


def test_a_feed_is_pulled_when_it_has_something() -> None:
    times = (0.0, 0.5, 0.5, 3.0, 3.2)
    run = ran(Scripted(times=times), 10.0)
    assert left(run) == pytest.approx([0.0, 0.5, 0.525, 3.0, 3.2], abs=1e-9)
    assert run.arrivals.tag.tolist() == [0, 5, 5, 30, 32]
    assert run.arrivals.size.tolist() == [500] * 5


def test_the_rate_survives_a_pause_of_the_feed() -> None:
    """Section 4.4: an idle sender does not fall below its initial rate: after 60 s segments are 25 ms apart."""
    run = ran(Scripted(times=(0.0, 0.2, 60.0, 60.0, 60.0)), 61.0)
    assert left(run)[2:] == pytest.approx([60.0, 60.025, 60.05], abs=1e-9)


def test_a_path_that_breaks() -> None:
    """No packet arrives from 5 s on: the rate falls to a packet in 64 s; feedback takes it up again."""
    broken = Link(0.05, loss=Bernoulli(0.0), changes=(Change(5.0, loss=1.0), Change(300.0, loss=0.0)))
    run = ran(Tfrc(cap=80_000), 600.0, up=broken)
    times, rates = run.noted("allowed_rate")
    assert rates[(times > 200) & (times < 300)].min() == pytest.approx(8000 / 64)
    assert rates[-1] > 80_000

"""BBR version 1 by its draft: alone on a link, its phases, and random losses up to and beyond its cliff."""

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Backlogged, Bernoulli, Link, Requests, Steady, Stored, Tcp, TokenBucket, simulate, single_path
from tcpstream.sim.engine.control_records import DRAIN, PROBE_BW, PROBE_RTT, STARTUP
from windows import watched

RATE, R = 8e6, 0.05
PACKETS = RATE / 12e3
"""Rate of the link [packets/s]."""

PIPE = PACKETS * (R + 12e3 / RATE)
"""Packets that fill it, with one that is being sent."""


def path(loss=0.0, source=None, queue=200, rate=RATE, **chosen):
    settings = {"variant": "rack", "congestion": "bbr", "initial_window": 10, "max_window": 1000}
    there = Link(R / 2, rate, queue=queue, loss=Bernoulli(loss) if loss else None)
    tcp = Tcp(**settings | {"timer": "rfc6298", "granularity": 0.2} | chosen)
    return single_path(there, Link(R / 2), tcp, source or Backlogged())


def test_alone_it_fills_a_link_with_a_small_queue():
    # 1% below the rate, and a hundredth or two in PROBE_RTT; what is left in the queue are the 6 packets that hosts may
    # hold back, and a quarter of the pipe in a phase of eight
    seen = simulate(path(), 60.0, np.random.default_rng(1)).flows[0]
    assert 0.93 < seen.throughput / PACKETS <= 1
    assert seen.rtt < (PIPE + 6 + PIPE / 4 / 4) / PACKETS
    assert seen.loss_rate == seen.timeouts == 0


def test_start():
    # Gain 2.885 over the first round trip with 10 packets. The pipe is full after two rounds more, which three rounds
    # show that bring no quarter more, each of up to 2.885 R; then the queue is drained, and the cycle begins.
    first = watched(path(rate=np.inf, queue=None), [R + 0.004], "rate")[0]
    assert first == pytest.approx(0.99 * 2.885 * 10 / R, rel=0.1)
    times = np.arange(0.005, 2.0, 0.005)
    modes = watched(path(), times, "mode")
    assert sorted(set(modes), key=modes.index) == [STARTUP, DRAIN, PROBE_BW]
    assert times[modes.index(DRAIN)] < (3 + 4 * 2.885) * R
    assert max(watched(path(), times, "pipe")) < 2.885 * PIPE + 3 * 2 + 2
    drained = times[modes.index(PROBE_BW)]
    assert watched(path(), [drained], "pipe")[0] < 1.25 * PIPE + 8
    assert watched(path(), [drained], "bw")[0] == pytest.approx(PACKETS, rel=0.05)


def test_cycle_of_gains():
    # a round trip each: 1.25, 0.75, then six of 1
    times = np.arange(2.0, 9.0, 0.002)
    gains = np.array(watched(path(), times, "rate")) / (0.99 * np.array(watched(path(), times, "bw")))
    levels = gains.round(2)
    assert set(levels) == {0.75, 1.0, 1.25}
    changes = levels[np.flatnonzero(np.diff(levels))]
    following = levels[np.flatnonzero(np.diff(levels)) + 1]
    assert set(zip(changes, following)) == {(1.25, 0.75), (0.75, 1.0), (1.0, 1.25)}
    assert (levels == 1.25).mean() == pytest.approx(1 / 8, abs=0.06)
    assert max(watched(path(), times, "pipe")) < 2 * PIPE + 3 * 2 + 2


def test_round_trips_are_probed_every_ten_seconds():
    times = np.arange(0.01, 35.0, 0.01)
    probing = np.array(watched(path(), times, "mode")) == PROBE_RTT
    windows = np.array(watched(path(), times))[probing]
    starts = times[1:][np.diff(probing.astype(int)) == 1]
    assert len(starts) == 3
    assert (np.diff(starts) > 10).all()
    assert (np.diff(starts) < 11).all()
    assert (windows <= 4).all()
    assert 0.2 < probing.sum() * 0.01 / 3 < 0.5


@pytest.mark.parametrize("rtt", [0.005, 0.02])
def test_a_probe_of_many_round_trips_forgets_no_rate(rtt):
    # in the 200 ms of PROBE_RTT no rate is seen that counts, for more rounds than the largest one is kept
    there = Link(rtt / 2, RATE, queue=200)
    tcp = Tcp("rack", congestion="bbr", initial_window=10, max_window=1000, timer="rfc6298", granularity=0.2)
    seen = simulate(single_path(there, Link(rtt / 2), tcp), 40.0, np.random.default_rng(1)).flows[0]
    assert 0.95 < seen.throughput / PACKETS <= 1


@pytest.mark.parametrize("p", [0.05, 0.1])
def test_random_losses_cost_little(p):
    seen = simulate(path(p), 60.0, np.random.default_rng(2)).flows[0]
    assert seen.throughput > 0.85 * PACKETS
    assert seen.loss_rate == pytest.approx(p, rel=0.1)


def test_cliff():
    # a quarter more, of which more than a fifth is lost, brings less than before: the rate that is seen falls
    before, behind = (simulate(path(p), 120.0, np.random.default_rng(3)).flows[0].throughput for p in (0.15, 0.25))
    assert before > 0.7 * PACKETS
    assert behind < 0.3 * PACKETS


def test_sources_that_wait_say_nothing_of_the_rate():
    # 50 packets/s: each goes at once, and the pipe is never full
    scenario = path(source=Steady(50.0))
    seen = simulate(scenario, 30.0, np.random.default_rng(1)).flows[0]
    made = np.arange(len(seen.times)) / 50
    assert (seen.times - made).max() < R / 2 + 5 * 12e3 / RATE
    assert watched(scenario, [25.0], "full") == [0]


def test_all_arrives_in_order_and_idle_times_end():
    video = Stored(100.0, 20.0)
    seen = simulate(path(0.2, video), 600.0, np.random.default_rng(4)).flows[0]
    assert len(seen.times) == 2000
    assert (np.diff(seen.times) >= 0).all()
    answers = Requests([2.0], [30])
    times = simulate(path(source=answers), 20.0, np.random.default_rng(4)).flows[0].times
    assert len(times) == 30 * round(len(times) / 30) > 200
    assert (np.diff(times)[29::30] > 2).all()


def test_policed():
    # no estimate of the policer's rate: the losses of probing, but its rate is found
    there = Link(R / 2, 5 * RATE, bucket=TokenBucket(RATE, 15000, polices=True))
    tcp = Tcp("rack", congestion="bbr", initial_window=10, max_window=1000, timer="rfc6298", granularity=0.2)
    seen = simulate(single_path(there, Link(R / 2), tcp), 30.0, np.random.default_rng(1)).flows[0]
    assert 0.6 < seen.throughput / PACKETS <= 1.03


@pytest.mark.parametrize("chosen", [{"variant": "sack"}, {"prr": True}, {"hystart": True}, {"growth": "limited"}])
def test_what_does_not_go_with_bbr(chosen):
    with pytest.raises(InputError, match='"bbr" needs variant = "rack"'):
        path(**chosen)

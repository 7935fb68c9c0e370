"""CUBIC against RFC 9438's formulas, HyStart, and recoveries by RFC 6937, by hand. A way takes 1/16 s."""

import math

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Backlogged, Bernoulli, Link, LossTrace, Steady, Tcp, simulate, single_path
from windows import watched

D, R = 1 / 16, 1 / 8


def path(lost=(), source=None, there=None, **chosen):
    bits = np.zeros(100_000, dtype=bool)
    bits[list(lost)] = True
    settings = {"variant": "sack", "congestion": "cubic", "granularity": 0.0, "max_window": 1000, "slow_start": False}
    return single_path(there or Link(D, loss=LossTrace(bits)), Link(D), Tcp(**settings | chosen), source)


def curve(t, w_max, window):
    """W_cubic, Section 4.2 [packets]."""
    return 0.4 * (t - ((w_max - window) / 0.4) ** (1 / 3)) ** 3 + w_max


def test_growth_follows_the_curve():
    # 50 acknowledgements before the third duplicate, one packet for 20 of them: 202.5. All acknowledgements of a round
    # come at once and take the window most of the way to what the curve will be a round trip later.
    scenario = path([50], initial_window=200)
    ssthresh, w_max, epoch = (watched(scenario, [1.0], of)[0] for of in ("ssthresh", "w_max", "epoch"))
    assert (w_max, ssthresh) == pytest.approx((202.5, 0.7 * 202.5))
    assert epoch == pytest.approx(0.375, abs=R)
    times = np.arange(1.0, 11.0)
    found = np.array(watched(scenario, epoch + times))
    assert (found > [curve(t - R, w_max, ssthresh) for t in times]).all()
    assert (found < [curve(t + R, w_max, ssthresh) for t in times]).all()


def test_small_windows_grow_as_reno_would():
    # alpha = 3 (1 - 0.7) / (1 + 0.7) a round trip (Section 4.3); the window follows a round trip behind, 0.53 packets
    scenario = path([5], initial_window=10)
    ssthresh, epoch = (watched(scenario, [0.6], of)[0] for of in ("ssthresh", "epoch"))
    times = np.array([1.0, 2.0, 3.0, 4.0])
    reno = ssthresh + 0.9 / 1.7 * times / R
    assert (reno > [curve(t, ssthresh / 0.7, ssthresh) for t in times]).all()
    assert watched(scenario, epoch + times) == pytest.approx(reno, abs=1.0)


def test_fast_convergence():
    # the second loss meets a window below that of the first: its plateau is (1 + 0.7) / 2 of it (Section 4.7)
    scenario = path([50, 400], initial_window=200)
    first, second = watched(scenario, [0.3, 2.0], "w_max")
    ssthresh = watched(scenario, [2.0], "ssthresh")[0]
    assert first == pytest.approx(202.5)
    assert second == pytest.approx(ssthresh / 0.7 * 0.85)
    assert ssthresh < 0.7 * first


def test_timeouts_forget_the_plateau():
    seen = watched(path(range(10), initial_window=10, initial_rto=1.0), [1.01], "w_max")
    assert seen == [0.0]
    assert watched(path(range(10), initial_window=10, initial_rto=1.0), [1.01], "ssthresh") == [7.0]


def test_the_clock_stands_while_nothing_is_under_way():
    assert watched(path(source=Steady(1.0)), [0.9, 1.01, 2.01], "epoch") == [2 * D, 1.0, 2.0]
    assert watched(path(source=Steady(20.0)), [0.9, 1.01, 2.01], "epoch") == [2 * D] * 3


def test_slow_start_counts_packets_that_are_acknowledged():
    scenario = path(initial_window=8, slow_start=True, ack_every=2)
    assert watched(scenario, [D, 3 * D, 5 * D]) == [8, 16, 32]


@pytest.mark.parametrize("rtt", [0.05, 0.1])
def test_hystart_leaves_slow_start_near_the_pipe(rtt):
    # 8 Mbit/s: acknowledgements of a train are 1.5 ms apart; the queue has room for the pipe once more
    pipe = 8e6 * rtt / 12e3

    def seen(hystart):
        there = Link(rtt / 2, 8e6, queue=round(2 * pipe))
        tcp = Tcp("sack", congestion="cubic", hystart=hystart, max_window=1000, initial_window=10)
        return single_path(there, Link(rtt / 2), tcp)

    assert pipe / 2 < watched(seen(True), [1.0], "ssthresh")[0] < 1.5 * pipe
    lost = [simulate(seen(hystart), 1.0, np.random.default_rng(1)).flows[0].loss_rate for hystart in (True, False)]
    assert lost[0] == 0 < lost[1]


def test_hystart_sees_round_trips_that_grow():
    # 2 Mbit/s: acknowledgements are 6 ms apart, no train; R is 0.106 s alone, 0.119 s behind three packets
    tcp = Tcp("sack", congestion="cubic", hystart=True, max_window=1000, initial_window=10)
    scenario = single_path(Link(0.05, 2e6), Link(0.05), tcp)
    assert 16 <= watched(scenario, [2.0], "ssthresh")[0] < 50
    assert watched(scenario, [2.0], "found") == [1]


@pytest.mark.parametrize("prr", [True, False])
def test_proportional_rate_reduction(prr):
    # 20 packets, the first is lost, 10 ms apart behind the link. Duplicates 1 and 2 let 20 and 21 go, the third begins
    # recovery with 22 out and a threshold of 10: after k - 2 more are delivered, 10/22 of that were sent (RFC 6937).
    # Without it nothing follows the first retransmission until fewer than 10 are under way, from duplicate 13 on.
    bits = np.zeros(100, dtype=bool)
    bits[0] = True
    there = Link(D, 1.2e6, loss=LossTrace(bits))
    scenario = path(there=there, initial_window=20, congestion="reno", prr=prr)
    duplicates = range(3, 18)
    sent = watched(scenario, [2 * D + 0.01 * k + 0.001 for k in duplicates], "sent")
    if prr:
        assert sent == [22 + math.ceil((k - 2) * 10 / 22) for k in duplicates]
    else:
        assert sent == [23 + max(0, k - 12) for k in duplicates]


def test_friendly_windows_follow_the_square_root_law():
    """AIMD with 0.53 packets and 0.7 has the throughput of Reno's; 15% as for Reno."""
    p, rtt = 2e-3, 0.1
    tcp = Tcp("rack", congestion="cubic", max_window=1000, prr=True)
    scenario = single_path(Link(rtt / 2, loss=Bernoulli(p)), Link(rtt / 2), tcp, Backlogged())
    seen = simulate(scenario, 1500.0, np.random.default_rng(5)).flows[0]
    assert seen.throughput == pytest.approx(math.sqrt(1.5 / p) / rtt, rel=0.15)


@pytest.mark.parametrize("chosen", [{"congestion": "cubic"}, {"prr": True}])
def test_needs_sack(chosen):
    with pytest.raises(InputError, match='needs variant = "sack" or "rack", got "newreno"'):
        Tcp("newreno", **chosen)

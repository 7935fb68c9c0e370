"""TCP by hand: every time follows from the windows. A way takes d, a round trip 2 d; bits of a trace are packets."""

import itertools
import math

import numpy as np
import pytest

from tcpstream.sim import Link, LossTrace, Requests, Tcp, simulate, single_path

D = 1 / 16
"""Delay of each way [s]: a power of two, so that sums are exact."""


def watch(duration, lost=(), source=None, **chosen):
    """Watch a flow whose n-th packet on the way is lost where n is in `lost`."""
    bits = np.zeros(10_000, dtype=bool)
    bits[list(lost)] = True
    tcp = Tcp(**{"granularity": 0.0} | chosen)
    path = single_path(Link(D, loss=LossTrace(bits)), Link(D), tcp, source)
    return simulate(path, duration, np.random.default_rng(1)).flows[0]


def rounds(*groups):
    """Return times from pairs of a time in units of d, and how many packets come then."""
    return [time * D for time, packets in groups for _ in range(packets)]


def test_slow_start_doubles_each_round():
    seen = watch(16 * D, initial_window=1, max_window=64)
    assert list(seen.times) == rounds((1, 1), (3, 2), (5, 4), (7, 8), (9, 16), (11, 32), (13, 64), (15, 64))
    assert (seen.loss_rate, seen.timeouts, seen.fast_retransmits) == (0, 0, 0)
    assert seen.rtt == 2 * D


def test_congestion_avoidance_adds_a_packet_a_round():
    # each acknowledgement adds 1/cwnd: 4, 4.92 -> 4, 5.69 -> 5, 6.58 -> 6
    seen = watch(8 * D, initial_window=4, slow_start=False)
    assert list(seen.times) == rounds((1, 4), (3, 4), (5, 5), (7, 6))


@pytest.mark.parametrize("variant", ["reno", "newreno", "sack"])
def test_fast_retransmit_after_three_duplicates(variant):
    # 0-7 go at 0, 2 is lost. At 2 d two acknowledgements let 8 and 9 go, the third duplicate sends 2 again, which fills
    # the hole at 3 d. Recovery ends at 4 d with half the window: 4 packets, 4.92 a round later, then 5.69. Reno and
    # NewReno, as BSD, count the acknowledgement that ends recovery: 4.25, 5.12, 6.04.
    seen = watch(9.5 * D, [2], variant=variant, initial_window=8, max_window=8)
    after = (4, 4, 5) if variant == "sack" else (4, 5, 6)
    assert list(seen.times) == rounds((1, 2), (3, 8), *zip((5, 7, 9), after))
    assert (seen.fast_retransmits, seen.timeouts, seen.sent) == (1, 0, 8 + 2 + 1 + sum(after))
    assert seen.loss_rate == 1 / seen.sent


def test_two_duplicates_are_not_enough():
    # of 3 packets the second is lost: 2 and 3, sent at 2 d, make two duplicates; the timer is 3 R after 2 d
    seen = watch(10 * D, [1], initial_window=3, max_window=3)
    assert list(seen.times) == rounds((1, 1), (9, 3))
    assert (seen.fast_retransmits, seen.timeouts) == (0, 1)


def test_limited_transmit_finds_the_third_duplicate():
    # as before, with room in the receiver's window: at 2 d the duplicate sends 4, and at 4 d that of 3 is the second
    # and sends 5, that of 4 is the third and sends 1 again, which fills the hole at 5 d
    chosen = {"initial_window": 3, "slow_start": False}
    seen = watch(6 * D, [1], **chosen)
    assert list(seen.times) == rounds((1, 1), (5, 5))
    assert (seen.fast_retransmits, seen.timeouts) == (1, 0)
    without = watch(10 * D, [1], **chosen, limited_transmit=False)
    assert list(without.times) == rounds((1, 1), (9, 3))
    assert (without.fast_retransmits, without.timeouts) == (0, 1)


def test_two_losses_reno_waits_for_the_timer():
    # at 4 d the partial acknowledgement ends recovery; nothing more comes until the timer, 3 R later
    seen = watch(12 * D, [2, 4], initial_window=8, max_window=8)
    assert list(seen.times) == rounds((1, 2), (3, 2), (11, 6))
    assert (seen.fast_retransmits, seen.timeouts) == (1, 1)


def test_two_losses_newreno_repairs_one_a_round():
    # RFC 6582: the partial acknowledgement at 4 d sends 4, and as the window of 9, receiver's 8, allows, 10 and 11
    seen = watch(6 * D, [2, 4], variant="newreno", initial_window=8, max_window=8)
    assert list(seen.times) == rounds((1, 2), (3, 2), (5, 8))
    assert (seen.fast_retransmits, seen.timeouts) == (1, 0)


def test_two_losses_sack_repairs_both_at_once():
    # RFC 6675: with the fourth duplicate three packets above 4 are reported: it is sent again in the same round as 2
    seen = watch(4 * D, [2, 4], variant="sack", initial_window=8, max_window=8)
    assert list(seen.times) == rounds((1, 2), (3, 8))
    assert (seen.fast_retransmits, seen.timeouts) == (1, 0)


def test_a_lost_retransmission_waits_for_the_timer():
    # 10 is the retransmission of 2; the last acknowledgement that restarts the timer is the duplicate's at 2 d
    for variant in ("reno", "newreno", "sack"):
        seen = watch(20 * D, [2, 10], variant=variant, initial_window=8, max_window=8)
        assert list(seen.times)[:10] == rounds((1, 2), (9, 8))
        assert seen.timeouts == 1


def test_rack_sees_a_lost_retransmission():
    # At 2 d 8 to 11 go, then 2 again, which is lost (12 on the way). New packets of 4 d arrive, and say so at 6 d
    # (RFC 8985): 2 goes once more and fills the hole at 7 d. RFC 6675 waits for the timer, R + 0.3 s after 2 d: 8.8 d.
    chosen = {"initial_window": 8, "slow_start": False, "timer": "rfc6298", "granularity": 0.3, "min_rto": 0.0}
    rack, sack = (watch(14 * D, [2, 12], variant=variant, **chosen) for variant in ("rack", "sack"))
    assert list(rack.times)[:12] == rounds((1, 2), (7, 10))
    assert rack.timeouts == 0
    assert list(sack.times)[2] == pytest.approx(9.8 * D)
    assert sack.timeouts == 1


def test_backoff_doubles_up_to_64():
    # RFC 6298, (5.5): the timer of 1 s, then 2, 4, ... 64, 64
    expiries = list(itertools.accumulate([1, 2, 4, 8, 16, 32, 64, 64, 64]))
    for number, at in enumerate(expiries):
        before, after = (watch(t, range(100), initial_rto=1.0, initial_window=1) for t in (at - 0.01, at + 0.01))
        assert (before.timeouts, after.timeouts) == (number, number + 1)
        assert (before.sent, after.sent) == (number + 1, number + 2)
        assert (len(after.times), after.loss_rate) == (0, 1)


def test_timeout_goes_back_to_one_and_half():
    # all 8 are lost; after 1 s slow start from 1 up to ssthresh = 4, then 1/cwnd an acknowledgement: 4.92, 5.69
    seen = watch(1 + 12 * D, range(8), initial_rto=1.0, initial_window=8, max_window=8)
    assert list(seen.times) == [1 + t for t in rounds((1, 1), (3, 2), (5, 4), (7, 4), (9, 5), (11, 6))]


def test_without_slow_start_timeouts_are_followed_by_linear_growth():
    # 1, then 2, 2.5 -> 2.9, 3.24 -> 3.55 -> 3.83
    seen = watch(1 + 8 * D, range(8), initial_rto=1.0, initial_window=8, max_window=8, slow_start=False)
    assert list(seen.times) == [1 + t for t in rounds((1, 1), (3, 2), (5, 2), (7, 3))]


def test_karn():
    # A window of one. Packet 0 is lost: sent again after 1 s, its acknowledgement is no sample, so the timer of packet
    # 1, lost as well, is still 2 s. Packet 2 arrives: R is sampled, the timer is 3 R, that of packet 3.
    seen = watch(4.9, [0, 2, 5], initial_rto=1.0, initial_window=1, max_window=1, min_rto=0.0)
    assert list(seen.times)[:4] == [1 + D, 1 + 2 * D + 2 + D, 3 + 5 * D, 3 + 6 * D + 6 * D + D]
    assert seen.rtt == 2 * D


def test_karn_after_a_fast_retransmit():
    # the packet that is timed, 0, is sent again at 2 d: its acknowledgement at 4 d is no sample
    seen = watch(4.5 * D, [0], initial_window=8, max_window=8)
    assert seen.fast_retransmits == 1
    assert math.isnan(seen.rto)
    assert math.isnan(seen.rtt)


def test_delayed_acknowledgements():
    # Every second packet is acknowledged, one that is alone after a: an acknowledgement adds one to the window.
    a = D / 2
    seen = watch(7 * D + 3 * a, initial_window=1, ack_every=2, ack_delay=a)
    groups = [(D, 1), (3 * D + a, 2), (5 * D + a, 3), (7 * D + a, 3), (7 * D + 2 * a, 2)]
    assert list(seen.times) == [time for time, packets in groups for _ in range(packets)]


def test_out_of_order_packets_are_acknowledged_at_once():
    # 2 of 8 is lost: 0 and 1 share an acknowledgement, but 3, 4, ... each cause a duplicate
    seen = watch(4 * D, [2], initial_window=8, max_window=8, ack_every=2)
    assert seen.fast_retransmits == 1
    assert list(seen.times)[:4] == rounds((1, 2), (3, 2))


def test_timer_in_real_numbers():
    # RFC 6298, Section 2, equal samples: SRTT = R, RTTVAR = R/2 (3/4)^k
    n = 40
    seen = watch((2 * n + 0.5) * D, initial_window=1, max_window=1, min_rto=0.0)
    R = 2 * D
    assert seen.rto == pytest.approx(np.mean([R + 2 * R * 0.75**k for k in range(n)]), rel=1e-12)
    assert seen.timeout_ratio == pytest.approx(seen.rto / R)


def test_least_timer():
    assert watch(1.0, initial_window=1, max_window=1, min_rto=5.0).rto == 5.0


def test_timer_in_ticks():
    # R is 2 ticks of d: 6 ticks at first (16/8 + 4/4 * 4), then 5, for 3 quarters of a tick do not fade
    n = 10
    seen = watch((2 * n + 0.5) * D, initial_window=1, max_window=1, min_rto=0.0, granularity=D)
    assert seen.rto == pytest.approx((6 + 5 * (n - 1)) / n * D, rel=1e-12)


def test_requests_start_afresh():
    # an answer of 6 packets, its last acknowledgement at 6 d, a pause of 4 d, the next answer from a window of 2 again
    seen = watch(16 * D, source=Requests([4 * D], [6]), max_window=8)
    assert list(seen.times) == rounds((1, 2), (3, 4), (9, 2), (11, 4))


def test_many_losses_follow_the_square_root_law():
    """SACK loses half a window an event and nothing else, which is what 1.22 / (R sqrt p) assumes (Mathis et al. 1997).

    15%: the formula leaves out the round of recovery and losses close together; one run's error is about 1%.
    """
    from tcpstream.sim import Bernoulli

    p, R = 5e-4, 0.1
    path = single_path(Link(R / 2, loss=Bernoulli(p)), Link(R / 2), Tcp("sack", max_window=1000))
    seen = simulate(path, 5000.0, np.random.default_rng(5)).flows[0]
    assert seen.throughput == pytest.approx(math.sqrt(1.5 / p) / R, rel=0.15)

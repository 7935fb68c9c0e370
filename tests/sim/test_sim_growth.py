"""Windows of senders that wait for their application, by hand from Linux's rules. A way takes 1/16 s."""

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Backlogged, Bernoulli, Link, Steady, Tcp, simulate, single_path
from windows import watched

D = 1 / 16
INTERVAL = 3 / 64
"""Between packets [s]: whenever one is sent, three are out."""


def path(source, loss=None, **chosen):
    tcp = Tcp(**{"granularity": 0.0, "min_rto": 0.4, "initial_window": 2, "growth": "limited"} | chosen)
    return single_path(Link(D, loss=loss), Link(D), tcp, source)


def test_slow_start_stops_at_twice_what_is_out():
    # Three out: 4 to 6 in slow start. Not full for 0.4 s, it is halved towards the 4 of the beginning, and grows again.
    times = np.arange(0.01, 4, 0.01)
    seen = watched(path(Steady(1 / INTERVAL), initial_window=4), times)
    assert set(seen) == {4, 5, 6}
    assert seen[-1] < max(watched(path(Steady(1 / INTERVAL), growth="unlimited"), times)) == 64


def test_congestion_avoidance_grows_only_full_windows():
    source = Steady(1 / INTERVAL)
    assert watched(path(source, min_rto=9.0), [3.0], cwnd=4.0, ssthresh=1.0) == [4.0]
    assert watched(path(source, min_rto=9.0), [0.14], cwnd=3.0, ssthresh=1.0) == [3 + 1 / 3]  # three are all it lets


@pytest.mark.parametrize(("first", "windows"), [(2, (32, 17, 10, 6, 4)), (10, (32, 21, 15, 12, 11))])
def test_unused_windows_go_half_way_to_what_was_used_each_timer(first, windows):
    # After 0.4 s at the next packet: at 9, 18, 27, 36 intervals; used are 3, but at least the initial window.
    times = [k * INTERVAL + 0.01 for k in (8, 9, 18, 27, 36)]
    scenario = path(Steady(1 / INTERVAL), initial_window=first)
    assert watched(scenario, times, cwnd=32.0, ssthresh=10.0) == list(windows)
    assert watched(scenario, times, "ssthresh", cwnd=32.0, ssthresh=10.0) == [10, 24, 24, 24, 24]


def test_idle_times_halve_the_window_for_each_timer():
    # 1.5 s without a packet, 1.1 s more than the timer of 0.4 s: three halves; then 4 to the 2 of the beginning
    scenario = path(Steady(1 / 1.5))
    times = [1.4, 1.51, 3.01]
    assert watched(scenario, times, cwnd=32.0, ssthresh=10.0) == [32, 4, 2]
    assert watched(scenario, times, "ssthresh", cwnd=32.0, ssthresh=10.0) == [10, 24, 24]
    kept = path(Steady(1 / 1.5), growth="unlimited")
    assert watched(kept, times[:2], cwnd=32.0, ssthresh=10.0) == [32 + 1 / 32] * 2


def test_windows_are_left_alone_while_losses_are_repaired():
    # as after a timeout, until all that was sent before it is acknowledged: here, never
    scenario = path(Steady(1 / INTERVAL))
    assert watched(scenario, [3.0], cwnd=32.0, ssthresh=10.0, recover=10**6) == [32.0]


@pytest.mark.parametrize("variant", ["reno", "newreno", "sack", "rack"])
def test_a_source_that_always_has_data_uses_its_windows(variant):
    def times(growth):
        scenario = path(Backlogged(), Bernoulli(0.01), variant=variant, growth=growth)
        return simulate(scenario, 100.0, np.random.default_rng(3)).flows[0].times

    assert list(times("limited")) == list(times("unlimited"))


def test_other_words_are_no_growth():
    with pytest.raises(InputError, match="growth must be"):
        Tcp(growth="linux")

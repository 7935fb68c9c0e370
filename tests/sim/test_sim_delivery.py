"""Late packets and stalls against a player that plays one packet after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_twins import player
from tcpstream.errors import InputError
from tcpstream.sim import Delivery, Link, Steady, Tcp, simulate, single_path


def delivery(times, duration=20.0, interval=0.0):
    return Delivery(np.array(times, dtype=float), duration, interval, 0.0, 0.0, 0.1, 0.3, 100, 0, 0)


times = st.lists(st.floats(0, 20), max_size=60).map(sorted)


@given(times, st.sampled_from([0.5, 0.25, 1.0]), st.floats(0, 8))
def test_late_fraction_of_a_live_stream(arrived, interval, tau):
    due = [tau + i * interval for i in range(1000) if tau + i * interval < 20]
    late = [i >= len(arrived) or arrived[i] > at + 1e-9 for i, at in enumerate(due)]
    seen = delivery(arrived, interval=interval)
    assert seen.late_fraction(tau) == pytest.approx(np.mean(late))
    assert seen.no_late(tau) == (not any(late))


@given(times, st.floats(1, 5), st.floats(0, 8))
def test_late_fraction_of_a_stored_video(arrived, mu, tau):
    packets = int(np.ceil(10 * mu - 1e-9))
    late = [i >= len(arrived) or arrived[i] > tau + i / mu + 1e-9 for i in range(packets)]
    assert delivery(arrived).late_fraction(tau, mu, 10.0) == pytest.approx(np.mean(late))


@given(times, st.sampled_from([0.5, 0.25, 1.0]), st.floats(0, 8))
def test_stalls_of_a_live_stream(arrived, interval, tau):
    number, seconds = player(arrived, interval, tau, 20.0, 1000)
    found = delivery(arrived, interval=interval).stalls(tau)
    assert found == (number, pytest.approx(seconds, abs=1e-6))


@given(times, st.floats(1, 5), st.floats(0, 8))
def test_stalls_of_a_stored_video(arrived, mu, tau):
    number, seconds = player(arrived, 1 / mu, tau, 20.0, int(np.ceil(8 * mu - 1e-9)))
    assert delivery(arrived).stalls(tau, mu, 8.0) == (number, pytest.approx(seconds, abs=1e-6))


def test_packets_on_time_to_the_rounding_are_not_late():
    # every packet takes 50 ms, which is also the startup delay; times are sums of rounded numbers
    path = single_path(Link(0.05), Link(0.05), Tcp(initial_window=10), Steady(30))
    seen = simulate(path, 100.0, np.random.default_rng(1)).flows[0]
    assert seen.late_fraction(0.05) == 0
    assert seen.late_fraction(0.0499) == pytest.approx(1)
    assert seen.stalls(0.05) == (0, 0)
    assert seen.stalls(0.03) == (1, pytest.approx(0.02))


def test_many_delays_at_once():
    seen = delivery([0.5, 3.0, 3.0, 3.0], duration=8.0, interval=1.0)
    assert seen.late_fraction([0.0, 2.0]).tolist() == [seen.late_fraction(0.0), seen.late_fraction(2.0)]


def test_stored_media_need_a_rate():
    with pytest.raises(InputError, match=r"packet rate \[packets/s\]"):
        delivery([1.0]).late_fraction(1.0)


def test_nothing_is_judged():
    with pytest.raises(InputError, match="no packet is played within 20 s after a startup delay of 30 s"):
        delivery([1.0], interval=1.0).late_fraction(30.0)

"""Links against their twins: queue, rate, token bucket, capacity trace, changes."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_by_one import cross
from sim_twins import bits, drop_tail, mahimahi, token_bucket
from tcpstream.sim import Change, Link, TokenBucket

TICKS = 1 / 64
"""Times are multiples of this, so that equal ones are."""


@st.composite
def arrivals(draw, largest=1500, within=4.0):
    size = st.integers(40, largest)
    times = draw(st.lists(st.integers(0, int(within / TICKS)), min_size=1, max_size=25))
    return [(time * TICKS, draw(size)) for time in sorted(times)]


@settings(max_examples=60)
@given(arrivals(), st.floats(2e3, 1e5), st.integers(1, 6), st.floats(0, 0.5))
def test_queue_of_packets(packets, rate, queue, delay):
    found = cross(Link(delay, rate, queue=queue), packets)
    assert found == [pytest.approx(time) for time in drop_tail(packets, rate, delay, queue)]


@settings(max_examples=60)
@given(arrivals(), st.floats(2e3, 1e5), st.integers(1500, 6000))
def test_queue_of_bytes(packets, rate, room):
    found = cross(Link(0.1, rate, queue_bytes=room), packets)
    assert found == [pytest.approx(time) for time in drop_tail(packets, rate, 0.1, queue_bytes=room)]


@settings(max_examples=30)
@given(arrivals(), st.floats(2e3, 1e5), st.integers(1, 6), st.integers(1500, 6000))
def test_both_queues(packets, rate, queue, room):
    found = cross(Link(0.0, rate, queue=queue, queue_bytes=room), packets)
    assert found == [pytest.approx(time) for time in drop_tail(packets, rate, 0.0, queue, room)]


def test_queue_counts_the_packet_being_sent():
    assert cross(Link(0.0, 12e3, queue=1), [(0.0, 1500), (0.5, 1500), (1.0, 1500)]) == [1.0, None, 2.0]


@settings(max_examples=60)
@given(arrivals(), st.floats(1e3, 5e4), st.floats(1500, 5000))
def test_token_bucket(packets, rate, depth):
    found = cross(Link(0.0, bucket=TokenBucket(rate, depth)), packets)
    assert found == pytest.approx(token_bucket(packets, rate, depth))


def test_token_bucket_before_a_rate():
    # 1500 bytes at once, then one each second; sending takes 0.1 s, in which tokens come as well
    link = Link(0.0, 120e3, bucket=TokenBucket(12e3, 1500))
    assert cross(link, [(0.0, 1500)] * 3) == pytest.approx([0.1, 1.1, 2.1])


@settings(max_examples=40)
@given(arrivals(), st.lists(st.integers(0, 60), min_size=1, max_size=12))
def test_capacity_trace_byte_by_byte(packets, lines):
    trace = [line * TICKS for line in sorted(lines)]
    trace.append(trace[-1] + TICKS)
    assert cross(Link(0.0, capacity=trace), packets) == mahimahi(packets, trace)


@settings(max_examples=60)
@given(arrivals(), st.lists(st.tuples(st.floats(0, 6), st.floats(1e3, 1e5)), max_size=5))
def test_changing_rates_send_each_bit_once(packets, changes):
    changes = sorted(changes)
    link = Link(0.0, 12e3, changes=tuple(Change(at, rate=rate) for at, rate in changes))
    found, before = cross(link, packets), 0.0
    for (time, size), left in zip(packets, found):
        assert bits([(0.0, 12e3), *changes], max(time, before), left) == pytest.approx(8 * size, rel=1e-6)
        before = left


def test_shorter_delays_do_not_overtake():
    link = Link(1.0, changes=(Change(0.5, delay=0.25), Change(2.0, delay=0.5)))
    assert cross(link, [(0.0, 40), (0.5, 40), (1.5, 40), (2.0, 40)]) == [1.0, 1.0, 1.75, 2.5]


def test_an_infinite_rate_takes_no_time():
    assert cross(Link(0.25, math.inf, queue=1), [(1.0, 1500), (1.0, 1500)]) == [1.25, 1.25]

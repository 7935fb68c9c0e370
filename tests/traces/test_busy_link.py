"""A link that a flow keeps busy shows in its capture, and whether its rate changes; what losses limit shows none."""

import math
from pathlib import Path

import numpy as np
import pytest

import tcpstream
from tcpstream.traces.busy_link import FEWEST, busy_link
from tcpstream.traces.delivered_series import DeliveredSeries

EXAMPLES = Path(__file__).parents[2] / "examples"
RTT = 0.1


def series(rates, queue=0.5):
    """Seconds with these rates [packets/s], whose shortest round trip is so much longer than the path's but once."""
    n = len(rates)
    trips = [RTT, *[RTT * (1 + queue)] * (n - 1)]
    rates = tuple(int(rate) for rate in rates)
    return DeliveredSeries(rates, (False,) * n, 0, rates, tuple(trips), tuple(trips))


def levels(rng, low=50, high=100):
    """Ten seconds by turns of each rate, a packet more or less."""
    return np.repeat([low, high] * 5, 10) + rng.integers(-1, 2, 100)


def test_a_link_that_changes():
    found = busy_link(series(levels(np.random.default_rng(1))))
    assert found.varied
    assert found.seconds == 99
    assert (found.low, found.high) == (pytest.approx(50, abs=1), pytest.approx(100, abs=1))
    assert "99 s" in found.sentence()


def test_a_link_that_stays_as_it_is():
    found = busy_link(series(levels(np.random.default_rng(2), 80, 80)))
    assert not found.varied


def test_no_queue_no_link():
    assert busy_link(series(levels(np.random.default_rng(3)), queue=0.05)) is None


def test_too_few_seconds():
    rates = levels(np.random.default_rng(4))
    assert busy_link(series(rates[:FEWEST])) is None  # in the first of them there is no queue
    assert busy_link(series(rates[: FEWEST + 1])) is not None


def test_a_rate_that_is_uneven_is_no_links():
    """Independent losses: the rate of a second differs by a tenth and more from that of the one before."""
    rates = np.random.default_rng(5).normal(80, 12, 100)
    assert busy_link(series(rates)) is None


def test_seconds_without_a_round_trip_are_left_out():
    known = series(levels(np.random.default_rng(6)))
    shortest = (math.nan, *known.shortest[1:50], *[math.nan] * 50)
    assert busy_link(DeliveredSeries(known.packets, known.held_back, 0, known.packets, shortest, shortest)) is None
    shortest = (known.shortest[0], *shortest[1:])
    found = busy_link(DeliveredSeries(known.packets, known.held_back, 0, known.packets, shortest, shortest))
    assert found.seconds == 49


def test_captures():
    """Of 25 and 60 packets/s (validation/linux/switched_example.py); of a flow that only losses limit."""
    found = tcpstream.estimate(EXAMPLES / "linux-varying.pcap.gz")
    assert found.link.varied
    assert found.link.low == pytest.approx(25, rel=0.1)
    assert found.link.high == pytest.approx(60, rel=0.1)
    assert sum(found.series.acknowledged) == pytest.approx(sum(found.series.packets), rel=0.01)
    assert tcpstream.estimate(EXAMPLES / "linux-reno.pcap").link is None

"""Intervals of answers over a measured path: their ends, their coverage, and ends without an answer."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path as FilePath

import numpy as np
import pytest
from synthetic import capture, simulate

import tcpstream
from tcpstream.answers.interval import PropagatedIntervals, propagate_intervals
from tcpstream.traces import Measured

EXAMPLE = FilePath(__file__).parents[2] / "examples" / "linux-reno.pcap"
VIDEO = tcpstream.Video(packet_rate=12)


@pytest.fixture(scope="module")
def found():
    return tcpstream.estimate(EXAMPLE)


def corners(found, tcp):
    """Every path with each of loss, round trip and timer at an end of its interval, and some paths in between."""
    loss = found.loss if tcp == "reno-sack" else found.loss_event_rate
    proposed = {"initial_window": found.proposal.initial_window, "detection": found.proposal.detection}
    sides = [[(m.low, m.high)[side] for side in (0, 1)] for m in (loss, found.rtt, found.rto)]
    rng = np.random.default_rng(5)
    inside = [[rng.uniform(m.low, m.high) for m in (loss, found.rtt, found.rto)] for _ in range(3)]
    for p, rtt, rto in [*itertools.product(*sides), *inside]:
        yield tcpstream.Path(loss=p, rtt=rtt, rto=rto, tcp=tcp, **({"sender": "classic"} | proposed))


@pytest.mark.parametrize("tcp", ["reno", "reno-sack"])
def test_no_other_path_of_the_intervals_is_better_or_worse(found, tcp):
    video = tcpstream.Video(packet_rate=30, duration=6)

    def answers(path):
        result = tcpstream.stored(path, video)
        rate = tcpstream.largest_rate(path, delay=1.0, duration=5, target=1e-2)
        return [tcpstream.throughput(path), result.required_delay(), result.late_fraction(1.0), rate]

    propagated = propagate_intervals(found, answers, [math.inf, 0, 0, math.inf], [0, math.inf, 1, 0], tcp=tcp)
    all_of_them = np.array([answers(path) for path in corners(found, tcp)])
    np.testing.assert_allclose(propagated.low, all_of_them.min(axis=0), rtol=1e-9)
    np.testing.assert_allclose(propagated.high, all_of_them.max(axis=0), rtol=1e-9)
    assert propagated.refused == ()


def test_delay_interval(found):
    best, worst = found.ends()
    stored = tcpstream.Video(packet_rate=30, duration=10)
    interval = tcpstream.delay_interval(found, stored, no_late=0.9)
    needed = [tcpstream.stored(path, stored).required_delay(no_late=0.9) for path in (best, found.path(), worst)]
    assert [interval.low, interval.value, interval.high] == needed == sorted(needed)
    given = {"tcp": "reno", "rtt": 0.1, "max_window": 16}
    live = tcpstream.delay_interval(found, VIDEO, live=True, target=1e-3, **given)
    needed = [tcpstream.live(path, VIDEO).required_delay(1e-3) for path in found.ends(**given)]
    assert [live.low, live.high] == needed


def test_what_is_given_has_no_interval(found):
    best, worst = found.ends(loss=0.01, timeout_ratio=3.0, max_window=30)
    assert (best.loss, best.timeout_ratio, best.max_window) == (0.01, 3, 30) == (worst.loss, worst.timeout_ratio, 30)
    assert (best.rtt, worst.rtt) == (found.rtt.low, found.rtt.high)
    best, worst = found.ends(rtt=0.1)
    assert (best.rto, worst.rto) == (found.rto.low, found.rto.high)
    assert (best.loss, worst.loss) == (found.loss.low, found.loss.high)
    assert found.ends(tcp="reno")[0].loss == found.loss_event_rate.low


def test_a_timer_is_at_least_a_round_trip(found):
    wide = replace(found, rto=Measured(0.304, 0.02, 0.4, "by hand"))
    best, worst = wide.ends()
    assert best.rto == best.rtt == found.rtt.low
    assert worst.rto == 0.4


@pytest.mark.parametrize(
    ("process", "tcp", "p", "runs", "least"),
    [pytest.param("independent", "reno-sack", 0.03, 25, 21, marks=pytest.mark.long), ("round", "reno", 0.02, 12, 9)],
)
def test_intervals_hold_the_delay_of_the_true_path(tmp_path, process, tcp, p, runs, least):
    """Of 25 intervals at least 21, of 12 at least 9: fewer have a probability of 0.007 and 0.002 at 95% (binomial).

    The mean round trip is 100 ms, 1 ms on average in each direction, and 20 us at the receiver; the timer 0.2 s more.
    """
    video = tcpstream.Video(packet_rate=20, duration=20)
    truth = tcpstream.Path(sender="classic", loss=p, rtt=0.102, rto=0.302, tcp=tcp)
    delay, held, proposed = tcpstream.stored(truth, video).required_delay(), 0, 0
    for seed in range(runs):
        found = tcpstream.estimate(capture(tmp_path, simulate(p, seconds=20, process=process, seed=seed)))
        interval = tcpstream.delay_interval(found, video, tcp=tcp, initial_window=None, detection="duplicates")
        assert interval.low < interval.value < interval.high
        held += interval.low <= delay <= interval.high
        proposed += found.proposal.tcp == tcp
    assert held >= least
    assert proposed >= least


def test_a_worst_end_without_a_finite_delay(found):
    best, worst = found.ends()
    rate = (tcpstream.throughput(found.path()) + tcpstream.throughput(worst)) / 2
    interval = tcpstream.delay_interval(found, tcpstream.Video(packet_rate=rate), live=True)
    assert 0 < interval.low < interval.value < interval.high == math.inf
    assert "no answer" not in interval.how
    with pytest.raises(tcpstream.NoFiniteDelayError):
        tcpstream.delay_interval(found, tcpstream.Video(packet_rate=tcpstream.throughput(best)), live=True)


def test_an_end_that_cannot_be_computed_gives_the_trivial_bound_and_a_reason(found):
    best, worst = found.ends()

    def answer(path):
        if path in refusing:
            raise tcpstream.AccuracyError("too fine")
        return 7.0

    refusing = [worst]
    propagated = propagate_intervals(found, answer, 0.0, math.inf)
    assert (propagated.low, propagated.high) == (7, math.inf)
    assert propagated.refused == ("no answer at the upper ends of the measured intervals: too fine",)
    refusing = [best]
    propagated = propagate_intervals(found, answer, 0.0, math.inf)
    assert (propagated.low, propagated.high) == (0, 7)
    assert propagated.refused == ("no answer at the lower ends of the measured intervals: too fine",)


def test_a_round_trip_of_nothing_is_no_path(found):
    odd = replace(found, rtt=Measured(0.1, 0.0, 0.11, "by hand"))
    assert odd.ends()[0] is None
    propagated = propagate_intervals(odd, lambda path: [path.rtt, path.loss], [0.0, 0.0], [math.inf, 1.0])
    assert propagated.low.tolist() == [0, 0]
    assert propagated.high.tolist() == [0.11, found.loss.high]
    assert "reaches 0" in propagated.refused[0]


def test_bad_input(found):
    lossless = replace(found, loss_event_rate=Measured(0.0, 0.0, 0.001, "by hand"))
    with pytest.raises(tcpstream.InputError, match="no loss was seen"):
        tcpstream.delay_interval(lossless, VIDEO, live=True)
    with pytest.raises(tcpstream.InputError, match="for stored video"):
        tcpstream.delay_interval(found, VIDEO, live=True, no_late=0.9)
    with pytest.raises(tcpstream.InputError, match="tcp must be one of"):
        tcpstream.delay_interval(found, VIDEO, live=True, tcp="tahoe")


def test_ninety_percent_of_a_lognormal_answer():
    """Of the normal distribution 90% are within 1.6449 standard deviations of the median, 95% within 1.96."""
    spread, median = np.array([0.1, 1.0]), np.array([2.0, 30.0])
    found = PropagatedIntervals(median * np.exp(-1.959964 * spread), median * np.exp(1.959964 * 2 * spread), ())
    low, high = found.narrowed(median)
    np.testing.assert_allclose(low, median * np.exp(-1.644854 * spread), rtol=1e-4)
    np.testing.assert_allclose(high, median * np.exp(1.644854 * 2 * spread), rtol=1e-4)


@pytest.mark.parametrize(
    ("ends", "value", "narrowed"),
    [
        ((0.0, 2.0), 1.0, (0.0, 2**0.83924)),
        ((0.5, math.inf), 1.0, (0.5**0.83924, math.inf)),
        ((0.0, 2.0), 0.0, (0.0, 2.0)),
        ((3.0, 3.0), 3.0, (3.0, 3.0)),
    ],
)
def test_ends_that_have_no_logarithm_stay(ends, value, narrowed):
    low, high = PropagatedIntervals(*map(np.asarray, ends), ()).narrowed(value)
    assert (float(low), float(high)) == pytest.approx(narrowed)

"""By how much the window falls at a loss, against flows whose decrease is known, and against two kernels' senders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import capture, simulate

from tcpstream.traces import Measured, estimate
from tcpstream.traces.decrease import NEITHER, decrease, named
from tcpstream.traces.fates import Fates
from tcpstream.traces.loss_events import Events
from tcpstream.traces.transmissions import AGAIN, Transmissions

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("name", "control", "factor"), [("linux-reno", "reno", 0.5), ("linux-cubic", "cubic", 0.7)])
def test_linux(name, control, factor):
    """What the kernel multiplies by, to a packet of windows of 8 and more (examples/README.md)."""
    found = estimate(EXAMPLES / f"{name}.pcap").decrease
    assert abs(found.value - factor) < 0.07
    assert named(found) == control


@pytest.mark.parametrize("process", ["independent", "round"])
@pytest.mark.parametrize(("factor", "control", "p"), [(0.5, "reno", 0.01), (0.7, "cubic", 0.01), (0.95, NEITHER, 0.03)])
def test_what_the_sender_multiplies_by_is_found(tmp_path, factor, control, p, process):
    """To half a packet in windows of 8 and more: this sender fills a fractional window up to a whole packet."""
    found = estimate(capture(tmp_path, simulate(p, seconds=40, decrease=factor, process=process, seed=3))).decrease
    assert found.low - 0.06 < factor < found.high + 0.06
    assert named(found) == control


@pytest.mark.parametrize(
    ("conditions", "vantage"), [({"sack": False}, "sender"), ({}, "receiver"), ({}, 0.5), ({"seconds": 4}, "sender")]
)
def test_it_needs_a_sender_sack_and_some_losses(tmp_path, conditions, vantage):
    assert estimate(capture(tmp_path, simulate(0.01, **conditions), vantage)).decrease is None


def test_by_hand():
    """Rounds of ten packets, a second each, packet 10 of them lost; then rounds of six, until the next loss of ten.

    Each ten are sent at once when the ten before them are acknowledged, so ten are in flight.
    """
    time, start, again, acks, pairs = [], [], [], [], []
    moment, number = 0.0, 0
    for _ in range(6):
        lost = len(start) + 9
        for window, first in ((10, number), (9, number + 10), (6, number + 19), (6, number + 25)):
            if window == 9:  # the lost one once more
                time.append(moment)
                start.append(number + 9)
                again.append(AGAIN)
            if window == 6 and first == number + 19:
                pairs.append((lost, len(start)))
            time += [moment] * window
            start += range(first, first + window)
            again += [0] * window
            moment += 1.0
            acks.append((moment, number + 9 if window == 10 else first + window))
        number += 31
    sent = Transmissions(
        np.array(time), np.array(start), np.ones(len(time), np.uint32), np.array(again, dtype=np.uint8)
    )
    times, numbers = np.array(acks).T
    empty = np.empty(0)
    fates = Fates(sent, times, numbers.astype(np.int64), empty, empty, empty.astype(np.int64), 0, 0, empty)
    found = decrease(fates, Events(recoveries=pairs), 1, 1.0)
    assert (found.low, found.value, found.high) == pytest.approx((0.6, 0.6, 0.6))
    assert decrease(fates, Events(recoveries=pairs[:5]), 1, 1.0) is None  # five do not hold the median with 95%


@pytest.mark.parametrize(
    ("interval", "control"),
    [
        ((0.45, 0.55), "reno"),
        ((0.55, 0.65), None),
        ((0.65, 0.75), "cubic"),
        ((0.8, 0.9), None),
        ((0.9, 1.0), NEITHER),
        ((0.1, 0.3), NEITHER),
        ((0.2, 1.0), None),
    ],
)
def test_an_interval_over_a_border_names_nothing(interval, control):
    assert named(Measured(sum(interval) / 2, *interval, "by hand")) == control
    assert named(None) is None

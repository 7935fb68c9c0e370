"""What losses and round trips say of a cap, of transmissions written down."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream.traces.capping import capping
from tcpstream.traces.transmissions import ACKED, LOST, SEEN, Transmissions

TRIP = 0.1
NUMBER = 7000


def found(lasting, opening=NUMBER):
    """A loss, then a hundred packets that arrive and a loss, in each of these times [s]; the rest of a second after."""
    times, lost = [0.0], [True]
    for seconds in [*lasting, 1.0]:
        times.extend(times[-1] + seconds * np.arange(1, 102) / 101)
        lost.extend([False] * 100 + [True])
    lost[-1] = False
    time = np.array(times)
    state = np.where(lost, SEEN | LOST, SEEN | ACKED).astype(np.uint8)
    start = NUMBER + 1000 * np.arange(len(time))
    moments = np.arange(TRIP, time[-1], TRIP)
    sent = Transmissions(time, start, np.full(len(time), 1000, dtype=np.uint32), state)
    return capping(sent, moments, np.full(len(moments), TRIP), opening)


@pytest.mark.parametrize(("last", "alike"), [(1 / 1.09, 3), (1 / 1.11, 2), (1 / 0.91, 3), (1 / 0.89, 2)])
def test_rates_within_a_tenth_of_the_median_are_alike(last, alike):
    capped = found([1.0, 1.0, last])
    assert (capped.bursts, capped.burst, capped.first) == (4, 1.0, 0.25)
    assert capped.rate == pytest.approx(100)
    assert capped.alike == alike


def test_only_the_loss_of_a_known_opening_ends_the_first_slow_start():
    assert found([1.0]).overshoot
    assert not found([1.0], opening=None).overshoot
    assert not found([1.0], opening=NUMBER - 1000).overshoot

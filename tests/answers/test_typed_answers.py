"""A number in gives a float out, several give an array: for the type checker, which reads this file, and in fact."""

from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import tcpstream

Array = NDArray[np.float64]

PATH = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
SHORT = tcpstream.Video(packet_rate=40, duration=4)


@pytest.fixture(scope="module")
def stored() -> tcpstream.StoredStreaming:
    return tcpstream.stored(PATH, SHORT)


def test_late_fractions(stored: tcpstream.StoredStreaming) -> None:
    one, two = stored.late_fraction(1.0), stored.late_fraction([1.0, 2.0])
    assert_type(one, float)
    assert_type(two, Array)
    assert_type(stored.late_fraction(np.linspace(1.0, 2.0, 3)), Array)
    assert isinstance(one, float)
    assert two.shape == (2,)
    assert one == two[0]


def test_whole_numbers_are_numbers(stored: tcpstream.StoredStreaming) -> None:
    assert_type(stored.late_fraction(1), float)
    assert stored.late_fraction(1) == stored.late_fraction(1.0)


def test_what_may_be_either_is_anything(stored: tcpstream.StoredStreaming) -> None:
    delays: ArrayLike = [[1.0], [2.0]]
    assert stored.late_fraction(delays).shape == (2, 1)


def test_other_answers_of_stored_media(stored: tcpstream.StoredStreaming) -> None:
    assert_type(stored.no_late_probability(1.0), float)
    assert_type(stored.no_late_probability([1.0]), Array)
    assert_type(stored.no_late_lower_bound(1.0), float)
    assert_type(stored.relative_error(1.0), float)
    assert_type(stored.no_late_error([1.0]), Array)
    for answer in (stored.no_late_probability, stored.no_late_lower_bound, stored.relative_error):
        assert isinstance(answer(1.0), float)
        assert answer([1.0]).shape == (1,)


def test_live_streams() -> None:
    live = tcpstream.live(PATH, tcpstream.Video(packet_rate=10))
    assert_type(live.late_fraction(1.0), float)
    assert_type(live.lattice_error([1.0]), Array)
    assert isinstance(live.lattice_error(1.0), float)


def test_transfers() -> None:
    found = tcpstream.transfer_time(PATH, packets=5)
    assert_type(found.cdf(1.0), float)
    assert_type(found.cdf([1.0]), Array)
    assert isinstance(found.cdf(1.0), float)


def test_viewers() -> None:
    seen: Any = tcpstream.play(PATH, SHORT, tcpstream.Player(start=1.0))
    assert isinstance(seen, tcpstream.Play)
    assert_type(seen.longer_than(0.5), float)
    assert_type(seen.longer_than([0.5]), Array)
    assert isinstance(seen.longer_than(0.5), float)

"""The inverse question, against the forward one."""

import pytest

from tcpstream import AccuracyError, InputError, Path, Video, largest_rate, live, stored

PATH = Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=8, backoff="paper")


def test_largest_stored_rate_just_meets_the_target():
    rate = largest_rate(PATH, delay=2.0, duration=20, target=1e-3)
    assert stored(PATH, Video(packet_rate=rate, duration=20)).late_fraction(2.0) <= 1e-3
    assert stored(PATH, Video(packet_rate=rate * 1.0003, duration=20)).late_fraction(2.0) > 1e-3


def test_largest_stored_rate_for_no_late_packet():
    rate = largest_rate(PATH, delay=2.0, duration=10, no_late=0.9)
    assert stored(PATH, Video(packet_rate=rate, duration=10)).no_late_probability(2.0) >= 0.9
    assert stored(PATH, Video(packet_rate=rate * 1.001, duration=10)).no_late_probability(2.0) < 0.9


def test_largest_live_rate_just_meets_the_target():
    rate = largest_rate(PATH, delay=2.0, target=1e-3)
    assert live(PATH, Video(packet_rate=rate)).late_at_worst(2.0) <= 1e-3
    assert live(PATH, Video(packet_rate=rate * 1.01)).late_at_worst(2.0) > 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(delay=-1), "startup delay must not be negative, got -1 s"),
        (dict(delay=float("nan")), "startup delay must be finite"),
        (dict(delay=1, target=2), "target late fraction must lie strictly between 0 and 1, got 2"),
        (dict(delay=1, no_late=0.9), "give its duration"),
        (dict(delay=1, duration=10, target=1e-3, no_late=0.9), "not both"),
        (dict(delay=1, duration=0), "duration must be greater than 0 s"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        largest_rate(PATH, **arguments)


def test_a_live_rate_that_cannot_be_found_is_an_exception():
    with pytest.raises(AccuracyError, match="lies above"):
        largest_rate(PATH, delay=300.0, target=0.5)

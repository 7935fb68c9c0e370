"""The inverse question, against the forward one."""

from dataclasses import replace

import pytest

from tcpstream import AccuracyError, InputError, Path, Video, largest_rate, live, stored
from tcpstream.answers import plan

PATH = Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=8, backoff="paper")


def test_largest_stored_rate_just_meets_the_target():
    rate = largest_rate(PATH, delay=2.0, duration=20, target=1e-3)
    assert stored(PATH, Video(packet_rate=rate, duration=20)).late_fraction(2.0) <= 1e-3
    assert stored(PATH, Video(packet_rate=rate * 1.0003, duration=20)).late_fraction(2.0) > 1e-3


def test_largest_stored_rate_for_no_late_packet():
    rate = largest_rate(PATH, delay=2.0, duration=10, no_late=0.9)
    assert stored(PATH, Video(packet_rate=rate, duration=10)).no_late_probability(2.0) >= 0.9
    assert stored(PATH, Video(packet_rate=rate * 1.001, duration=10)).no_late_probability(2.0) < 0.9


@pytest.mark.parametrize("given", [{"target": 1e-2}, {"no_late": 0.9}])
def test_largest_rate_on_coarse_lattices_meets_the_target_exactly_solved(monkeypatch, given):
    """Within what lattices state: rows of quanta that such a chain does not have once stood for all rates."""
    path = Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, rto=0.3, max_window=12)
    monkeypatch.setattr(plan, "QUICK", 0.0)
    rate = largest_rate(path, delay=1.0, duration=8, **given)
    just, beyond = (stored(path, Video(packet_rate=r, duration=8), accuracy="exact") for r in (rate, 1.04 * rate))
    if "target" in given:
        assert just.late_fraction(1.0) <= 1e-2 < beyond.late_fraction(1.0)
    else:
        assert just.no_late_probability(1.0) >= 0.9 > beyond.no_late_probability(1.0)


def test_largest_live_rate_just_meets_the_target():
    path = replace(PATH, max_window=4)
    rate = largest_rate(path, delay=2.0, target=1e-3)
    assert live(path, Video(packet_rate=rate)).late_at_worst(2.0) <= 1e-3
    assert live(path, Video(packet_rate=rate * 1.01)).late_at_worst(2.0) > 1e-3


def test_the_largest_live_rate_is_one_for_which_the_delay_suffices_and_a_hundredth_more_does_not():
    """It was 8% lower where rates fit no lattice."""
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    rate = largest_rate(path, delay=2.0, target=1e-3)
    assert 21 < rate < 22
    assert live(path, Video(packet_rate=rate)).required_delay(1e-3) <= 2.0
    assert live(path, Video(packet_rate=1.01 * rate)).required_delay(1e-3) > 2.0


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


def test_a_stored_rate_that_cannot_be_found_is_an_exception():
    with pytest.raises(AccuracyError, match=r"no rate of .* packets/s or more meets the target after 0 s"):
        largest_rate(PATH, delay=0.0, duration=20, no_late=0.999)


def test_a_live_rate_that_cannot_be_found_is_an_exception():
    with pytest.raises(AccuracyError, match="lies above"):
        largest_rate(replace(PATH, max_window=3), delay=100.0, target=0.5)

"""Moves on a lattice of leads: floors between two positions."""

import pytest

from tcpstream import Path, Video, stored


@pytest.mark.parametrize(("window", "due", "delay"), [(8, 8.2, 1.5), (6, 6.3, 2.0)])
def test_a_window_that_stays_and_falls_behind_slowly(window, due, delay):
    """Its floor lies at the same place in every step: what is changed there must not be changed again and again."""
    path = Path(sender="classic", tcp="reno-sack", loss=0.005, rtt=0.05, max_window=window)
    video = Video(packet_rate=due / 0.05, duration=20)
    exact, fine = (stored(path, video, accuracy=accuracy) for accuracy in ("exact", "fine"))
    off = fine.no_late_error(delay)
    assert off < 0.1
    assert 1 - fine.no_late_probability(delay) == pytest.approx(1 - exact.no_late_probability(delay), rel=off)

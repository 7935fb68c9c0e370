"""Videos at a rate far above what TCP carries: alpha over the startup delay is nearly a step, which lattices blur."""

import warnings

import pytest

from tcpstream import Path, Player, Video, play, stored
from tcpstream.errors import InputWarning

PATH = Path(loss=0.02, rtt=0.1, sender="classic")
VIDEO = Video(packet_rate=150, duration=20)
"""T/mu is .38."""

EXACT = stored(PATH, VIDEO, accuracy="exact")
FINE = stored(PATH, VIDEO, accuracy="fine")


@pytest.mark.parametrize("delay", [33.0, 45.0, 50.9111, 60.0])
def test_alpha_is_within_what_is_stated(delay):
    """At 50.9 s lattices differ by a quarter, and from 58 s on they told 1."""
    late = 1 - EXACT.no_late_probability(delay)
    assert 1 - FINE.no_late_probability(delay) == pytest.approx(late, rel=FINE.no_late_error(delay) + 1e-6)
    assert FINE.no_late_error(delay) < 0.5


def test_the_required_delay_is_that_of_the_exact_answer():
    """It was twice as long."""
    exact, fine = (stored(PATH, Video(packet_rate=150, duration=8), accuracy=one) for one in ("exact", "fine"))
    needed = fine.required_delay(no_late=0.9999)
    assert exact.no_late_probability(needed) >= 0.9999 > exact.no_late_probability(needed / 1.01)


def test_nearly_all_viewers_see_stalls():
    video = Video(packet_rate=200, duration=7.9)
    seen = play(PATH, video, Player(start=1.0), accuracy="fine")
    assert seen.stall_probability == pytest.approx(1, abs=1e-6)
    least = video.packets / EXACT.throughput - video.duration - 1.0  # until the last packet has arrived, at T
    assert least < seen.mean_total_rebuffer < 1.1 * least


def test_a_search_says_nothing_of_the_delays_that_it_tries():
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        EXACT.required_delay(no_late=0.9)

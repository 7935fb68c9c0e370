"""Many answers at once are those that come one by one."""

import numpy as np
import pytest

from tcpstream import InputError, NoFiniteDelayError, Path, Video, live, live_many, stored, stored_many
from tcpstream.tcp import chain_key

FAST = Path(sender="classic", loss=0.03, rtt=0.05, timeout_ratio=2, max_window=12)
SLOW = Path(sender="classic", loss=0.03, rtt=0.2, timeout_ratio=2, max_window=12)
OTHER = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=12)


def test_stored_many_shares_what_it_can():
    cases = [
        (FAST, Video(packet_rate=70, duration=10)),
        (OTHER, Video(packet_rate=20, duration=10)),
        (SLOW, Video(packet_rate=22, duration=30)),
        (FAST, Video(curve=([0, 5, 10], [0, 500, 600]))),
    ]
    together = stored_many(cases)
    assert together[0]._arrivals is together[2]._arrivals is together[3]._arrivals
    assert together[0]._arrivals is not together[1]._arrivals
    for result, (path, video) in zip(together, cases):
        alone = stored(path, video)
        np.testing.assert_allclose(result.late_fraction([0, 1, 4]), alone.late_fraction([0, 1, 4]), 1e-9, 1e-14)
        np.testing.assert_allclose(
            result.late_probability_per_round(1), alone.late_probability_per_round(1), 1e-7, 1e-13
        )
        assert result.no_late_probability(2) == pytest.approx(alone.no_late_probability(2), abs=1e-13)
        assert result.path is path
        assert result.video is video


def test_live_many_solves_what_is_the_same_once():
    cases = [
        (FAST, Video(packet_rate=60)),
        (SLOW, Video(packet_rate=15)),
        (OTHER, Video(packet_rate=20)),
        (OTHER, Video(packet_rate=20, duration=5)),
    ]
    together = live_many(cases)
    assert together[0].backlogs is together[1].backlogs
    for result, (path, video) in zip(together, cases):
        alone = live(path, video)
        np.testing.assert_allclose(result.late_fraction([0, 1, 2]), alone.late_fraction([0, 1, 2]), 1e-9, 1e-14)


def test_several_alphas_at_once():
    result = stored(OTHER, Video(packet_rate=25, duration=10))
    once = [stored(OTHER, result.video).no_late_probability(tau) for tau in (0.5, 1.0, 2.0)]
    np.testing.assert_array_equal(result.no_late_probability([0.5, 1.0, 2.0]), once)


def test_the_first_failure_is_raised():
    with pytest.raises(NoFiniteDelayError):
        live_many([(FAST, Video(packet_rate=60)), (FAST, Video(packet_rate=6000))])
    with pytest.raises(InputError, match="duration"):
        stored_many([(FAST, Video(packet_rate=60))])
    assert stored_many([]) == []
    assert live_many([]) == []


def test_the_source_counts_rounds():
    assert chain_key(FAST) == chain_key(SLOW)
    assert chain_key(FAST) != chain_key(OTHER)

"""Client buffers of players that fetch segments: what is never filled changes nothing, and large ones are followed."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from tcpstream import Path, SegmentPlayer, Video, known_player, play

PATH = Path(tcp="reno-sack", loss=0.02, rtt=0.1, max_window=24)


def test_a_buffer_that_is_never_filled_changes_nothing():
    """A video of 4 s in segments of 2 s: no more than 4 s are held, whatever there is room for."""
    video = Video(packet_rate=58.3, duration=4)
    small, *larger = (play(PATH, video, SegmentPlayer(segment=2, client_buffer=held)) for held in (4, 8, 60, 600))
    for one in larger:
        for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio"):
            assert getattr(one, name) == pytest.approx(getattr(small, name), rel=1e-9), name
        assert one.errors == pytest.approx(small.errors, rel=1e-9)


@pytest.mark.parametrize(
    ("duration", "held"),
    [(4, 600), pytest.param(300, 200, marks=pytest.mark.long)],
    ids=["never filled", "150 segments"],
)
def test_large_buffers_beside_drawn_sessions(duration, held):
    """Within 3 standard errors of 20,000 sessions, and the stated error."""
    found = play(PATH, Video(packet_rate=58.3, duration=duration), SegmentPlayer(segment=2, client_buffer=held))
    drawn = found.sessions(20_000, np.random.default_rng(1))
    stalls, stalled = np.asarray(drawn.stalls), np.asarray(drawn.total_rebuffer)
    for name, values in (
        ("stall_probability", stalls > 0), ("mean_stalls", stalls), ("mean_total_rebuffer", stalled),
    ):  # fmt: skip
        room = 3 * values.std() / math.sqrt(len(values)) + found.errors[name]
        assert getattr(found, name) == pytest.approx(values.mean(), abs=room), name
    assert found.errors["stall_probability"] < 0.2 * found.stall_probability


def test_large_buffers_and_short_videos_do_not_overflow():
    """600 s in segments of 1 s, of which 5 are played."""
    video = Video(bitrate=700e3, duration=5)
    player = known_player("hls.js", video, segment=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = play(PATH, video, player)
    assert player.client_buffer > 500
    assert 0 < found.stall_probability < 0.2
    assert found.rebuffering_ratio == pytest.approx(found.mean_total_rebuffer / 5, rel=0.2)


def test_a_player_that_never_waits_for_room_has_no_idle_restarts():
    """30 s of video, and room for more."""
    path = Path(loss=0.02, rtt=0.1, tcp="reno-sack", max_window=20)
    video = Video(packet_rate=40, duration=30)
    found = play(path, video, SegmentPlayer(segment=3, client_buffer=30))
    assert (found.restart_share, found.errors["restart_share"]) == (0, 0)
    waiting = play(path, video, SegmentPlayer(segment=3, client_buffer=9))
    assert waiting.restart_share > 0.3

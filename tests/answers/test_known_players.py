"""Players by their names: what their documentation says of them."""

from __future__ import annotations

import pytest

from tcpstream import InputError, PausingPlayer, Player, SegmentPlayer, Video, known_player

VIDEO = Video(bitrate=20e6, duration=60)


@pytest.mark.parametrize(
    ("name", "video", "segment", "most", "starts", "resumes"),
    [
        ("hls.js", VIDEO, 4, 30 + 4, 4, 4),  # maxBufferLength, and 60 MB are 24 s
        ("hls.js", Video(bitrate=8e6, duration=60), 4, 60 + 4, 4, 4),  # 60 MB
        ("hls.js", Video(bitrate=5e5, duration=60), 4, 600 + 4, 4, 4),  # maxMaxBufferLength
        ("shaka", VIDEO, 4, 10 + 4, 4, 4),
        ("exoplayer", VIDEO, 2, 50 + 2, 4, 6),  # 2.5 s and 5 s in whole segments
        ("media3", VIDEO, 2, 50 + 2, 2, 2),
        ("dash.js", VIDEO, 4, 30, 4, 4),
        ("dash.js", Video(bitrate=20e6, duration=600), 4, 60, 4, 4),
        ("dash.js", VIDEO, 40, 70, 40, 40),  # a segment above the goal is asked for while less than it is held
    ],
)
def test_players_of_segments(name, video, segment, most, starts, resumes):
    player = known_player(name, video, segment=segment)
    assert isinstance(player, SegmentPlayer)
    assert player.client_buffer == pytest.approx(most)
    assert (player.starts_with * segment, player.resumes_with * segment) == (starts, resumes)


def test_mpv_starts_with_a_packet_and_resumes_with_a_second():
    assert known_player("mpv", VIDEO) == Player(start_buffer=1 / VIDEO.packet_rate, resume_buffer=1.0)


def test_what_is_given_replaces_what_a_player_comes_with():
    player = known_player("exoplayer", VIDEO, segment=2, client_buffer=20, resume_buffer=2, idle="keep")
    assert player == SegmentPlayer(2, client_buffer=20, start_buffer=2.5, resume_buffer=2, idle="keep")
    assert known_player("mpv", VIDEO, resume_buffer=3).resume_buffer == 3
    held = known_player("mpv", VIDEO, client_buffer=20, idle="keep")
    assert held == PausingPlayer(None, 1 / VIDEO.packet_rate, 1, client_buffer=20, idle="keep")


@pytest.mark.parametrize(
    ("name", "segment", "message"),
    [
        ("vlc", 4, "player must be one of hls.js, shaka, exoplayer, media3, dash.js, mpv, got 'vlc'"),
        ("shaka", None, "shaka fetches segments: give the media in one"),
        ("mpv", 4, "mpv reads a stream: leave out the segment of 4 s"),
    ],
)
def test_players_that_are_refused(name, segment, message):
    with pytest.raises(InputError, match=message):
        known_player(name, VIDEO, segment=segment)


@pytest.mark.parametrize(
    ("name", "known"),
    [("HLS.js", "hls.js"), ("dashjs", "dash.js"), ("Shaka Player", "shaka"), ("ExoPlayer", "exoplayer")],
)
def test_usual_spellings(name, known):
    video = Video(bitrate=1e6, duration=60)
    assert known_player(name, video, segment=4) == known_player(known, video, segment=4)

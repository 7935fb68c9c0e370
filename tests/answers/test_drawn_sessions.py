"""Sessions that are drawn at random, beside the answers about all of them, and a session followed by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tcpstream
from tcpstream import InputError, Path, Player, SegmentPlayer, Video, play
from tcpstream.answers.drawn_sessions import media
from tcpstream.playout.drawn_moves import drawn_moves
from tcpstream.playout.watched import Thresholds, watched
from tcpstream.tcp import chain_of

RUNS = 8_000

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack", "rto": 0.3}
LINUX = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=24)


def close(sample, value, error=0.0):
    sample = np.asarray(sample, dtype=float)
    allowed = 4 * sample.std(ddof=1) / np.sqrt(len(sample)) + error
    assert abs(sample.mean() - value) <= allowed, (sample.mean(), value, allowed)


@pytest.mark.parametrize(
    ("path", "video", "player"),
    [
        ({"sender": "classic", "rto": 0.3}, Video(packet_rate=40, duration=3), Player(start=1)),
        ({"sender": "classic", "rto": 0.35}, Video(packet_rate=43.2, duration=3.13), Player(start=1.234)),
        ({"sender": "classic", "rto": 0.3, "initial_window": 6}, Video(packet_rate=50, duration=3), Player(start=0.5)),
        (SACK, Video(packet_rate=60, duration=4), Player(start=1)),
        pytest.param(
            SACK | {"detection": "duplicates"},
            Video(packet_rate=60, duration=4),
            Player(start=1),
            marks=pytest.mark.long,
        ),
        (SACK | {"tcp": "cubic"}, Video(packet_rate=50, duration=3), Player(start=1)),
        (SACK, Video(curve=([0, 1, 2.5, 4.5], [0, 90, 90, 250])), Player(start=1)),
        ({"rto": 0.3}, Video(packet_rate=40, duration=8), Player(start_buffer=1, resume_buffer=1.5)),
        ({"sender": "classic", "rto": 0.3}, Video(packet_rate=40, duration=5), Player(start_buffer=0.5)),
        (SACK, Video(packet_rate=60, duration=8), Player(start_buffer=1, resume_buffer=1.5)),
    ],
)  # fmt: skip
def test_sessions_are_those_of_the_answers(path, video, player):
    path = Path(loss=0.03, rtt=0.1, max_window=12, **({"sender": "classic"} | path))
    found = play(path, video, player, accuracy="exact" if player.start_buffer is None else None)
    drawn = found.sessions(RUNS, np.random.default_rng(3))
    close(drawn.stalls > 0, found.stall_probability, found.errors["stall_probability"])
    close(drawn.total_rebuffer, found.mean_total_rebuffer, found.errors["mean_total_rebuffer"])
    close(drawn.rebuffering_ratio, found.rebuffering_ratio, found.errors["rebuffering_ratio"])
    if player.start_buffer is None:
        assert (drawn.join_time == player.start).all()
        close(drawn.total_rebuffer > 0.4, found.longer_than(0.4), found.longer_than_error(0.4))
        return
    close(drawn.join_time, found.mean_join_time, 1e-6)
    close(drawn.join_time <= 1.25, found.join_time_cdf(1.25), 1e-6)
    if found.counted:
        close(drawn.stalls, found.mean_stalls, found.errors["mean_stalls"])
    half = video.duration / 2
    early = np.isin(np.arange(RUNS), drawn.stall_session[drawn.stall_start < half])
    close(~early, found.no_stall_until(half), found.errors["no_stall_until"])


@pytest.mark.parametrize(
    ("rate", "duration", "settings"),
    [
        (58.2, 40, {"segment": 4, "client_buffer": 8}),
        (70, 40, {"segment": 2, "client_buffer": 6, "start_buffer": 4, "resume_buffer": 4, "setup_round_trips": 2}),
    ],
)
def test_segments_are_those_of_the_answers(rate, duration, settings):
    found = play(LINUX, Video(packet_rate=rate, duration=duration), SegmentPlayer(**settings))
    drawn = found.sessions(RUNS, np.random.default_rng(3))
    seen = {
        "stall_probability": drawn.stalls > 0,
        "mean_stalls": drawn.stalls,
        "mean_total_rebuffer": drawn.total_rebuffer,
        "rebuffering_ratio": drawn.rebuffering_ratio,
        "mean_download_time": drawn.download_time.mean(axis=1),
        "mean_join_time": drawn.join_time,
    }
    for name, values in seen.items():
        close(values, getattr(found, name), found.errors.get(name, 1e-6))
    assert drawn.download_time.shape == (RUNS, found.segments)


def test_restarts_of_a_player_that_holds_much_are_within_what_is_stated():
    """Stalls settle long before the buffer is full, and what a segment adds then is not what the first ones add."""
    path = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=30)
    found = play(path, Video(bitrate=7e5, duration=200), SegmentPlayer(segment=4, client_buffer=50))
    drawn = found.sessions(4000, np.random.default_rng(3))
    waits = drawn.arrival_time[:, 1:] - drawn.download_time[:, 1:] - drawn.arrival_time[:, :-1]
    restarts = (waits > 1e-9) & (LINUX.rtt + waits > LINUX.rto + 1e-9)
    close(restarts.sum(axis=1) / found.segments, found.restart_share, found.errors["restart_share"])
    close(drawn.download_time.mean(axis=1), found.mean_download_time, found.errors["mean_download_time"])


def test_every_chain_delivers_its_throughput():
    """The generic way, row by row, and those of windows: packets a round in the long run."""
    settings = {"rtt": 0.1, "rto": 0.3, "max_window": 12}
    for chain in (
        chain_of(Path(loss=loss, tcp=tcp, **({"sender": "classic"} | settings)))
        for loss in (0.03, 0.3)
        for tcp in ("reno", "reno-sack")
    ):
        for step in (drawn_moves(chain), drawn_moves.dispatch(object)(chain)):
            rng, states = np.random.default_rng(1), np.full(2000, chain.first_state)
            packets = rounds = 0
            for turn in range(400):
                moved = step(states, rng)
                states = moved.to
                if turn >= 100:
                    packets, rounds = packets + (moved.first + moved.later).sum(), rounds + moved.rounds.sum()
            assert packets / rounds == pytest.approx(chain.packets_per_round, rel=0.02)


def test_a_player_that_waits_followed_by_hand():
    """Media of 2, 2, 5 and 6 s at the begins of rounds of 1 s: playback begins at 0.5 s and stands at 2 and at 5 s."""
    columns = [np.array([x]) for x in (2.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 5.0, 6.0)]
    joins, stalls = watched(columns, 6.0, 1.0, Thresholds(0.5, 1.0, 0.0))
    assert joins.tolist() == [0.5]
    assert stalls.at.tolist() == [2.0, 5.0]
    assert stalls.lasted.tolist() == [1.5, 1.0]  # from 2.5 to 4 s, and from 7 to 8 s


def test_a_stall_in_the_round_in_which_playback_begins():
    """Playback begins at 0.5 s with 0.2 s, and stands from 0.7 s to 2 s."""
    columns = [np.array([x]) for x in (0.2, 0.2, 6.0, 6.0)]
    joins, stalls = watched(columns, 6.0, 1.0, Thresholds(0.5, 1.0, 0.0))
    assert (joins.tolist(), stalls.at.tolist()) == ([0.5], [0.2])
    assert stalls.lasted == pytest.approx([1.3])


def test_a_player_with_buffers_followed_by_hand():
    """It begins with 2 s at 1 s, stands after 2.5 s, and resumes with 1.5 s."""
    columns = [np.array([x]) for x in (1.0, 2.0, 2.5, 2.5, 3.0, 4.0, 5.0, 6.0)]
    joins, stalls = watched(columns, 6.0, 1.0, Thresholds(None, 2.0, 1.5))
    assert joins.tolist() == [1.0]
    assert stalls.at.tolist() == [2.5]
    assert stalls.lasted.tolist() == [1.5]  # from 3.5 to 5 s


def test_media_of_a_curve():
    video = Video(curve=([0, 1, 3, 4], [0, 10, 10, 30]))
    assert media(video, np.array([0, 5, 9, 10, 20, 30])).tolist() == pytest.approx([0, 0.5, 0.9, 3, 3.5, 4])


def test_what_is_held_is_what_came_less_what_was_played():
    video = Video(packet_rate=60, duration=20)
    drawn = play(
        Path(loss=0.05, rtt=0.1, **({"sender": "classic"} | SACK)), video, Player(start=0.7, setup_round_trips=1)
    ).sessions(50, np.random.default_rng(1))
    assert (drawn.join_time == 0.7 + 0.2).all()
    assert (drawn.buffer([0.0, 0.1]) == 0).all()
    over = drawn.join_time + drawn.total_rebuffer + 20
    assert drawn.buffer(over).diagonal() == pytest.approx(0, abs=1e-9)
    i = int(np.argmax(drawn.stalls))
    one = drawn.of(i)
    assert one["stalls"] == len(one["stall_start_s"]) > 0
    begins = one["join_time_s"] + one["stall_start_s"][0]  # nothing is held from here on, until it ends
    held = drawn.buffer([begins - 0.05, begins + 1e-6, begins + one["stall_length_s"][0] - 1e-6])[i]
    assert held == pytest.approx([0.05, 0, 0], abs=1e-6)
    assert (pickle.loads(pickle.dumps(drawn)).buffer([3.0]) == drawn.buffer([3.0])).all()


def test_segments_are_held_from_their_last_packet_on():
    drawn = play(LINUX, Video(bitrate=7e5, duration=24), SegmentPlayer(segment=4, client_buffer=12)).sessions(
        3, np.random.default_rng(1)
    )
    first = drawn.download_time[0, 0]
    assert drawn.join_time[0] == first
    assert drawn.buffer([first - 1e-6, first + 1e-6])[0] == pytest.approx([0, 4], abs=1e-5)
    assert drawn.buffer(np.linspace(0, 60, 500)).max() <= 12 + 1e-9


def test_rows_and_refusals():
    pd = pytest.importorskip("pandas")
    found = play(
        Path(loss=0.05, rtt=0.1, **({"sender": "classic"} | SACK)), Video(packet_rate=60, duration=5), Player(start=1)
    )
    drawn = found.sessions(4, np.random.default_rng(1))
    assert len(drawn) == 4
    frame = drawn.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["total_rebuffer_s"].tolist() == drawn.total_rebuffer.tolist()
    assert "4" in repr(drawn)
    with pytest.raises(InputError, match="session must be below 4"):
        drawn.of(4)
    with pytest.raises(InputError, match="size"):
        found.sessions(0, np.random.default_rng(1))
    with pytest.raises(InputError, match=r"draw [\d,]+ at most"):
        found.sessions(2_000_000, np.random.default_rng(1))
    assert isinstance(drawn, tcpstream.DrawnSessions)
    with pytest.raises(InputError, match=r"rng must be a numpy.random.Generator, .* got 5"):
        play(LINUX, Video(packet_rate=20, duration=5)).sessions(10, 5)  # type: ignore[union-attr, arg-type]


def test_playback_starts_at_last():
    found = play(
        Path(loss=0.05, rtt=0.1, **({"sender": "classic", "max_window": 12} | SACK)),
        Video(packet_rate=60, duration=3),
        Player(start_buffer=1),
    )
    assert found.join_time_cdf([np.inf, -np.inf, 0.0]).tolist() == [1, 0, 0]
    assert found.join_time_cdf(found.join_time_quantile(0.9)) >= 0.9 > found.join_time_cdf(0.2)


@pytest.mark.parametrize(
    ("path", "video"),
    [
        ({"sender": "classic", "rto": 0.3}, Video(packet_rate=40, duration=15)),
        (SACK, Video(packet_rate=60, duration=8)),
        (SACK, Video(curve=([0, 2, 5, 9], [0, 100, 260, 300]))),
    ],
)
def test_sessions_of_live_streams(path, video):
    path = Path(loss=0.03, rtt=0.1, max_window=14, **({"sender": "classic"} | path))
    found = play(path, video, Player(start=0.8), live=True)
    drawn = found.sessions(RUNS // 2, np.random.default_rng(4))
    close(drawn.stalls > 0, found.stall_probability, found.errors["stall_probability"])
    close(drawn.total_rebuffer, found.mean_total_rebuffer, found.errors["mean_total_rebuffer"])
    close(drawn.total_rebuffer > 0.4, found.longer_than(0.4), found.longer_than_error(0.4))
    assert drawn.buffer([0.05, 0.75]).max() <= 0.9  # what does not exist is not held

"""Sessions as others want them: a table, P.1203, Sabre."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from tcpstream import InputError, Path, Player, SegmentPlayer, Video, play

PATH = Path(
    sender="classic", loss=0.05, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=16, initial_window=10, detection="rack"
)
SETTINGS = {
    "codec": "h264", "bitrate": 6e5, "resolution": "960x540", "fps": 25, "display_size": "1920x1080", "device": "pc",
}  # fmt: skip


@pytest.fixture(scope="module")
def whole():
    """Of a video that TCP sends as fast as it can."""
    found = play(PATH, Video(packet_rate=60, duration=9.5), Player(start=0.5, setup_round_trips=1))
    return found.sessions(20, np.random.default_rng(1))


@pytest.fixture(scope="module")
def fetched():
    """Of segments of 2 s; the last one is half as long."""
    found = play(PATH, Video(packet_rate=60, duration=15), SegmentPlayer(segment=2, client_buffer=5))
    return found.sessions(20, np.random.default_rng(1))


def test_a_table_has_a_row_for_each_session(fetched, tmp_path):
    fetched.write_csv(tmp_path / "sessions.csv")
    with (tmp_path / "sessions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    for i, row in enumerate(rows):
        one = fetched.of(i)
        assert row.keys() == one.keys()
        assert float(row["total_rebuffer_s"]) == pytest.approx(one["total_rebuffer_s"])
        for name in ("stall_start_s", "stall_length_s", "download_time_s"):
            assert [float(x) for x in row[name].split(";") if x] == pytest.approx(one[name])
    with pytest.raises(InputError, match="cannot write"):
        fetched.write_csv(tmp_path / "nowhere" / "sessions.csv")


def test_p1203(fetched, whole):
    """The structure that the README of itu-p1203 1.10 describes; the first stall is the join time, at 0."""
    i = int(np.argmax(fetched.stalls))
    one = json.loads(json.dumps(fetched.p1203(i, **SETTINGS, audio=("aaclc", 96e3))))
    assert one["IGen"] == {"device": "pc", "displaySize": "1920x1080"}
    assert [part["start"] for part in one["I13"]["segments"]] == [0, 2, 4, 6, 8, 10, 12, 14]
    assert [part["duration"] for part in one["I11"]["segments"]] == [2] * 7 + [1]
    assert one["I13"]["segments"][3] == {
        "codec": "h264", "bitrate": 600, "resolution": "960x540", "fps": 25, "start": 6, "duration": 2,
    }  # fmt: skip
    assert one["I11"]["segments"][0] == {"codec": "aaclc", "bitrate": 96, "start": 0, "duration": 2}
    seen = fetched.of(i)
    assert seen["stalls"] > 0
    stalls = [[0, seen["join_time_s"]], *map(list, zip(seen["stall_start_s"], seen["stall_length_s"]))]
    assert one["I23"]["stalling"] == stalls
    silent = whole.p1203(0, **SETTINGS)
    assert "I11" not in silent
    assert silent["I13"]["segments"][0]["duration"] == 9.5
    assert silent["I23"]["stalling"][0] == [0, pytest.approx(0.7)]  # 0.5 s, the request and a round trip before it


def test_p1203_of_its_authors(fetched, whole):
    """More stalls, a lower score; for who has their software, which is for research alone."""
    itu_p1203 = pytest.importorskip("itu_p1203")

    def score(session):
        found = itu_p1203.P1203Standalone(json.loads(json.dumps(session)), quiet=True).calculate_complete()
        return found["O46"]

    audio = {"audio": ("aaclc", 96e3)}
    order = np.argsort(fetched.stalls, kind="stable")
    fewest, most = (score(fetched.p1203(int(i), **SETTINGS, **audio)) for i in order[[0, -1]])
    assert fetched.stalls[order[0]] < fetched.stalls[order[-1]]
    assert 1 < most < fewest < 5
    assert score(whole.p1203(0, **SETTINGS, **audio)) > most


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codec": "av1"}, "codec must be one of h264, got 'av1'"),
        ({"bitrate": 0}, "bit rate must be greater than 0 bit/s"),
        ({"resolution": "540p"}, "resolution must be width and height in pixels, as 1920x1080, got '540p'"),
        ({"display_size": "0x10"}, "display size must be width and height"),
        ({"fps": -1}, "frames a second must be greater than 0"),
        ({"device": "tv"}, "device must be one of pc, handheld, mobile"),
        ({"audio": ("opus", 96e3)}, "audio codec must be one of aaclc"),
        ({"audio": ("mp2", -1)}, "audio bit rate must be greater than 0"),
        ({"audio": "aaclc"}, "audio must be a codec and a bit rate, .* got 'aaclc'"),
        ({"display_size": 1080}, "display size must be width and height in pixels, .* got 1080"),
    ],
)
def test_what_p1203_does_not_have(whole, change, message):
    with pytest.raises(InputError, match=message):
        whole.p1203(0, **SETTINGS | change)


def test_nothing_is_assumed_of_pictures(whole):
    for name in SETTINGS:
        with pytest.raises(TypeError, match=name):
            whole.p1203(0, **{key: value for key, value in SETTINGS.items() if key != name})


def test_a_network_delivers_the_video(whole):
    for i in range(5):
        periods = json.loads(json.dumps(whole.network(i)))
        assert {one["latency_ms"] for one in periods} == {100}
        assert all(one["duration_ms"] == pytest.approx(1000) for one in periods[:-1])
        bits = sum(one["duration_ms"] * one["bandwidth_kbps"] for one in periods)
        assert bits == pytest.approx(60 * 9.5 * 1500 * 8)


def test_a_network_of_segments_has_the_time_of_each(fetched):
    for i in range(5):
        periods = fetched.network(i)
        took = np.array([2 * 60 * 12 / one["bandwidth_kbps"] for one in periods])  # 120 packets of 12 kbit
        assert took == pytest.approx(fetched.download_time[i])
        assert sum(one["duration_ms"] for one in periods) == pytest.approx(1000 * fetched.arrival_time[i, -1])
        assert all(one["duration_ms"] >= 1000 * lasts - 1e-6 for one, lasts in zip(periods, took))

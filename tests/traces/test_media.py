"""Videos from the sizes of their frames and segments."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tcpstream
from tcpstream import InputError
from tcpstream.traces import is_media, read_media

# What `ffprobe -show_packets -of json` prints, shortened: decode order, numbers as text, a B frame without a dts.
PACKETS = {
    "packets": [
        {
            "codec_type": "video",
            "pts_time": "0.000000",
            "dts_time": "-0.040000",
            "duration_time": "0.040000",
            "size": "9000",
        },
        {
            "codec_type": "video",
            "pts_time": "0.120000",
            "dts_time": "0.000000",
            "duration_time": "0.040000",
            "size": "3000",
        },
        {"pts_time": "0.040000", "dts_time": "N/A", "duration_time": "0.040000", "size": "1500"},
    ]
}
FRAMES = {
    "frames": [
        {"media_type": "video", "key_frame": 1, "pkt_dts_time": "1.0", "pkt_size": "6000", "pict_type": "I"},
        {"media_type": "audio", "pts_time": "1.0", "pkt_size": "300"},
        {"media_type": "video", "key_frame": 0, "pkt_dts_time": "1.5", "pkt_size": "3000", "pict_type": "P"},
    ]
}
SABRE = {
    "segment_duration_ms": 3000,
    "bitrates_kbps": [230, 331],
    "segment_sizes_bits": [[24000, 48000], [12000, 36000]],
}


def written(tmp_path, content, name="video"):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("content", "settings", "times", "packets"),
    [
        (PACKETS, {}, [0, 0.04, 0.08, 0.12], [0, 6, 8, 9]),
        (FRAMES, {"packet_size": 300}, [0, 0.5, 1.0], [0, 21, 31]),
        (SABRE, {"rung": 2}, [0, 3, 6], [0, 4, 7]),
        ("time_s,bytes\n5,3000\n5.5,1500\n6,1500\n", {}, [0, 0.5, 1, 1.5], [0, 2, 3, 4]),
        ("duration_s,bytes\n2,3000\n4,1500\n", {}, [0, 2, 6], [0, 2, 3]),
    ],
)
def test_each_piece_is_due_from_its_time_to_the_next(tmp_path, content, settings, times, packets):
    file = written(tmp_path, content)
    assert is_media(file)
    video = read_media(file, **settings)
    np.testing.assert_allclose(video.curve[0], times, atol=1e-12)
    np.testing.assert_allclose(video.curve[1], packets)
    assert video.duration == pytest.approx(times[-1])


def test_frames_are_those_of_pictures(tmp_path):
    read = read_media(written(tmp_path, FRAMES), packet_size=300).frames
    assert read == ((0.0, 0.5), (21.0, 31.0), (True, False))  # sound that has the time of a picture is there with it
    packets = {
        "packets": [{"dts_time": f"{k / 25}", "size": "1500", "flags": "K_" if k % 2 else "__"} for k in range(3)]
    }
    assert read_media(written(tmp_path, packets)).frames.keys == (False, True, False)
    table = read_media(written(tmp_path, "time_s,bytes,key\n5,3000,1\n5.5,1500,0\n")).frames
    assert table == ((0.0, 0.5), (2.0, 3.0), (True, False))
    assert read_media(written(tmp_path, "time_s,bytes\n5,3000\n5.5,1500\n")).frames.keys is None
    sound = {"packets": [{"codec_type": "audio", "pts_time": str(k), "size": 300, "flags": "K__"} for k in range(2)]}
    assert len(read_media(written(tmp_path, sound)).frames.times) == 2
    assert read_media(written(tmp_path, "duration_s,bytes\n2,3000\n4,1500\n")).frames is None


def test_segments_of_one_size_are_a_constant_rate(tmp_path):
    video = read_media(written(tmp_path, "duration_s,bytes\n" + 5 * "2,60000\n"))
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    constant = tcpstream.stored(path, tcpstream.Video(packet_rate=20, duration=10))
    assert tcpstream.stored(path, video).late_fraction(1.0) == pytest.approx(constant.late_fraction(1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        ("time_s,bytes\n0,3000\n1,many\n", {}, "line 3: bytes must be a number, got 'many'"),
        ("time_s,bytes\n0,3000\n1\n", {}, "line 3: expected two numbers 'time_s,bytes', got '1'"),
        ("time_s,bytes,key\n0,3000,2\n", {}, "line 2: key must be 1 or 0, got 2"),
        ("time_s,bytes,key\n0,3000\n", {}, "line 2: expected three numbers 'time_s,bytes,key', got '0,3000'"),
        ("duration_s,bytes\n0,3000\n1,3\n", {}, "line 2: duration must be greater than 0 s, got 0 s"),
        ("a,b\n1,2\n", {}, "line 1: the header is 'a,b'; accepted: ffprobe"),
        ("time_s,bytes\n0,3000\n", {}, "two frames or segments at least, got 1"),
        ("time_s,bytes\n0,3000\n1,-1\n", {}, "must not be negative, got -1"),
        ("time_s,bytes\n0,3000\n1,1\n", {"rung": 1}, "only a movie of Sabre has rungs"),
        ('{"packets": [\n', {}, "line 2: not JSON"),
        ({"format": {}}, {}, "no packets, frames or segment sizes; accepted: ffprobe"),
        (PACKETS, {"rung": 1}, "only a movie of Sabre has rungs"),
        ({"packets": [{"size": "3"}]}, {}, "entry 1: a size and one of dts_time"),
        ({"packets": [3]}, {}, "entry 1: expected an object, got 3"),
        (SABRE, {}, "the movie has 2 bit rates: give rung, from 1 to 2"),
        (SABRE, {"rung": 3}, "rung must be at most 2, got 3"),
        (SABRE | {"segment_duration_ms": 0}, {"rung": 1}, "segment_duration_ms must be greater than 0 ms"),
        (SABRE | {"segment_sizes_bits": []}, {}, "segment_sizes_bits must be a list of segments"),
        (SABRE | {"segment_sizes_bits": [[8, 9], [8]]}, {"rung": 1}, "segment 2: expected 2 sizes, .* got 1"),
        ("time_s,bytes\n0,1\n2,1\n1,1\n", {}, "line 4: times must not decrease, got 1 s after 2 s"),
        ("time_ms,bytes\n0,0\n4000,9\n", {}, "line 1: the header is 'time_ms,bytes'; accepted: ffprobe"),
    ],
)
def test_what_is_not_read(tmp_path, content, settings, message):
    file = written(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        read_media(file, **settings)
    assert str(file) in str(caught.value)


def test_files_that_are_something_else(tmp_path):
    assert not is_media(written(tmp_path, "time_s,packets\n0,0\n1,20\n"))
    assert not is_media(tmp_path / "none")
    for header in ("time,bytes", "duration_ms,bytes", "time,size", "Duration_s, Bytes"):
        assert is_media(written(tmp_path, f"{header}\n0,3000\n1,3000\n"))
    assert read_media(written(tmp_path, "Time_s, Bytes\n0,3000\n1,3000\n")).duration == 2
    with pytest.raises(InputError, match="cannot read the video"):
        read_media(tmp_path / "none")

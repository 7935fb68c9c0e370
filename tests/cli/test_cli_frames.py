"""Late frames beside the answers of ``stored``, ``delay`` and ``play``."""

from __future__ import annotations

import pytest

import tcpstream
from tcpstream.traces import read_media

PATH = "--loss 0.04 --rtt 100ms --rto 400ms --sender classic --max-window 8"


@pytest.fixture
def film(tmp_path):
    file = tmp_path / "film.csv"
    rows = "".join(f"{k / 10},{6000 if k % 10 == 0 else 2000},{int(k % 10 == 0)}\n" for k in range(40))
    file.write_text("time_s,bytes,key\n" + rows)
    return file


def test_late_frames_are_the_librarys(run, film):
    path, video = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=8), read_media(film)
    expected = tcpstream.stored(path, video).late_frames([0.5, 1])
    done = run(f"stored {PATH} --playback {film} --delay 500ms,1s --json").answer
    assert done["late_frame_fraction"] == expected.late.tolist()
    assert done["undecodable_frame_fraction"] == expected.undecodable.tolist()
    text = run(f"stored {PATH} --playback {film} --delay 500ms,1s").out
    assert f"{expected.late[1]:.4g}" in text
    assert "cannot be decoded" in text
    live = run(f"play --live {PATH} --playback {film} --start 1s --json").answer
    assert live["late_frame_fraction"][0] > expected.late[1]


def test_the_delay_has_late_frames(run, film):
    done = run(f"delay {PATH} --playback {film} --target 0.01 --json").answer
    path, video = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic", max_window=8), read_media(film)
    found = tcpstream.stored(path, video).late_frames(done["required_startup_delay_s"])
    assert done["late_frame_fraction"] == found.late.tolist()


def test_without_key_frames_and_of_segments(run, film):
    film.write_text("time_s,bytes\n0,3000\n1,3000\n2,3000\n")
    assert "key frames are not known" in run(f"stored {PATH} --playback {film} --delay 1").out
    film.write_text("duration_s,bytes\n1,3000\n1,3000\n")
    assert "frames" not in run(f"stored {PATH} --playback {film} --delay 1").out

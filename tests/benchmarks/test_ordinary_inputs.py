"""The inputs of the table of ordinary rates are those that a seed draws, and as plausible as they say."""

from __future__ import annotations

import json
from itertools import islice

from benchmarks import ordinary_inputs as inputs
from tcpstream import Path, Video, throughput

ROWS = json.loads(inputs.FILE.read_text(encoding="utf-8"))["rows"]


def test_the_same_list_comes_from_the_same_seed():
    commands = [row["command"] for row in ROWS]
    assert commands[:10] == list(inputs.WRITTEN)
    assert commands[10:16] == list(islice(inputs.drawn(), 6))
    assert len(commands) == len(set(commands)) == 60


def test_what_stands_beside_a_command_line_is_what_it_says():
    for row, one in zip(ROWS, inputs.inputs(), strict=True):
        assert (row["kind"], row["path"], row["video"]) == (one.kind, one.path, one.video)


def test_ranges_hold():
    for row in ROWS[10:]:
        path, video = Path(**row["path"]), Video(**row["video"])
        assert 1e-6 <= path.loss <= 0.1
        assert 0.001 <= path.rtt <= 0.6
        assert 0.1995 <= path.rto - path.rtt <= 0.3005
        assert path.max_window <= 10_000
        assert 0.064e6 <= video.bitrate <= 100e6
        assert 0.79 <= row["T/mu"] <= 6.05
        if video.duration is None:
            assert row["T/mu"] > 1.02
        else:
            assert 20 <= video.duration <= 86_400
    assert {row["kind"] for row in ROWS} == {"stored", "live"}


def test_the_rate_follows_from_the_throughput():
    for row in ROWS[10:14]:
        ratio = throughput(Path(**row["path"])) / Video(**row["video"]).packet_rate
        assert abs(ratio / row["T/mu"] - 1) < 1e-3

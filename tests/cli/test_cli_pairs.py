"""``tcpstream play`` with several buffers: what it prints, and the file that it writes."""

from __future__ import annotations

import csv

import pytest

import tcpstream

PATH = "--loss 0.04 --rtt 100ms --rto 400ms --sender classic --tcp reno-sack --max-window 10"
PAIRS = f"play {PATH} --rate 20pps --duration 5s --start-buffer 500ms,1s --resume-buffer 1s,1500ms"


def test_pairs_in_json_and_in_a_file_are_the_librarys(run, tmp_path):
    file = tmp_path / "pairs.csv"
    done = run(f"{PAIRS} --json --out {file}")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4, tcp="reno-sack", max_window=10)
    found = tcpstream.buffer_grid(path, tcpstream.Video(packet_rate=20, duration=5), [0.5, 1], [1, 1.5])
    assert done.answer["stall_probability"] == found.stall_probability.tolist()
    assert done.answer["mean_total_rebuffer_s"] == found.mean_total_rebuffer.tolist()
    assert done.answer["error_bound"]["mean_join_time"] == found.errors["mean_join_time"].tolist()
    assert done.answer["file"] == str(file)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [(float(row["start_buffer_s"]), float(row["resume_buffer_s"])) for row in rows] == [
        (0.5, 1), (0.5, 1.5), (1, 1), (1, 1.5),
    ]  # fmt: skip
    assert float(rows[1]["mean_stalls"]) == pytest.approx(found.mean_stalls[0, 1], rel=1e-8)
    assert float(rows[3]["join_time_p99"]) == pytest.approx(found.join_time_quantile(0.99)[1], rel=1e-8)
    assert float(rows[2]["rebuffering_ratio_error"]) == pytest.approx(found.errors["rebuffering_ratio"][1, 0], rel=1e-8)


def test_pairs_for_people(run, tmp_path):
    done = run(f"{PAIRS} --out {tmp_path / 'pairs.csv'}")
    assert (done.status, done.err) == (0, "")
    assert "join time, mean [s]" in done.out
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[:2] for row in rows if len(row) > 6 and row[0] in ("0.5", "1")] == [
        ["0.5", "1"], ["0.5", "1.5"], ["1", "1"], ["1", "1.5"],
    ]  # fmt: skip
    assert f"4 pairs are in {tmp_path / 'pairs.csv'}." in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--start-buffer 1s,2s", "several start buffers are solved with resume buffers: give --resume-buffer"),
        ("--resume-buffer 1s,2s", "several resume buffers need start buffers as well"),
        ("--start-buffer 1s,2s --resume-buffer 0s", "resume buffers must be above 0, got 0 s"),
        ("--start-buffer 0s,2s --resume-buffer 1s", "start buffer must be above 0, got 0 s"),
        ("--start-buffer 1s,x --resume-buffer 1s", "x"),
        ("--start-buffer 1s,2s --resume-buffer 1s --target-stall 0.1", "leave out --target-stall"),
        ("--start-buffer 1s,2s --resume-buffer 1s --sessions 5", "leave out --sessions"),
        ("--start-buffer 1s,2s --resume-buffer 1s --out pairs.txt", "pairs of buffers is written as .csv"),
        ("--start-buffer 1s,2s --resume-buffer 1s --live", "leave out --live"),
    ],
)
def test_bad_input(run, options, message):
    done = run(f"play {PATH} --rate 20pps --duration 5s {options}")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_another_file_is_not_written_over(run, tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("a,b\n")
    done = run(f"{PAIRS} --out {file}")
    assert (done.status, done.out) == (2, "")
    assert "no table of pairs of buffers" in done.err
    assert file.read_text() == "a,b\n"

"""``tcpstream score``: files, options, interruptions."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

VIDEO = "--sender classic --rate 40pps --duration 8s"


@pytest.fixture
def sessions(tmp_path, monkeypatch):
    """Write a table of sessions, one damaged, and go there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sessions.csv").write_text("isp,rtt_ms,loss_percent,note\nA,100,2,007\nB,80,1,\nB,x,1,1.50\n")
    return tmp_path


def test_answers_are_appended(run, sessions):
    done = run(f"score sessions.csv {VIDEO} --group-by isp --out answers.csv --json")
    assert (done.status, done.err) == (0, "")
    lines = (sessions / "answers.csv").read_text().splitlines()
    assert lines[1].startswith("A,100,2,007,0.02,")
    assert lines[3] == "B,x,1,1.50,,,,,,,,,,rtt_ms is no number: 'x'"
    table = pd.read_csv("answers.csv")
    seen = run("play --loss 2% --rtt 100ms --sender classic --rate 40pps --duration 8s --start 2s --json").answer
    assert table["stall_probability"][0] == pytest.approx(seen["stall_probability"])
    wait = run("delay --loss 2% --rtt 100ms --sender classic --rate 40pps --duration 8s --json").answer
    assert table["required_delay_s"][0] == pytest.approx(wait["required_startup_delay_s"])
    whole, *groups = done.answer["groups"]
    assert [one["group"] for one in groups] == ["A", "B"]
    assert (whole["sessions"], whole["answered"]) == (3, 2)
    assert whole["stalled_share"] == pytest.approx(table["stall_probability"].mean())
    assert (done.answer["cases"], done.answer["solved"], done.answer["coverage"]) == (2, 2, 1)


def test_people_read_a_row_a_group(run, sessions):
    out = run(f"score sessions.csv {VIDEO} --group-by isp --out answers.csv").out
    assert out.startswith("2 of 3 sessions have an answer. With a start after 2 s 2.57%")
    assert "All 2 distinct sessions were solved. All answers are in answers.csv." in out
    assert "1 without an answer; the first: rtt_ms is no number: 'x'." in out
    assert [line.split()[:3] for line in out.splitlines()[4:7]] == [["all", "3", "2"], ["A", "1", "1"], ["B", "2", "1"]]


def test_a_table_as_a_spreadsheet_writes_it(run, sessions):
    """With semicolons numbers have decimal commas; names in capitals are the same names."""
    (sessions / "export.csv").write_text("ISP;RTT_ms;Loss_Percent\nA;100,0;2\nB;80;1,0%\nB;80;1.5\nB;1.000,5;1\n")
    done = run(f"score export.csv {VIDEO} --group-by isp --out answers.csv --json")
    assert done.status == 0
    table = pd.read_csv("answers.csv")
    assert table["p"].tolist()[:3] == [0.02, 0.01, 0.015]
    assert table["no_answer"].tolist()[3] == "RTT_ms is no number: '1.000,5'"
    assert [one["group"] for one in done.answer["groups"]] == ["", "A", "B"]
    refused = run(f"score export.csv {VIDEO} --group-by city --out answers.csv")
    assert (refused.status, refused.err) == (
        2, "tcpstream: error: the table has no column 'city' to group by: it has ISP, RTT_ms, Loss_Percent\n",
    )  # fmt: skip


def test_parquet_in_and_out(run, sessions):
    pd.DataFrame({"srtt": [0.1, None], "lost": [0.02, 0.01], "isp": ["A", None]}).to_parquet("sessions.parquet")
    maps = "--map rtt_s=srtt --map loss=lost"
    done = run(f"score sessions.parquet {maps} {VIDEO} --group-by isp --out answers.parquet --json")
    assert done.status == 0
    table = pd.read_parquet("answers.parquet")
    assert table["no_answer"].tolist() == ["", "srtt is missing"]
    assert np.isfinite(table["required_delay_s"][0])
    assert [one["group"] for one in done.answer["groups"]] == ["", "(missing)", "A"]


def test_no_answer_at_all(run, sessions):
    (sessions / "none.csv").write_text("rtt_ms,loss\n-1,0.1\n")
    done = run(f"score none.csv {VIDEO} --out answers.csv")
    assert done.status == 1
    assert "no session has an answer; the first: rtt must be 1e-06 to 1000 s, got -0.001 s" in done.err
    assert "nan" not in done.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("score none.csv --out answers.csv", "cannot read none.csv: No such file"),
        ("score sessions.txt --out answers.csv", "a table of sessions is a file .csv or .parquet, got sessions.txt"),
        ("score sessions.csv --out answers.txt", "a table of sessions is a file .csv or .parquet, got answers.txt"),
        ("score sessions.csv --out sessions.csv", "is the table of sessions itself: give another name"),
        ("score sessions.csv --out no/answers.csv", "cannot write no/answers.csv: no such folder"),
        ("score sessions.csv", "missing option '--out'"),
        ("score sessions.csv --out answers.csv", "give rate for all sessions, or a column rate_mbps"),
        ("score sessions.csv --out answers.csv --map rtt", "give NAME=COLUMN, as rtt_ms=srtt"),
        ("score sessions.csv --out answers.csv --map rtt_s=a --map rtt_s=b", "--map rtt_s is given twice"),
        ("score sessions.csv --out answers.csv --solves 1.5", "--solves must be a whole number, got 1.5"),
        ("score sessions.csv --out answers.csv --group-by city", "no column 'city' to group by"),
        ("score empty.csv --out answers.csv", "'empty.csv' has no sessions"),
        (f"score wide.csv {VIDEO} --out answers.csv", "wide.csv: its rows have more values than its header names"),
        (f"score twice.csv {VIDEO} --out answers.csv", "two columns of twice.csv are called rtt_ms: rename one"),
        ("score damaged.parquet --out answers.csv", "cannot read damaged.parquet"),
    ],
)
def test_bad_input_is_one_line(run, sessions, line, words):
    (sessions / "empty.csv").write_text("rtt_ms,loss\n")
    (sessions / "wide.csv").write_text("rtt_ms,loss\n100,50,0.01\n100,60,0.02\n")
    (sessions / "twice.csv").write_text("rtt_ms,rtt_ms,loss\n100,50,0.01\n")
    (sessions / "damaged.parquet").write_text("PAR1 and no more")
    done = run(line)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_command_goes_on(run, sessions):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"rtt_ms": rng.uniform(80, 160, 60), "loss": rng.uniform(0.02, 0.05, 60)})
    table.to_csv("many.csv", index=False)
    line = "score many.csv --sender classic --rate 40pps --duration 5s --solves 12"
    whole = run(f"{line} --out whole.csv")
    assert whole.status == 0, whole.err
    begun = subprocess.Popen(
        [sys.executable, "-m", "tcpstream", *line.split(), "--out", "again.csv"], stdout=-1, stderr=-1, env=os.environ
    )
    kept, end = sessions / "again.csv.solved.jsonl", time.monotonic() + 60
    while time.monotonic() < end and not (kept.exists() and '"delay": NaN' not in kept.read_text()[-300:]):
        time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    out, err = begun.communicate(timeout=60)
    if begun.returncode != 0:  # it was not quicker
        assert begun.returncode in (130, -signal.SIGINT)
        assert (out, (sessions / "again.csv").exists()) == (b"", False)
        assert b"what was found so far is in again.csv.solved.jsonl: the same command continues from there" in err
    before = kept.read_text()
    assert run(f"{line} --out again.csv").status == 0
    assert kept.read_text().startswith(before[: before.rfind("\n") + 1])
    assert (sessions / "again.csv").read_text() == (sessions / "whole.csv").read_text()

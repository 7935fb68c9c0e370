"""``tcpstream sweep``: TOML in, tables out."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tcpstream import Path as TcpPath
from tcpstream import Video, explore, stored
from tcpstream.cli.sweep_file import read_sweep

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.toml"

SMALL = """
kind = "stored"
[grid]
sender = "classic"
loss = [0.03, 0.05]
rtt = "100ms"
timeout_ratio = 2
max_window = 12
packet_rate = "20pps"
duration = 10
delay = [1, "2000ms"]
"""

POINTS = """
kind = "live"
[[points]]
sender = "classic"
loss = 0.05
rtt = 0.1
rto = "200ms"
bitrate = "240kbps"
halving = "ceil"
delay = 1
[[points]]
sender = "classic"
loss = 0.05
rtt = 0.1
timeout_ratio = 2
T_over_mu = 0.5
delay = 2
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Work in an empty folder that holds a file."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        Path("case.toml").write_text(text)
        return "case.toml"

    return write


def test_json_and_csv_are_the_librarys_numbers(run, file):
    done = run(f"sweep {file(SMALL)} --out table.csv --json")
    assert (done.status, done.err) == (0, "")
    answer = done.answer
    assert answer["model"] == "stored"
    assert answer["parameters"] == {"file": "case.toml", "points": 4, "failed": 0}
    assert answer["columns"]["startup_delay_s"] == [1, 2, 1, 2]
    assert answer["columns"]["rtt_s"] == [0.1] * 4
    alone = stored(
        TcpPath(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=12),
        Video(packet_rate=20, duration=10),
    ).late_fraction([1, 2])
    assert answer["columns"]["late_fraction"][2:] == pytest.approx(alone, rel=1e-9)
    table = pd.read_csv("table.csv")
    assert table["late_fraction"].tolist() == pytest.approx(answer["columns"]["late_fraction"], rel=1e-15)
    assert table["packet_rate_pps"].tolist() == [20] * 4
    assert Path("case.sweep/sweep.json").exists()


def test_table_parquet_and_netcdf(run, file):
    done = run(f"sweep {file(SMALL)} --out table.parquet")
    assert "delay [s]" in done.out
    assert "4 points, 0 without an answer, kept in case.sweep; all are in table.parquet" in done.out
    table = pd.read_parquet("table.parquet")
    pd.testing.assert_frame_equal(table, explore.read("case.sweep"))
    assert run("sweep case.toml --out table.nc").status == 0
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset("table.nc") as data:
        assert dict(data.sizes) == {"loss": 2, "delay": 2}
        assert data["rtt"].attrs["units"] == "s"
        assert float(data["late_fraction"][1, 0]) == table["late_fraction"][2]


def test_points_and_failures(run, file):
    done = run(f"sweep {file(POINTS)} --json")
    assert done.status == 0
    columns = done.answer["columns"]
    assert columns["packet_rate_pps"][0] == 20
    assert columns["late_fraction"][1] is None
    assert "no finite startup delay suffices" in columns["error"][1]
    assert "2 points, 1 without an answer" in run("sweep case.toml").out


def test_alpha(run, file):
    done = run(f"sweep {file('alpha = true' + SMALL)} --json")
    alone = stored(
        TcpPath(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=12),
        Video(packet_rate=20, duration=10),
    )
    assert done.answer["columns"]["no_late_probability"][3] == pytest.approx(alone.no_late_probability(2), abs=1e-13)


def test_ranges():
    points, kind, alpha = read_sweep(str(EXAMPLE))
    assert (kind, alpha, len(points)) == ("stored", False, 45)
    loss = points["loss"].unique()
    assert (loss[0], loss[-1]) == (0.01, 0.04)
    assert np.diff(np.log(loss)) == pytest.approx([math.log(4) / 4] * 4)
    assert points["rtt"].unique().tolist() == [0.05, 0.1, 0.2]


def test_a_linear_range(file):
    points, _, _ = read_sweep(file(SMALL.replace('"100ms"', '{ from = "100ms", to = 0.3, number = 3 }')))
    assert points["rtt"].unique() == pytest.approx([0.1, 0.2, 0.3])


def test_a_process_shows_no_bar_in_a_pipe(process, file):
    done = process(f"sweep {file(SMALL)} --json")
    assert (done.status, done.err) == (0, "")
    assert len(json.loads(done.out)["columns"]["loss"]) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("kind =", "sort ="), "case.toml: 'sort' is not known: kind, alpha, grid, points are accepted"),
        (('"stored"', '"both"'), "case.toml: kind must be one of live, stored, got 'both'"),
        (("[grid]", "[other]"), "case.toml: give either [grid] or [[points]]"),
        (("loss =", "p ="), "case.toml: grid has no 'p': loss, rtt, "),
        (('"100ms"', '"100 parsecs"'), "case.toml: '100 parsecs' is not a time"),
        (('"20pps"', '"20kbps"'), "case.toml: packet_rate is in packets/s, got '20kbps'"),
        (('"100ms"', "{ from = 1, to = 2 }"), "case.toml: rtt: a range is from, to, number"),
        (
            ('"100ms"', "{ from = 0, to = 2, number = 3, scale = 'log' }"),
            "a range with scale log must be above 0, got 0",
        ),
        (('"100ms"', "{ from = 1, to = 2, number = 1 }"), "rtt.number must be a whole number of at least 2, got 1"),
        (('"100ms"', "{ from = 1, to = 2, number = 3, scale = 'x' }"), "rtt.scale must be one of linear, log, got 'x'"),
        (
            ('delay = [1, "2000ms"]', ""),
            "points need exactly one of delay, target, no_late, start, start_buffer, got none",
        ),
        (('kind = "stored"', "kind = 'stored'\nalpha = 3"), "case.toml: alpha must be one of True, False, got 3"),
        (('"100ms"', ""), "case.toml is not TOML: "),
    ],
)
def test_bad_input_is_one_line(run, file, change, words):
    text = SMALL.replace(*change)
    assert text != SMALL
    done = run(f"sweep {file(text)}")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("20pps", "x" * 5000, "case.toml: "),
        ("loss = [0.03, 0.05]", "loss = [[0.03], 0.05]", "case.toml: loss must be a number, got [0.03]"),
        ("timeout_ratio = 2", "timeout_ratio = { a = 1 }", "timeout_ratio: a range is from, to, number"),
        ("timeout_ratio = 2", "timeout_ratio = [{ a = 1 }]", "timeout_ratio must be a number, got {'a': 1}"),
        ("timeout_ratio = 2", "timeout_ratio = 1979-05-27", "timeout_ratio must be a number, got datetime.date(1979,"),
        ("timeout_ratio = 2", "timeout_ratio = true", "timeout_ratio must be a number, got True"),
        ("timeout_ratio = 2", "timeout_ratio = nan", "timeout_ratio must be finite, got nan"),
        ("timeout_ratio = 2", "timeout_ratio = 0x1" + 5000 * "0", "timeout_ratio must be a number, got <int>"),
        ("duration = 10", "duration = inf", "duration must be finite, got inf s"),
        ("duration = 10", "tcp = 3", "tcp must be text, got 3"),
        (
            "duration = 10",
            "duration = { from = 1, to = 2, number = 1e9 }",
            "number makes 1,000,000,000 points",
        ),
        ("duration = 10", "duration = { from = -1e308, to = 1e308, number = 9 }", "from -1e+308 to 1e+308 is too wide"),
        (
            "duration = 10",
            "duration = { from = 1, to = 2, number = 999999 }",
            "a grid of 1 x 2 x 1 x 1 x 1 x 1 x 999,999 x 2 makes 3,999,996 points, more than the 1,000,000 of a sweep",
        ),
        ("duration = 10", "duration.a.b = 1", "duration: a range is from, to, number"),
        ("duration = 10", r'"\u001b[31m" = 1', r"grid has no '\x1b[31m'"),
    ],
)
def test_values_that_are_none(run, file, old, new, words):
    assert old in SMALL
    done = run(f"sweep {file(SMALL.replace(old, new))}")
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert "\x1b" not in done.err
    assert not Path("case.sweep").exists()


def test_rows_that_are_none(run, file):
    done = run(f"sweep {file(POINTS.replace('loss = 0.05', 'loss = [1, 2]', 1))}")
    assert (done.status, done.err) == (2, "tcpstream: error: case.toml: loss must be a number, got [1, 2]\n")


def test_whole_numbers_that_no_machine_word_holds(file):
    points, _, _ = read_sweep(file(SMALL.replace("max_window = 12", f"max_window = {2**64}")))
    assert points["max_window"].unique().tolist() == [2.0**64]


def test_no_answer_at_all_is_a_failure(run, file):
    done = run(f"sweep {file(SMALL.replace('[0.03, 0.05]', '[1.5, 2.5]'))} --json")
    assert done.status == 1
    assert done.answer["parameters"] == {"file": "case.toml", "points": 4, "failed": 4}
    assert done.err.startswith("tcpstream: no point has an answer; the first: loss rate must ")
    assert len(done.err.splitlines()) == 1


def test_labelled_arrays_need_a_grid_before_anything_is_solved(run, file):
    done = run(f"sweep {file(POINTS)} --out table.nc")
    assert done.status == 2
    assert "table.nc is for a grid with an axis of several values" in done.err
    assert not Path("case.sweep").exists()


def test_other_bad_input(run, file):
    assert "cannot read none.toml: No such file" in run("sweep none.toml").err
    refused = run(f"sweep {file(SMALL)} --out table.xls")
    assert (refused.status, Path("case.sweep").exists()) == (2, False)
    assert "a table is written as .csv, .parquet, .nc, got table.xls" in refused.err
    run("sweep case.toml")
    file(SMALL.replace("0.05", "0.06"))
    assert "case.sweep holds another sweep (other points): give another folder" in run("sweep case.toml").err
    assert "cannot write no/table.csv: no such folder" in run("sweep case.toml --store new --out no/table.csv").err

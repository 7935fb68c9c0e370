"""Tables become sessions: units, maps, damaged values."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import InputError
from tcpstream.scores import table_files
from tcpstream.scores.distinct import sessions
from tcpstream.scores.question import Question


def read(columns, mapped=None, rate=500.0, duration=60.0, **sender):
    return sessions(pd.DataFrame(columns), Question(sender=sender), mapped or {}, rate, duration)


@pytest.mark.parametrize(
    ("column", "value", "seconds"),
    [
        ("rtt_ms", 80, 0.08),
        ("rtt_s", 0.08, 0.08),
        ("rtt", 0.08, 0.08),
        ("rtt_us", 80_000, 0.08),
        ("RTT_MS", 80, 0.08),
        ("rtt_h", 80, None),
    ],
)
def test_round_trip_times_have_units(column, value, seconds):
    table = {column: [value], "loss": [0.01]}
    if seconds is None:
        with pytest.raises(InputError, match="needs a column rtt_ms or rtt_s"):
            read(table)
    else:
        assert read(table).one(0).rtt == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("column", "value", "packets"),
    [("throughput_mbps", 6, 500), ("throughput_kbps", 6000, 500), ("throughput_pps", 500, 500)],
)
def test_throughputs_have_units(column, value, packets):
    found = read({"rtt_ms": [50], column: [value]})
    assert found.given == "throughput"
    assert found.one(0).carries == pytest.approx(packets)


@pytest.mark.parametrize(("column", "value"), [("loss_percent", 2), ("retransmit_share", 0.02)])
def test_shares_are_loss_rates(column, value):
    one = read({"rtt_ms": [50], column: [value]}).one(0)
    assert (read({"rtt_ms": [50], column: [value]}).given, one.carries) == ("loss", pytest.approx(0.02))


def test_an_option_replaces_its_column():
    table = {
        "rtt_ms": [50, 50],
        "loss": [0.01, 0.01],
        "rate_mbps": [3, 6],
        "duration_min": [1, 2],
        "rto_ms": [260, 270],
    }
    found = read(table, rate=None, duration=None)
    assert found.numbers[found.case, 3].tolist() == [250, 500]
    assert found.numbers[found.case, 4].tolist() == [60, 120]
    assert found.numbers[found.case, 2] == pytest.approx([0.26, 0.27])
    replaced = read(table, rate=100.0, duration=8.0, rto=0.3)
    assert len(replaced) == 1
    assert replaced.one(0).rto is None
    assert (replaced.one(0).rate, replaced.one(0).duration) == (100, 8)


def test_columns_are_mapped():
    table = {"srtt": [80], "lost": [2], "loss": ["of a baggage"]}
    assert read(table, {"rtt_ms": "srtt", "loss_percent": "lost"}).one(0).carries == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("columns", "mapped", "words"),
    [
        ({"rtt_ms": [1], "throughput_MBps": [1]}, {}, "exactly one of loss, .* got none"),
        ({"rtt_ms": [1], "loss": [0.1], "throughput_mbps": [1]}, {}, "exactly one of loss, .* got loss and throughput"),
        ({"rtt_ms": [1]}, {}, "got none"),
        ({"rtt_ms": [1], "throughput": [1]}, {}, "got none"),
        ({"rtt_ms": [1], "rtt_s": [1], "loss": [0.1]}, {}, "two columns are rtt: rtt_ms and rtt_s"),
        ({"rtt_ms": [1], "loss": [0.1]}, {"ping": "rtt_ms"}, "no column of sessions is called 'ping'"),
        ({"rtt_ms": [1], "loss": [0.1]}, {"rto_ms": "timer"}, "no column 'timer' for rto_ms: it has rtt_ms, loss"),
        ({"a": [1], "b": [1]}, {"rtt_ms": "a", "rtt_s": "b"}, "two columns are mapped to rtt: a and b"),
        ({"rtt": [80, 60], "loss": [0.1, 0.1]}, {}, "longer than 3 s: for milliseconds call the column rtt_ms"),
    ],
)
def test_what_is_no_table_of_sessions(columns, mapped, words):
    with pytest.raises(InputError, match=words):
        read(columns, mapped)


def test_a_rate_and_a_duration_are_needed():
    for one in ("rate", "duration"):
        with pytest.raises(InputError, match=f"give {one} for all sessions, or a column {one}"):
            read({"rtt_ms": [1], "loss": [0.1]}, **{one: None})


@pytest.mark.parametrize(
    ("rtt", "loss", "reason"),
    [
        ("", "0.01", "rtt_ms is missing"),
        (None, "0.01", "rtt_ms is missing"),
        ("fast", "0.01", "rtt_ms is no number: 'fast'"),
        ("-5", "0.01", "rtt must be 1e-06 to 1000 s, got -0.005 s, from rtt_ms '-5'"),
        ("inf", "0.01", "rtt must be 1e-06 to 1000 s, got inf s"),
        ("50", "nan", "loss is no number: 'nan'"),
        ("50", "1.5", "loss must be 1e-09 to 0.5, got 1.5"),
        ("50", "150%", "loss must be 1e-09 to 0.5, got 1.5, from loss '150%'"),
        ("50", "2% of all", "loss is no number: '2% of all'"),
        ("50", "0", "loss is 0: a session without losses does not tell the loss rate of its path"),
        ("70000", "0.01", "duration of 60 s is shorter than a round trip of 70 s"),
    ],
)
def test_damaged_rows_say_why(rtt, loss, reason):
    found = read({"rtt_ms": ["50", rtt, "50"], "loss": ["0.01", loss, "0.01"]})
    assert found.case.tolist() == [0, -1, 0]
    assert found.reasons == ["", reason, ""]


def test_a_value_may_be_in_percent():
    found = read({"rtt_ms": [50, 50, 50], "loss": ["2%", "0.02", " 2 % "]})
    assert found.case.tolist() == [0, 0, 0]
    assert found.one(0).carries == 0.02


def test_capitals_make_no_difference():
    found = read({"RTT_ms": [50], "Loss": [0.02], "rto_MS": [300]})
    assert (found.one(0).rtt, found.one(0).carries, found.one(0).rto) == (0.05, 0.02, 0.3)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_values_of_csv_are_separated_as_its_first_line(separator, tmp_path):
    file = tmp_path / "sessions.csv"
    file.write_text("rtt_ms,loss\n50,0.02\n".replace(",", separator), encoding="utf-8-sig")
    assert table_files.read(file).to_dict("list") == {"rtt_ms": ["50"], "loss": ["0.02"]}


def test_a_timer_is_no_shorter_than_a_round_trip():
    found = read({"rtt_ms": [50, 50, 50], "loss": [0.01] * 3, "rto_ms": [20, math.nan, 250]})
    assert found.reasons == ["rto of 0.02 s is shorter than the round trip time of 0.05 s", "", ""]
    assert [found.one(i).rto for i in found.case[1:]] == [None, 0.25]


@given(st.lists(st.tuples(st.sampled_from([10, 50, math.nan]), st.sampled_from([0.01, 0.02, 2.0])), min_size=1))
def test_every_row_has_a_case_or_a_reason(rows):
    rtt, loss = zip(*rows)
    found = read({"rtt_ms": rtt, "loss": loss})
    assert [(number < 0) == bool(reason) for number, reason in zip(found.case, found.reasons)] == [True] * len(rows)
    good = found.case >= 0
    assert found.numbers[found.case[good], 1] == pytest.approx(np.array(rtt)[good] / 1e3)
    assert found.numbers[found.case[good], 0] == pytest.approx(np.array(loss)[good])
    assert len(found) == len(set(found.case[good].tolist()))

"""Files of throughput over time: what each format says, and one clear line for what is damaged."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream import InputError
from tcpstream.traces import ThroughputTrace, read_throughput

EXAMPLES = Path(__file__).parents[2] / "examples"
RATES = st.lists(st.floats(0, 1e4), min_size=2, max_size=20)


def read(folder, text):
    file = folder / "trace"
    file.write_text(text)
    return read_throughput(file)


@settings(max_examples=30, deadline=None)
@given(RATES, st.sampled_from([("bps", 1), ("kbps", 1e3), ("mbps", 1e6)]))
def test_csv_and_columns(tmp_path_factory, rates, unit):
    folder = tmp_path_factory.mktemp("traces")
    rows = "".join(f"{3 + 2 * i},x,{rate}\n" for i, rate in enumerate(rates))
    found = read(folder, f"time_s,signal,throughput_{unit[0]}\n{rows}")
    assert found.edges.tolist() == [1 + 2 * i for i in range(len(rates) + 1)]
    assert found.throughput.tolist() == [unit[1] * rate for rate in rates]
    cooked = read(folder, "".join(f"{3 + 2 * i}\t{rate}\n" for i, rate in enumerate(rates)))
    assert cooked.throughput.tolist() == [1e6 * rate for rate in rates]


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_values_of_csv_are_separated_as_its_header(tmp_path, between):
    """The last value of a line may be missing where its column is left alone; another one may have commas."""
    text = "time_s,throughput_kbps,signal,cell\n1,5,-70,\n2,40,-80,\n".replace(",", between)
    found = read(tmp_path, text.replace("-70", '"good, at first"'))
    assert found.throughput.tolist() == [5e3, 40e3]
    with pytest.raises(InputError, match="line 3: 4 columns are wanted"):
        read(tmp_path, text.replace(f"{between}-80", ""))


def test_with_semicolons_numbers_may_have_decimal_commas(tmp_path):
    found = read(tmp_path, "time_s;throughput_mbps\n0,5;4,25\n1;3.5\n")
    assert found.throughput.tolist() == [4.25e6, 3.5e6]
    with pytest.raises(InputError, match="line 2"):
        read(tmp_path, 'time_s,throughput_mbps\n"0,5","4,25"\n')


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 3000), min_size=1, max_size=50))
def test_opportunities_are_counted(tmp_path_factory, times):
    found = read(tmp_path_factory.mktemp("traces"), "\n".join(map(str, sorted(times))))
    assert found.duration == pytest.approx(max(times) / 1000)
    assert found.mean * found.duration == pytest.approx(12000 * len(times))
    late = sum(time > 100 for time in times)  # 100 ms is the end of the first interval
    assert (found.throughput * np.diff(found.edges))[1:].sum() == pytest.approx(12000 * late)


def test_the_capacity_trace_of_the_examples():
    found = read_throughput(EXAMPLES / "cell.trace")  # 240, 100, 40 and 180 packets/s for half a second each
    assert found.resampled(0.5) == pytest.approx([12000 * rate for rate in (240, 100, 40, 180)])


def test_sabre(tmp_path):
    periods = [{"duration_ms": 500, "bandwidth_kbps": 800, "latency_ms": 20}, {"duration_ms": 250, "bandwidth_kbps": 0}]
    found = read(tmp_path, json.dumps(periods))
    assert found.edges.tolist() == [0, 0.5, 0.75]
    assert found.throughput.tolist() == [800e3, 0]


def test_iperf3():
    file = EXAMPLES / "linux-reno-iperf3.json"
    sums = [one["sum"] for one in json.loads(file.read_text())["intervals"]]
    found = read_throughput(file)
    assert len(found.throughput) == len(sums)
    assert found.mean * found.duration == pytest.approx(8 * sum(one["bytes"] for one in sums), rel=1e-9)


@given(RATES, st.floats(0.05, 1))
def test_resampling_keeps_what_is_carried(rates, share):
    edges = np.cumsum([0, *(0.1 + (7 * i % 5) / 3 for i in range(len(rates)))])
    trace = ThroughputTrace(edges, rates)
    interval = share * trace.duration
    found = trace.resampled(interval)
    end = interval * len(found)
    kept = sum(rate * max(min(b, end) - a, 0) for rate, a, b in zip(rates, edges[:-1], edges[1:]))
    assert found.sum() * interval == pytest.approx(kept, rel=1e-9, abs=1e-6)
    assert trace.duration - end < interval * (1 + 1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("time,throughput\n1,2\n", "is no throughput over time, its first line is 'time,throughput'"),
        ("1,2\n2,3\n", "columns without units: name them in a first line, as time_s,throughput_mbps"),
        ("1;2\n2;3\n", "columns without units: name them in a first line, as time_s,throughput_mbps"),
        ("time_s,throughput_bps,throughput_kbps\n1,1,1\n", "one column time_s and one of throughput_bps"),
        ("time_s,throughput_bps\n1,1\n2\n", "line 3: 2 columns are wanted, got '2'"),
        ("time_s,throughput_bps\n1,1\n1,2\n", "line 3: times must increase, got 1 s after 1 s"),
        ("time_s,throughput_bps\n1,1\n2,-2\n", "line 3: a throughput of 0 or more is wanted, got -2"),
        ("time_s,throughput_bps\n1,1\n2,fast\n", "line 3: a time [s] and a throughput are wanted"),
        ("time_s,throughput_bps\n1,1\n", "has 1 lines of throughput: two or more are wanted"),
        ("time_s,throughput_mbps\n1,1\n2,4000000\n", "throughput must lie between 0 and 1e+11 bit/s, got 4e+12"),
        ("time_s,throughput_bps\n1,1\n1e300,1\n", "times must lie within 1e+12 s"),
        ("1 2 3\n1 2 3\n", "line 1: a time [s] and a throughput are wanted"),
        ("1\n3\n2\n", "line 3: times must not decrease, got 2 ms after 3 ms"),
        ("1\n3.5\n", "line 2: a whole number of milliseconds"),
        ("0\n0\n", "needs a time after 0 ms"),
        ("[1", "is not JSON"),
        ("[]", "a list of objects with duration_ms and bandwidth_kbps is wanted"),
        ('[{"duration_ms": 1}]', "as number 1"),
        ('[{"duration_ms": 0, "bandwidth_kbps": 1}]', "period 1: duration_ms must be greater than 0 ms"),
        ('[{"duration_ms": 1, "bandwidth_kbps": "x"}]', "period 1: bandwidth_kbps must be a number"),
        ('{"intervals": []}', "has no interval that counts"),
        ('{"intervals": [{}]}', "is no output of iperf3 -J"),
        ('{"error": "refused"}', "holds an error of iperf3: refused"),
    ],
)
def test_damaged(tmp_path, text, words):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='019.,;-e \n\t{}[]":abts_', max_size=60))
def test_no_text_breaks_the_reader(tmp_path_factory, text):
    with suppress(InputError):
        assert (read(tmp_path_factory.getbasetemp(), text).throughput >= 0).all()

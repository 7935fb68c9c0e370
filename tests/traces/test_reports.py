"""Reports of ss and iperf3, as the programs wrote them, and what they cannot show.

examples/linux-reno-ss.txt and examples/linux-reno-iperf3.json are one backlogged flow (examples/README.md): each data
packet was dropped with probability 0.02, 80 of them in all. iperf3 tells all 60 s, ss 28 moments of the first 57 s.
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from tcpstream.errors import CaptureError, InputError
from tcpstream.traces import estimate_report, is_report
from tcpstream.traces.intervals import dispersion

EXAMPLES = Path(__file__).parents[2] / "examples"
SS, JSON = EXAMPLES / "linux-reno-ss.txt", EXAMPLES / "linux-reno-iperf3.json"
IPERF3 = json.loads(JSON.read_text())
ONE = """State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      78192      10.98.0.1:53548    10.98.0.2:5999
\t cubic wscale:10,10 rto:308 rtt:108/5 mss:1448 cwnd:10 bytes_sent:1448000 bytes_retrans:14480 bytes_acked:1433520 \
segs_out:1002 data_segs_out:1000 retrans:0/12 dsack_dups:2 minrtt:100
"""


def read(tmp_path, text):
    file = tmp_path / "report"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    assert is_report(file)
    return estimate_report(file)


def test_what_iperf3_shows():
    found = estimate_report(JSON)
    assert found.flow == "10.98.0.1:53548 > 10.98.0.2:5999"
    assert round(found.loss.value * found.packets) == 80
    assert found.loss.low < 0.02 < found.loss.high
    assert found.rtt.value == pytest.approx(0.1, abs=0.01)
    assert found.rtt.low < found.rtt.value < found.rtt.high
    assert found.rto.value == pytest.approx(0.3, abs=0.01)
    received = IPERF3["end"]["sum_received"]
    assert found.throughput_pps.value == pytest.approx(received["bytes"] / 1448 / received["seconds"], rel=0.05)
    assert found.others == ()


def test_what_ss_shows_is_what_iperf3_shows():
    ss, iperf3 = (estimate_report(file) for file in (SS, JSON))
    assert ss.flow == iperf3.flow
    assert ss.others == ("10.98.0.1:53534 > 10.98.0.2:5999",)  # the control connection
    assert ss.samples == 28
    for name in ("loss", "rtt", "rto", "timeout_ratio", "throughput_pps"):
        one, other = getattr(ss, name), getattr(iperf3, name)
        assert one.low <= other.high
        assert other.low <= one.high
        assert one.value == pytest.approx(other.value, rel=0.06)
    assert ss.loss.low < 0.02 < ss.loss.high


def test_one_snapshot_by_hand(tmp_path):
    """12 retransmissions of which the receiver reported 2 as needless, of 1000; SRTT 108 +- 2.46 x 5 ms."""
    found = read(tmp_path, ONE)
    assert found.loss.value == 0.01
    assert (found.rtt.value, found.rto.value) == (0.108, 0.308)
    assert found.rtt.low == pytest.approx(0.1)  # no round trip is shorter than minrtt
    assert found.rtt.high == pytest.approx(0.108 + 2.46 * 0.005)
    assert found.timeout_ratio.value == pytest.approx(308 / 108)
    assert found.throughput_pps is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_snapshots_by_hand(tmp_path):
    """100 packets acknowledged per second, times in seconds, as ISO 8601, or none; a backed-off timer is left out."""
    second, third = (ONE.replace("acked:1433520", f"acked:{1433520 + n * 1448}") for n in (150, 200))
    second = second.replace("rto:308", "rto:616 backoff:1")
    day = "2026-01-01T10:00:0"
    for times in (("100.5", "101.5", "102.5"), (f"{day}0+00:00", f"{day}1+00:00", f"{day}2+00:00")):
        found = read(tmp_path, "".join(f"{time}\n{text}" for time, text in zip(times, (ONE, second, third))))
        assert found.throughput_pps.value == pytest.approx(100)
        assert found.throughput_pps.low < 100 < found.throughput_pps.high
        assert found.duration_s == 2
        assert found.rto.value == 0.308
    assert read(tmp_path, ONE + second + third).throughput_pps is None
    assert read(tmp_path, f"100.5\n{ONE}102.5\n{third}").throughput_pps is None  # one interval has no spread


@pytest.mark.parametrize("prefix", ["ESTAB 0 0", "0 0"])
def test_one_line_per_socket_and_no_state(tmp_path, prefix):
    """``ss -tiOn`` writes one line per socket; with a state in the filter the column of states is left out."""
    socket, info = ONE.splitlines()[1:]
    text = f"{prefix} {' '.join(socket.split()[3:])} {info.strip()}\n"
    assert read(tmp_path, text).loss.value == 0.01


def test_no_report_has_a_loss_event_rate():
    for file in (SS, JSON):
        found = estimate_report(file)
        assert found.to_dict()["loss_event_rate"] is None
        assert "no loss-event rate" in found.warnings[0]
        with pytest.raises(InputError, match=r"shows no loss-event rate.*give a loss rate"):
            found.path()
        path = found.path(loss=found.loss.value, max_window=30)
        assert (path.loss, path.rtt, path.max_window) == (found.loss.value, found.rtt.value, 30)


def changed(**values):
    data = json.loads(json.dumps(IPERF3))
    for interval in data["intervals"]:
        for stream in interval["streams"]:
            stream.update(values)
    return data


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"error": "unable to connect to server"}', "error of iperf3: unable to connect"),
        ("{", "no output of iperf3 -J"),
        ('{"start": 5}', "no output of iperf3 -J"),
        (IPERF3 | {"start": IPERF3["start"] | {"test_start": {"protocol": "UDP"}}}, "a test of UDP: TCP is accepted"),
        (changed(sender=False), "no interval of a sender.*with -R take the server's own JSON"),
        (changed(rtt=-1), r"rtt \[us\] of the report .* must be at least 0 and at most 2\^63, got -1"),
        (changed(bytes=10**400), r"bytes \[bytes\] of the report .* must be a number"),
        (changed(retransmits=float("nan")), "retransmits .* must be finite, got nan"),
        (changed(rttvar=float("inf")), "rttvar .* must be finite, got inf"),
        (changed(seconds="12"), "seconds .* must be a number, got '12'"),
        (changed(seconds=1e-300), "so large or so small that no rate comes of them"),
        (IPERF3 | {"start": IPERF3["start"] | {"tcp_mss_default": 1e400}}, "tcp_mss_default .* must be finite"),
        (IPERF3 | {"intervals": {"streams": 3}}, "no output of iperf3 -J"),
        (ONE.replace("rtt:108/5", "rtt:1e400/5"), r"rtt \[ms\] of .* must be a number, got '1e400'"),
        (ONE.replace("rtt:108/5", "rtt:-108/5"), r"rtt \[ms\] of .* must be a number, got '-108'"),
        (ONE.replace("bytes_acked:1433520", "bytes_acked:" + "9" * 25), "bytes_acked of .* at most 2.63, got 1e"),
        (changed(rtt=0), "no round trip time"),
        (changed(bytes=0), "no interval of a sender"),
        (ONE.replace("data_segs_out:1000", "data_segs_out:0"), "no TCP socket that sent data"),
        (ONE.replace("minrtt", "").replace("bytes_acked", "unknown"), "no TCP socket that sent data"),
        (ONE.replace("rtt:108/5", "rtt:1.0.8/5"), "must be a number"),
        (ONE.replace("rtt:108/5", "rtt:0/5"), "no round trip time"),
        (ONE.replace("retrans:0/12", "retrans:0/1200"), "contradict each other"),
        (ONE + ONE.replace("data_segs_out:1000", "data_segs_out:900"), "decrease"),
        (ONE.replace("rto:308", "rto:30"), "timers of .* below its round trip times"),
        (ONE.replace("rto:308", "rto:308 backoff:2"), "no timer that is not backed off"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path, text, message):
    with pytest.raises(CaptureError, match=message) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


TEXT = """Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.20 MBytes  10.1 Mbits/sec    0   59.4 KBytes
"""


@pytest.mark.parametrize("text", [TEXT, TEXT[TEXT.index("[ ID]") :], "Server listening on 5201\n" + TEXT])
def test_the_text_of_iperf3_is_refused_with_what_to_run_instead(tmp_path, text):
    with pytest.raises(CaptureError, match=r"the text of iperf, .*: run iperf3 with -J"):
        read(tmp_path, text)


def test_mangled_reports_end_in_answers_or_in_one_line(tmp_path):
    """The first 60 of the mutations that validation/fuzz_reports.py tries."""
    ends = runpy.run_path(str(EXAMPLES.parent / "validation" / "fuzz_reports.py"))["fuzz"](0, 60, tmp_path)
    assert sum(ends.values()) == 60
    assert min(ends.values()) > 10


def test_files_that_are_no_report(tmp_path):
    assert not is_report(EXAMPLES / "linux-reno.pcap")
    assert not is_report(tmp_path)
    assert not is_report(tmp_path / "missing")
    with pytest.raises(CaptureError, match="cannot read the report"):
        estimate_report(tmp_path)


def test_dispersion_by_hand():
    """Counts 0 and 20 of 100 each: 2 x (10 - 0)^2 / (10 x 0.9), one degree of freedom; equal counts scatter less."""
    assert dispersion(np.array([0.0, 20.0]), np.array([100.0, 100.0])) == pytest.approx(200 / 9)
    assert dispersion(np.array([10.0, 10.0]), np.array([100.0, 100.0])) == 1
    assert dispersion(np.array([3.0]), np.array([100.0])) == 1


def test_bursts_widen_the_interval():
    """Bursts of five losses are worth a fifth of their number; the interval of the mean covers as often as it says."""
    rng = np.random.default_rng(3)
    sent = np.full(100, 200.0)
    widened = [dispersion(5.0 * rng.binomial(200, 0.004, size=100), sent) for _ in range(50)]
    assert np.mean(widened) == pytest.approx(5, rel=0.1)

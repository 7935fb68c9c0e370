"""The JSON of every command: its keys, and that its numbers are the library's."""

import pytest

import tcpstream
from tcpstream.answers.answer import SCHEMA
from tcpstream.tcp.formulas import ALL

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"
STORED = f"stored {PATH} --rate 25pps --duration 8s"
LIVE = f"live {PATH} --rate 10pps"

PATH_KEYS = {
    *("loss", "losses", "rtt_s", "rto_s", "timeout_ratio", "max_window"),
    *("rounds_per_increase", "backoff", "halving", "tcp", "initial_window", "detection", "bottleneck_pps", "buffer"),
    *("rto_assumed", "sender"),
}
VIDEO_KEYS = {"packet_rate_pps", "bitrate_bps", "packet_size_bytes", "duration_s", "playback_curve_points"}
EVERY = {"schema", "version", "parameters", "warnings"}
SOLVED = EVERY | {"model", "throughput_pps", "load", "error_bound"}
TARGETS = {"target_late_fraction", "target_no_late"}
NO_LATE = {"no_late_probability", "no_late_lower_bound"}
QUANTUM = {"quantum_packets", "quantum_error"}
ESTIMATED = {
    *("loss", "loss_event_rate", "rtt_s", "rto_s", "timeout_ratio", "throughput_pps", "throughput_bps"),
    *("packets", "timeouts", "intervals", "how", "vantage", "flow", "duration_s", "packet_size_bytes", "warnings"),
    *("sack", "decrease", "proposal", "detection", "first_flight", "limitation", "link"),
    *("loss_process", "packets_per_ack", "other_flows", "rtt_q10_s", "rtt_q50_s", "rtt_q90_s", "rtt_q99_s"),
}


@pytest.fixture
def path():
    return tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)


def answer(done, keys, parameters):
    assert done.status == 0
    assert done.err == ""
    assert set(done.answer) == keys
    assert set(done.answer["parameters"]) == parameters
    assert done.answer["schema"] == SCHEMA
    assert done.answer["version"] == tcpstream.__version__
    assert done.answer["warnings"] == []
    return done.answer


def test_throughput(run, path):
    found = answer(
        run(f"throughput {PATH} --packet-size 1000 --json"),
        EVERY | {"throughput_pps", "throughput_bps", "formulas"},
        PATH_KEYS | {"packet_size_bytes"},
    )
    assert found["throughput_pps"] == tcpstream.throughput(path)
    assert found["throughput_bps"] == 8000 * found["throughput_pps"]
    assert found["formulas"] == {name: formula(path) for name, formula in ALL.items()}


def test_stored(run, path):
    found = answer(
        run(f"{STORED} --delay 2,500ms,2 --json"),
        SOLVED | {"startup_delay_s", "late_fraction"} | NO_LATE | QUANTUM,
        PATH_KEYS | VIDEO_KEYS | {"horizon"},
    )
    result = tcpstream.stored(path, tcpstream.Video(packet_rate=25, duration=8))
    delays = [2.0, 0.5, 2.0]
    assert found["startup_delay_s"] == delays
    assert found["late_fraction"] == result.late_fraction(delays).tolist()
    assert found["no_late_probability"] == result.no_late_probability(delays).tolist()
    assert found["no_late_lower_bound"] == result.no_late_lower_bound(delays).tolist()
    assert found["load"] == pytest.approx(25 / found["throughput_pps"])


def test_stored_per_round_with_the_papers_horizon(run, path):
    found = answer(
        run(f"{STORED} --delay 1,2 --horizon paper --per-round --json"),
        SOLVED | {"startup_delay_s", "late_fraction", "late_probability_per_round"} | NO_LATE | QUANTUM,
        PATH_KEYS | VIDEO_KEYS | {"horizon"},
    )
    result = tcpstream.stored(path, tcpstream.Video(packet_rate=25, duration=8), horizon="paper")
    assert found["parameters"]["horizon"] == "paper"
    assert found["late_probability_per_round"] == [result.late_probability_per_round(tau).tolist() for tau in (1, 2)]


def test_stored_from_a_playback_file(run, path, tmp_path):
    file = tmp_path / "curve.csv"
    file.write_text("time_s,packets\n0,0\n2,80\n8,200\n")
    found = run(f"stored {PATH} --playback {file} --delay 1 --json").answer
    video = tcpstream.Video(curve=([0, 2, 8], [0, 80, 200]))
    assert found["parameters"]["playback_curve_points"] == 3
    assert found["late_fraction"] == [tcpstream.stored(path, video).late_fraction(1.0)]
    wait = run(f"delay {PATH} --playback {file} --json").answer
    assert wait["required_startup_delay_s"] == tcpstream.stored(path, video).required_delay()


@pytest.mark.parametrize("duration", [None, 8])
def test_live(run, path, duration):
    found = answer(
        run(f"{LIVE} --delay 1,0 --json {f'--duration {duration}' if duration else ''}"),
        SOLVED | {"startup_delay_s", "late_fraction", "lattice_error"},
        PATH_KEYS | VIDEO_KEYS,
    )
    result = tcpstream.live(path, tcpstream.Video(packet_rate=10, duration=duration))
    assert found["late_fraction"] == result.late_fraction([1.0, 0.0]).tolist()
    assert found["parameters"]["duration_s"] == duration


def test_delay_live(run, path):
    found = answer(
        run(f"delay {PATH} --rate 120kbps --live --json"),
        SOLVED | {"required_startup_delay_s", "lattice_error"},
        PATH_KEYS | VIDEO_KEYS | TARGETS,
    )
    assert found["parameters"]["target_late_fraction"] == 1e-4
    assert found["parameters"]["packet_rate_pps"] == 10
    result = tcpstream.live(path, tcpstream.Video(packet_rate=10))
    assert found["required_startup_delay_s"] == result.required_delay()


def test_live_of_an_application_limited_sender(run):
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3, max_window=4)
    video = tcpstream.Video(packet_rate=10)
    result = tcpstream.live(path, video, growth="limited")
    found = run(f"{LIVE} --max-window 4 --delay 1,0 --application-limited --json").answer
    assert found["late_fraction"] == result.late_fraction([1.0, 0.0]).tolist()
    assert 0 < max(found["lattice_error"]) < 0.2
    short = tcpstream.Video(packet_rate=10, duration=8)
    capped = run(f"{LIVE} --max-window 4 --duration 8 --delay 1,0 --application-limited --json").answer
    expected = tcpstream.live(path.application_limited(10), short).late_fraction([1.0, 0.0]).tolist()
    assert capped["late_fraction"] == expected
    wait = run(f"delay {PATH} --max-window 4 --rate 10pps --live --application-limited --json").answer
    assert wait["required_startup_delay_s"] == result.required_delay()
    assert found["parameters"]["growth"] == wait["parameters"]["growth"] == "limited"
    refused = run(f"delay {PATH} --rate 10pps --duration 8 --application-limited")
    assert "--application-limited is for a live stream" in refused.err


@pytest.mark.parametrize(("option", "name"), [("target", "target"), ("target-no-late", "no_late")])
def test_delay_stored(run, path, option, name):
    found = answer(
        run(f"delay {PATH} --rate 25pps --duration 8 --{option} 0.01 --json"),
        SOLVED | QUANTUM | {"required_startup_delay_s"},
        PATH_KEYS | VIDEO_KEYS | TARGETS,
    )
    result = tcpstream.stored(path, tcpstream.Video(packet_rate=25, duration=8))
    assert found["required_startup_delay_s"] == result.required_delay(**{name: 0.01})


@pytest.mark.parametrize(
    ("command", "keys", "parameters"),
    [
        (f"live {PATH} --rate 100pps --delay 1,2", {"startup_delay_s", "late_fraction"}, set()),
        (f"delay {PATH} --rate 100pps --live", {"required_startup_delay_s"}, TARGETS),
    ],
)
def test_no_finite_delay(run, command, keys, parameters):
    done = run(f"{command} --json")
    assert done.status == 3
    found = done.answer
    assert set(found) == SOLVED - {"error_bound"} | keys | {"carried", "reason"}
    assert set(found["parameters"]) == PATH_KEYS | VIDEO_KEYS | parameters
    assert found.get("late_fraction", found.get("required_startup_delay_s")) is None
    assert found["load"] == pytest.approx(100 / found["throughput_pps"])
    assert done.err == f"tcpstream: {found['reason']}\n"


def test_estimate(run, capture):
    done = run(f"estimate {capture} --json")
    assert done.status == 0
    assert set(done.answer) == EVERY | ESTIMATED | {"constancy"}
    assert done.answer["parameters"] == {"file": str(capture)}
    estimate = tcpstream.estimate(capture).to_dict()
    assert {key: done.answer[key] for key in estimate} == estimate


def test_estimate_parts(run, capture):
    segments = run(f"estimate {capture} --segments 10s --json").answer
    assert set(segments) == EVERY | {"segments"}
    assert segments["parameters"] == {"file": str(capture), "segments_s": 10}
    expected = tcpstream.traces.estimate_segments(capture, 10)
    assert segments["segments"] == [part.to_dict() for part in expected]
    assert set(segments["segments"][0]["estimate"]) == ESTIMATED
    flows = run(f"estimate {capture} --all --json").answer
    assert set(flows) == EVERY | {"flows"}
    assert [part["estimate"] for part in flows["flows"]] == [tcpstream.estimate(capture).to_dict()]


def test_estimate_of_a_report(run, capture):
    file = capture.with_name("linux-reno-ss.txt")
    done = run(f"estimate {file} --json")
    expected = tcpstream.traces.estimate_report(file).to_dict()
    assert set(done.answer) == EVERY | set(expected)
    assert {key: done.answer[key] for key in expected} == expected
    assert done.answer["loss_event_rate"] is None
    assert "80.41" in run(f"estimate {file}").out


def test_capture_key(run, capture):
    done = run(f"throughput --capture {capture} --json")
    intervals = {"throughput_interval_pps", "formulas_interval"}
    assert set(done.answer) == EVERY | {"throughput_pps", "throughput_bps", "formulas", "capture"} | intervals
    assert set(done.answer["capture"]) == ESTIMATED

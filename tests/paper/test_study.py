"""The study of Section 4: interruptions cost nothing, verdicts are those of the definition, the record is whole."""

import json
import math
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tcpstream
from tcpstream.errors import InputError
from tcpstream.numerics.confidence import wilson
from tcpstream.paper.compare import INPUTS, Point, compare, interval
from tcpstream.paper.record import from_data, recorded, shares, to_data
from tcpstream.paper.settings import SETTINGS
from tcpstream.paper.study import Scale, achieved, key, read, run_study, size
from tcpstream.sim import rounds_agent

TINY = Scale(ahead=1, live=1, stored=3, shorter=100.0)
STUDY = f"""
from pathlib import Path
from tcpstream.paper.study import Scale, run_study
run_study({TINY!r}, Path(__import__("sys").argv[1]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "whole.jsonl"
    run_study(TINY, file)
    return read(file)


def test_a_killed_study_continues_and_ends_the_same(runs, tmp_path):
    file = tmp_path / "killed.jsonl"
    for lines in (8,):
        process = subprocess.Popen([sys.executable, "-c", STUDY, str(file)])
        while process.poll() is None and len(read_lines(file)) < lines:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert lines <= len(read(file)) < size(TINY)
    with file.open("a") as out:
        out.write('{"kind": "live", "setti')  # as if killed while writing
    done = []
    run_study(TINY, file, lambda: done.append(1))
    assert len(done) == size(TINY)
    assert sorted(read(file), key=key) == sorted(runs, key=key)


def read_lines(file):
    return file.read_text().splitlines() if file.exists() else []


def test_runs_of_another_length_are_not_mixed(runs, tmp_path):
    file = tmp_path / "other.jsonl"
    file.write_text(json.dumps(runs[0]) + "\n")
    with pytest.raises(InputError, match="holds runs of another length"):
        run_study(Scale(1, 1, 3, shorter=50.0), file)


def test_every_setting_has_its_runs_and_its_rate(runs):
    assert len(runs) == size(TINY) == 5 + 5 + 5 + 15
    for setting in SETTINGS:
        T = achieved(runs, setting)
        found = [one for one in runs if one["setting"] == setting.name and one["kind"] == setting.kind]
        assert len(found) == (1 if setting.kind == "live" else 3)
        assert {one["rate"] for one in found} == {setting.load * T}
        assert setting.load == setting.packet_rate / setting.throughput


def test_comparison(runs):
    """The model of the comparison is the model of the package, at what the runs saw."""
    setting = SETTINGS[8]
    one = compare(setting, runs)
    T, R, T_O = achieved(runs, setting), one.rtt, one.timeout_ratio
    path = tcpstream.Path(sender="classic", loss=one.loss_events, rtt=R, timeout_ratio=T_O, max_window=64)
    video = tcpstream.Video(packet_rate=one.packet_rate, duration=80)
    assert one.points[7].model["events"] == tcpstream.stored(path, video).late_fraction(one.points[7].delay)
    assert one.model_throughput["events"] == tcpstream.throughput(path)
    assert one.model_throughput["throughput"] == pytest.approx(T, rel=1e-4)
    assert [rate for rate, *_ in one.no_late] == pytest.approx([T * mu / 71.4 for mu in (51, 55, 60)])
    kept = json.dumps(to_data([one]), allow_nan=False)
    assert json.dumps(to_data(from_data(json.loads(kept)))) == kept


@pytest.mark.parametrize(
    ("f", "verdict"),
    [(0.011, "inside"), (0.009, "inside"), (0.0075, "within 2"), (0.02, "within 2"), (0.021, "within 5"),
     (0.002, "within 5"), (0.0019, "off"), (0.051, "off"), (math.nan, "off")],
)  # fmt: skip
def test_verdicts(f, verdict):
    """Section 4.1: inside the interval, or within a factor; here of a simulated 0.01 in 0.008..0.012."""
    assert Point(1.0, 0.01, 0.008, 0.012, {"events": f}).verdict("events") == verdict


def test_intervals():
    """Student's t for three values (t = 4.302653, tables); Wilson for 8 of 10 (Wikipedia: 0.490..0.943)."""
    assert interval(np.array([[1.0], [2.0], [3.0]]))[0] == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_the_record_is_whole():
    found = recorded()
    assert [one.setting for one in found] == list(SETTINGS)
    for one in found:
        assert one.runs == (60 if one.setting.kind == "live" else 1000)
        assert {given for point in one.points for given in point.model} == set(INPUTS)
    points = [point for one in found for point in one.points if point.simulated >= 1e-3]
    inside = sum(point.low <= point.model["events"] <= point.high for point in points)
    assert shares(found, "events")["inside"] == inside / len(points)


def test_the_record_is_of_this_model():
    one = next(one for one in recorded() if one.setting.name == "stored 4")
    path = tcpstream.Path(
        sender="classic", loss=one.loss_events, rtt=one.rtt, timeout_ratio=one.timeout_ratio, max_window=64
    )
    f = tcpstream.stored(path, tcpstream.Video(packet_rate=one.packet_rate, duration=80)).late_fraction(6.0)
    assert next(point for point in one.points if point.delay == 6.0).model["events"] == pytest.approx(f, rel=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_agent_obeys_the_chain(seed):
    """Late fractions of packets, played one by one, lie between the chain's half a packet earlier and later."""
    runs, p, R, T_O, mu = 30, 0.02, 0.1, 3.0, 40.0
    path = tcpstream.Path(sender="classic", loss=p, rtt=R, timeout_ratio=T_O, max_window=24)
    taus = np.array([1.0, 2.0, 3.0])
    agents = [
        rounds_agent(loss=p, rtt=R, timeout_ratio=T_O, max_window=24, duration=3000, rng=rng, packet_rate=mu)
        for rng in np.random.default_rng(seed).spawn(runs)
    ]
    late = np.array([one.late_fraction(taus) for one in agents])
    error = 4 * late.std(axis=0, ddof=1) / math.sqrt(runs)
    chain = tcpstream.live(path, tcpstream.Video(packet_rate=mu))
    assert (late.mean(axis=0) < chain.late_fraction(taus - 1 / mu) + error).all()
    assert (late.mean(axis=0) > chain.late_fraction(taus + 1 / mu) - error).all()
    T = [
        rounds_agent(loss=p, rtt=R, timeout_ratio=T_O, max_window=24, duration=3000, rng=rng).throughput
        for rng in np.random.default_rng(seed).spawn(runs)
    ]
    assert np.mean(T) == pytest.approx(tcpstream.throughput(path), abs=4 * np.std(T) / math.sqrt(runs))

"""How near the answers at ordinary rates are, on the command line."""

import json
import re

import pytest

VIDEO = "--loss 0.004 --rtt 60ms --rto 260ms --rate 1.5Mbps --duration 5min --sender classic"


@pytest.mark.parametrize("accuracy", ["", pytest.param("--accuracy fine", marks=pytest.mark.long), "--accuracy fast"])
def test_a_long_video_is_answered_with_its_errors(run, accuracy):
    done = run(f"stored {VIDEO} {accuracy} --delay 1,2 --json")
    assert (done.status, done.err) == (0, "")
    answer = json.loads(done.out)
    assert answer["quantum_packets"] > 1
    assert 0 < answer["quantum_error"] < 0.2
    for name in ("late_fraction_relative_error", "late_probability_relative_error"):
        assert len(answer[name]) == 2
        assert all(0 < error < 0.5 for error in answer[name])


def test_what_is_seen_to_be_off_is_an_interval(run):
    line = "stored --loss 0.02 --rtt 100ms --sender classic --tcp reno-sack --rate 60pps --duration 30s --delay 0.5,4"
    (exact, _) = run(f"{line} --accuracy exact --json").answer["no_late_probability"]
    table = run(f"{line} --accuracy fine").out
    low, high = map(float, re.search(r"^0\.5 .* (\S+) to (\S+) ", table, re.MULTILINE).groups())
    assert low < exact < high
    assert " to " not in re.search(r"^4 .*", table, re.MULTILINE)[0]


def test_nothing_is_remarked_on_a_long_delay_that_nobody_gave(run):
    line = "--loss 0.3 --rtt 100ms --rto 300ms --sender classic --max-window 4 --rate 20pps --duration 5s"
    found = run(f"delay {line}")
    assert "Wait 301 s" in found.out
    assert "is longer than the video" not in found.err
    assert "is longer than the video of 5 s" in run(f"stored {line} --delay 301").err


def test_exact_says_so(run):
    video = VIDEO.replace("5min", "15s")
    exact, fine = (json.loads(run(f"stored {video} --accuracy {a} --delay 2 --json").out) for a in ("exact", "fine"))
    assert (exact["quantum_packets"], exact["quantum_error"]) == (1, 0.0)
    (f,), (g,), (error,) = exact["late_fraction"], fine["late_fraction"], fine["late_fraction_relative_error"]
    assert abs(f - g) <= error * f


def test_the_error_of_a_wait_is_that_of_its_target(run):
    """It grows as f falls, and was that of f = 1e-4 for every target."""
    told, video = [], VIDEO.replace("5min", "30s")
    for target in ("1e-2", "1e-4"):
        done = run(f"delay {video} --accuracy fine --target {target} --json")
        tau = json.loads(done.out)["required_startup_delay_s"]
        (error,) = json.loads(run(f"stored {video} --accuracy fine --delay {tau} --json").out)[
            "late_fraction_relative_error"
        ]
        out = run(f"delay {video} --accuracy fine --target {target}").out
        assert f"lattice error of f    {error:.2g} of itself" in out
        told.append(error)
    assert told[0] < told[1]


def test_live_streams_too(run):
    done = run(
        "live --loss 0.002 --rtt 80ms --rto 280ms --sender classic --rate 2Mbps --duration 24h --delay 1,5 --json"
    )
    assert (done.status, done.err) == (0, "")
    answer = json.loads(done.out)
    assert 0.03 < answer["late_fraction"][0] < 0.05
    assert all(0 < error < 0.2 for error in answer["lattice_error"])
    done = run("delay --live --loss 0.01 --rtt 100ms --rto 300ms --sender classic --rate 600kbps --accuracy fast")
    assert (done.status, done.err) == (0, "")
    assert "lattice error of f" in done.out
    assert "on coarse lattices" in done.out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"delay {VIDEO} --accuracy god", "--accuracy must be one of exact, fine, fast, got 'god'"),
        (f"live {VIDEO} --delay 1 --accuracy 1%", "--accuracy must be one of exact, fine, fast, got '1%'"),
    ],
)
def test_bad_accuracy(run, command, message):
    done = run(command)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_refused_exact_solve_says_what_would_help(run):
    done = run("delay --loss 1e-4 --rtt 30ms --rto 230ms --sender classic --rate 25Mbps --duration 2h --accuracy exact")
    assert (done.status, done.out) == (1, "")
    assert "or give --accuracy=fine" in done.err


def test_a_late_fraction_that_is_not_resolved_is_no_number(run):
    """The exact values are 0.135, 3.0e-3, 7.1e-4 and 5.6e-5 (--accuracy exact)."""
    line = "live --loss 7.1e-5 --rtt 100ms --timeout-ratio 2 --sender classic --max-window 8 --tcp reno-sack "
    line += "--rate 74.5pps --delay "
    coarse = run(f"{line} 0.05,0.1,0.15,0.2 --accuracy fast").out
    rows = dict(re.findall(r"^(0\.\d+) +(\S.*)$", coarse, re.MULTILINE))
    assert float(rows["0.05"]) > 0.1
    assert rows["0.1"].startswith("below ")
    assert float(rows["0.1"].split()[1]) > 3e-3
    assert rows["0.2"] == "not resolved: give --accuracy fine"
    assert "inf" not in coarse

"""``tcpstream fit``: as a process, its JSON beside Python's, the file that other commands read, bad input."""

from pathlib import Path

import pytest

import tcpstream

MOBILE = Path(__file__).parents[2] / "examples" / "mobile.csv"
LINE = f"fit {MOBILE} --rtt 50ms --sender linux --tcp reno-sack"


@pytest.fixture(scope="module")
def found():
    return tcpstream.fit_regimes(MOBILE, rtt=0.05, sender="linux", tcp="reno-sack", regimes=2)


def test_fit(process, run, tmp_path, found):
    file = tmp_path / "regimes.toml"
    done = process(f"{LINE} --regimes 2 --out {file} --json")
    assert (done.status, done.err) == (0, "")
    assert done.answer == found.to_dict()
    assert tcpstream.Varying.from_toml(file) == found.varying
    answer = run(f"stored --regimes {file} --rate 20pps --duration 4 --delay 1 --json").answer
    assert [one["name"] for one in answer["parameters"]["regimes"]] == ["slow", "fast"]


def test_table(run):
    done = run(f"{LINE} --regimes 2 --loss 0.1% --buffer 9")
    assert (done.status, done.err) == (0, "")
    for words in ("slow", "mean stay", "BIC", "loss 0.001", "buffer of 9 packets", "8 of 8 starts"):
        assert words in done.out


def test_the_example_is_as_it_was_drawn(found):
    """8 and 16 s in examples/draw_mobile.py; levels of 0.8 and 3.2 Mbit/s, which seconds with a change mix."""
    for one, level, stay in zip(found.regimes, (0.8e6, 3.2e6), (8, 16)):
        assert abs(one.mean_stay - stay) < 3 * one.stay_error
        assert one.throughput == pytest.approx(level, rel=0.05)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"fit {MOBILE}", "missing --rtt"),
        ("fit none.csv --rtt 50ms", "cannot read none.csv"),
        ("fit none.csv", "cannot read none.csv"),
        (f"{LINE} --regimes 2.5", "regimes must be a whole number"),
        (f"{LINE} --regimes 2 --tcp reno", "--tcp is given 2 times"),
        (f"{LINE} --regimes 2 --out none/regimes.toml", "cannot write none/regimes.toml"),
    ],
)
def test_bad_input(run, line, words):
    done = run(line)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


CAPTURE = MOBILE.with_name("linux-varying.pcap.gz")


def test_a_capture(run):
    """Its round trip, buffer and sender are seen: nothing else is asked for."""
    done = run(f"fit {CAPTURE} --regimes 2 --json")
    assert done.status == 0
    assert done.answer == tcpstream.fit_regimes(tcpstream.estimate(CAPTURE), regimes=2).to_dict()
    assert done.answer["trace"]["file"] == "10.9.0.1:10000 > 10.9.0.2:5001"

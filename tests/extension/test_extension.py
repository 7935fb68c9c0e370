"""A new TCP is one file and one record, a new metric one file; nothing else changes.

The TCP is copied into a package beside its record, and asked everything that others are asked.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path as FilePath

import numpy as np
import pytest
from extension.first_late import first_late

import tcpstream
from tcpstream import Path, Video, stored

HERE = FilePath(__file__).parent
RECORD = """
VARIANTS["aimd"] = Variant(
    chain="tcpstream.tcp.aimd:aimd",
    losses="bursts",
    text="additive increase, multiplicative decrease, losses in bursts",
    decrease=0.8,
    growth="2 packets in R",
    rounds_per_increase=(1,),
)
"""
MOST_LINES, MOST_OF_RECORD = 80, 10

ASKED = """
import json, warnings
import numpy as np
import tcpstream
from tcpstream import Path, Video, explore, live, stored, throughput
from tcpstream.explicit import explicit_live, explicit_live_finite, explicit_stored

path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1.5, max_window=8, tcp="aimd")
video, stream, short = Video(packet_rate=20, duration=6), Video(packet_rate=10), Video(packet_rate=20, duration=2)
written = explicit_stored(path, short).judge(0.3)
table = explore.sweep(explore.grid(sender="classic", loss=[0.05], rtt=0.1,
                                   timeout_ratio=1.5, max_window=8, tcp=["aimd"], packet_rate=20,
                                   duration=6, delay=[0.3, 1]), "stored")
print(json.dumps({
    "T": throughput(path),
    "stored": stored(path, video).late_fraction([0.3, 1]).tolist(),
    "alpha": stored(path, video).no_late_probability([0.3, 1]).tolist(),
    "short": [stored(path, short).late_fraction(0.3), stored(path, short).no_late_probability(0.3)],
    "explicit": [written.late_fraction, written.no_late_probability],
    "endless": live(path, stream).late_fraction([0, 1, 3]).tolist(),
    "explicit endless": explicit_live(path, stream, 0.0, depth=700).late_fraction([0, 1]).tolist(),
    "finite": float(live(path, short).late_fraction(0.3)),
    "explicit finite": explicit_live_finite(path, short, 0.3).late_fraction,
    "swept": table["late_fraction"].tolist(),
}))
"""


def lines(text):
    return len(text.strip().splitlines())


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package with the new TCP in it."""
    package = tmp_path_factory.mktemp("house") / "tcpstream"
    shutil.copytree(FilePath(tcpstream.__file__).parent, package)  # with what was compiled of it
    shutil.copy(HERE / "aimd.py", package / "tcp" / "aimd.py")
    with (package / "variants.py").open("a") as variants:
        variants.write(RECORD)
    return package.parent


def ran(house, *command):
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=500, cwd=house,
        env=os.environ | {"PYTHONPATH": str(house)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def answers(house):
    return json.loads(ran(house, "-c", ASKED))


def aimd_runs(runs, rounds, rng):
    """Packets delivered by the end of each round, by rules alone: 2 packets more a round, 8/10 after a loss."""
    delivered = np.zeros((runs, rounds + 1))
    for run in range(runs):
        window, level, fresh, wait = 1, 0, False, 0
        for i in range(1, rounds + 1):
            delivered[run, i] = delivered[run, i - 1]
            if wait > 0:
                wait -= 1
                continue
            size = 1 if level else window
            arrived = min(size, int(rng.geometric(0.05)) - 1)
            delivered[run, i] += arrived
            if level and arrived == 0:
                wait, level, fresh = silence(1.5 * 2 ** min(level, 6), rng), min(level + 1, 7), False
            elif level and not fresh:
                fresh = True
            elif level:
                level, fresh, window = 0, False, 2
            elif arrived == size:
                window = min(window + 2, 8)
            elif arrived >= 3:
                window = int(0.8 * window)
            else:
                wait, level = silence(1.5, rng), 1
    return delivered


def silence(rounds, rng):
    """Rounds to wait after this one, at random so that the mean is kept."""
    return int(rounds) + int(rng.random() < rounds % 1) - 1


def test_it_is_as_short_as_promised():
    assert lines((HERE / "aimd.py").read_text()) <= MOST_LINES
    assert lines(RECORD) <= MOST_OF_RECORD


def test_the_documentation_is_that_file():
    page = (HERE.parents[1] / "docs" / "add-a-tcp-variant.md").read_text()
    assert (HERE / "aimd.py").read_text().strip() in page


def test_its_answers_agree_with_each_other(answers):
    np.testing.assert_allclose(answers["short"], answers["explicit"], rtol=0, atol=1e-11)
    assert answers["finite"] == pytest.approx(answers["explicit finite"], abs=1e-11)
    np.testing.assert_allclose(answers["endless"][:2], answers["explicit endless"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(answers["swept"], answers["stored"], rtol=1e-12)


def test_its_answers_are_those_of_its_rules(answers):
    """Monte Carlo over 4000 videos of 6 s and 10 s more; four standard errors, a false alarm in 10,000 runs or so."""
    rng, runs = np.random.default_rng(1), 4000
    delivered = aimd_runs(runs, 70, rng)
    for delay, f, alpha in zip((0.3, 1), answers["stored"], answers["alpha"]):
        ends = np.arange(71) * 0.1 - delay
        due = np.clip(20 * ends, 0, 120)
        late = np.minimum(np.diff(due), np.maximum(due[1:] - delivered[:, 1:], 0)).sum(axis=1) / 120
        never = ~(due[1:] - delivered[:, 1:] > 1e-9).any(axis=1)
        assert f == pytest.approx(late.mean(), abs=4 * late.std() / runs**0.5)
        assert alpha == pytest.approx(never.mean(), abs=4 * (alpha * (1 - alpha) / runs) ** 0.5)
    rate = aimd_runs(40, 20_000, rng)[:, -1] / 20_000
    assert answers["T"] * 0.1 == pytest.approx(rate.mean(), abs=4 * rate.std() / 40**0.5)


LINES = """
import sys
from tcpstream.cli import main
for line in sys.argv[1:]:
    print("status", main(line.split()))
"""


def test_the_command_line_knows_it(house, answers):
    path = "--loss 0.05 --rtt 100ms --rto 150ms --max-window 8 --sender classic --tcp aimd --json"
    lines = ["delay --help", f"delay {path} --rate 20pps --duration 6s", f"throughput {path}"]
    shown, wait, throughput, end = ran(house, "-c", LINES, *lines).split("status 0\n")
    assert end == ""
    assert "aimd" in shown
    assert json.loads(wait)["parameters"]["tcp"] == "aimd"
    assert json.loads(throughput)["throughput_pps"] == pytest.approx(answers["T"], rel=1e-12)


def test_a_metric_of_its_own():
    path, video = (
        Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2, max_window=10),
        Video(packet_rate=25, duration=5),
    )
    times, probabilities = first_late(path, video, 0.5)
    result = stored(path, video)
    assert probabilities.sum() == pytest.approx(1 - result.no_late_probability(0.5), abs=1e-12)
    late = result.late_probability_per_round(0.5)
    assert (probabilities <= late + 1e-13).all()
    first = np.flatnonzero(late > 1e-12)[0]
    assert probabilities[first] == pytest.approx(late[first], abs=1e-13)  # who is late then was not before
    assert times[first] == pytest.approx(0.1 * (first + 1))

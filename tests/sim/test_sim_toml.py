"""Experiments from TOML files."""

import re
from pathlib import Path

import numpy as np
import pytest

from tcpstream import Video
from tcpstream.errors import InputError
from tcpstream.sim import (
    Backlogged,
    Change,
    Dumbbell,
    Flow,
    GilbertElliott,
    Link,
    Requests,
    RoundLoss,
    Scenario,
    Steady,
    Tcp,
    TokenBucket,
    read_experiment,
)
from tcpstream.sim.files import plain

EXAMPLES = Path(__file__).parents[2] / "examples"
RNG = np.random.default_rng(1)

NETWORK = """
seconds = 50
[video]
packet_rate = 25
live = true
delays = [1, 2.5]
[links.down]
delay = 0.1
rate = 1e6
queue = 20
loss = { process = "gilbert-elliott", to_bad = 0.01, to_good = 0.5 }
bucket = { rate = 5e5, depth = 3000 }
changes = [{ at = 10, rate = 2e6 }]
[links.up]
delay = 0.1
capacity = "up.trace"
[links.side]
delay = 0
loss = { process = "trace", file = "lost.trace" }
[[flows]]
there = ["down", "side"]
back = ["up"]
measured = true
start = 5
tcp = { variant = "sack", slow_start = false }
[[flows]]
there = ["down"]
back = ["up"]
source = { kind = "requests", file = "web.csv" }
[[flows]]
there = ["down"]
tcp = false
source = { kind = "steady", packet_rate = 10 }
[[flows]]
there = ["down"]
back = ["up"]
source = { kind = "backlogged" }
"""

DUMBBELL = """
runs = 3
seed = 9
[video]
bitrate = 240e3
duration = 80
[dumbbell]
rate = 3.7e6
delay = 0.02
queue = 50
transfers = 2
loss = { process = "round", p = 0.01 }
tcp = { packet_size = 1000 }
"""


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def read(tmp_path):
    """Read a text as a file beside some traces."""
    (tmp_path / "up.trace").write_text("5\n10\n")
    (tmp_path / "lost.trace").write_text("0\n1\n")
    (tmp_path / "web.csv").write_text("think_s,packets\n1,2\n")

    def call(text, **instead):
        (tmp_path / "case.toml").write_text(text)
        return read_experiment(tmp_path / "case.toml", **instead)

    return call


def test_network(read):
    found = read(NETWORK)
    assert (found.start, found.delays, found.seconds, found.runs, found.seed) == (5, (1, 2.5), 50, 10, 1)
    assert found.video == Video(packet_rate=25)
    scenario = found.make(RNG)
    assert isinstance(scenario, Scenario)
    assert scenario.links["down"] == Link(
        0.1, 1e6, 20, loss=GilbertElliott(0.01, 0.5), bucket=TokenBucket(5e5, 3000), changes=(Change(10, rate=2e6),)
    )
    assert scenario.links["up"].capacity.tolist() == [0.005, 0.01]
    assert scenario.links["side"].loss.lost.tolist() == [False, True]
    video, web, datagrams, transfer = scenario.flows
    tcp = Tcp("sack", slow_start=False)
    assert video == Flow(("down", "side"), ("up",), tcp, Steady(25), start=5, measured=True)
    assert web.source.packets.tolist() == [2]
    assert datagrams == Flow(("down",), tcp=None, source=Steady(10))
    assert transfer == Flow(("down",), ("up",))


def test_dumbbell(read):
    found = read(DUMBBELL)
    assert found.video == Video(packet_rate=30, packet_size=1000, duration=80)
    assert (found.runs, found.seed, found.seconds, found.start) == (3, 9, 80, 20)
    dumbbell = Dumbbell(3.7e6, 0.02, 50, 2, loss=RoundLoss(0.01), tcp=Tcp(packet_size=1000))
    made, wanted = (make(np.random.default_rng(3)) for make in (found.make, dumbbell.scenario))
    assert plain(made) == plain(wanted)
    assert made.flows[0].source == Backlogged()


def test_what_is_given_instead(read):
    found = read(DUMBBELL, delays=(4.0,), runs=2, seed=1, seconds=100.0)
    assert (found.delays, found.runs, found.seed, found.seconds) == ((4.0,), 2, 1, 100)


@pytest.mark.parametrize("name", ["cell.toml", "dumbbell.toml"])
def test_examples(name):
    experiment = read_experiment(EXAMPLES / name, runs=1)
    (run,) = experiment.run()
    assert experiment.outcome([run])["throughput_pps"] > 10


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("queue = 20", "queu = 20", "links.down: unknown key 'queu'; accepted are delay, rate, queue, queue_bytes, "),
        ("queue = 20", "queue = 0", "links.down: queue must be a whole number of at least 1 packets, got 0 packets"),
        ("delay = 0.1\nrate", "rate", "links.down: delay is needed"),
        (
            '"gilbert-elliott"',
            '"gilbert"',
            "links.down.loss.process must be one of bernoulli, round, gilbert-elliott, ",
        ),
        ("to_bad = 0.01, ", "", "links.down.loss: to_bad is needed"),
        ("depth = 3000", "depth = 3", "links.down.bucket: token bucket depth must be at least 1500 bytes, got 3 bytes"),
        ("{ at = 10,", "{ when = 10,", "links.down.changes[1]: unknown key 'when'; accepted are at, rate, delay, loss"),
        ("[{ at = 10, rate = 2e6 }]", "3", "links.down.changes must be a list of tables, got 3"),
        ('"up.trace"', '"none.trace"', "none.trace: No such file or directory"),
        ('"up.trace"', "5", "links.up.capacity must be the name of a file, got 5"),
        ('file = "lost.trace"', 'name = "lost.trace"', "links.side.loss: unknown key 'name'; accepted are file"),
        ('"down", "side"', '"down", "aside"', "there is no link 'aside'; there are 'down', 'up', 'side'"),
        ('["down", "side"]', '"down"', "flows[1].there must be a list of names of links, got 'down'"),
        ("measured = true", "measured = 1", "flows[1].measured must be true or false, got 1"),
        ("measured = true", "", "flows: exactly one of TCP must be measured, got 0"),
        ("measured = true", 'measured = true\nsource = { kind = "steady" }', "flows[1].source: the measured flow"),
        ('"sack"', '"bbr"', "flows[1].tcp: TCP variant must be one of reno, newreno, sack, "),
        ("slow_start = false", "slow_start = 0", "flows[1].tcp.slow_start must be true or false, got 0"),
        ("tcp = false", "tcp = true", "flows[3].tcp must be a table, got True"),
        (
            '"backlogged"',
            '"endless"',
            "flows[4].source.kind must be one of backlogged, steady, ping, tfrc, layered, forwarded, relayed, lc_rtp, "
            "requests, FILE.py:CLASS, realplayer, realplayer_tcp, wsm, wmp, quicktime, got 'endless'",
        ),
        ("packet_rate = 25", "", "give the playback rate"),
        ("packet_rate = 25", "rate = 25", "video: unknown key 'rate'; accepted are packet_rate, bitrate, live, "),
        ("live = true", "live = true\nduration = 8", "video: give live = true, or the duration of a stored video [s]"),
        ("live = true", "", "video: give live = true, or the duration"),
        ("delays = [1, 2.5]", "delays = 1", "video.delays must be a list of times [s], got 1"),
        ("delays = [1, 2.5]", 'delays = ["1s"]', "startup delay must be a number in s, got '1s'"),
        ("seconds = 50", "second = 50", "the file: unknown key 'second'; accepted are video, player, links, flows, "),
        ("seconds = 50", "seconds = 2", "simulated time must be longer than the longest startup delay, 2.5 s, got 2 s"),
        ("seconds = 50", "[dumbbell]", "give either [dumbbell], or [links.NAME] and [[flows]]"),
        ("seconds = 50", "runs = 1000000000", "number of runs must be at most 100,000, got 1,000,000,000"),
        ("packet_rate = 25", "packet_rate = 1e9", "50 s of this video are 5e+10 packets, more than 1e+09"),
        ("seconds = 50", "seconds = 1979-05-27", "simulated time must be a number in s, got datetime.date"),
        ("queue = 20", "queue = [1]", "queue must be a number in packets, got [1]"),
        ("queue = 20", "queue = 0x1" + 5000 * "0", "queue must be a number in packets, got <int>"),
        ('"up.trace"', '"a\\u0000b"', "b: no file has such a name"),
        ("delay = 0\n", "delay.a" + 3000 * ".a" + " = 0\n", "case.toml: "),
        ("seconds = 50", "seconds =", "is not TOML: Invalid value (at line 2, column 10)"),
    ],
)
def test_errors_name_the_key(read, old, new, words):
    assert old in NETWORK
    with pytest.raises(InputError, match=re.escape(words)) as error:
        read(NETWORK.replace(old, new, 1))
    assert "case.toml" in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none.toml: No such file or directory"):
        read_experiment(tmp_path / "none.toml")


def test_bundled_requests(read, tmp_path):
    (tmp_path / "requests.csv").write_bytes((EXAMPLES / "requests.csv").read_bytes())
    made = read(DUMBBELL.replace("transfers = 2", 'web = 1\nrequests = "requests.csv"')).make(RNG)
    drawn = [flow.source for flow in made.flows if isinstance(flow.source, Requests)]
    assert {(len(source.packets), int(source.packets.sum())) for source in drawn} == {(1000, 6492)}

"""Applications from Python files, in scenario files, and in saved runs."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Clip, Link, Observation, Ping, Run, Steady, Tcp, read_experiment, simulate
from tcpstream.sim.files import plain

EXAMPLES = Path(__file__).parents[2] / "examples"

PLAYER = '''
from __future__ import annotations
from dataclasses import dataclass
from tcpstream import sim

class Sender(sim.Server):
    def __init__(self, player):
        self.player = player
    def start(self, host):
        for level, rate in enumerate(self.player.clip.rates):
            host.send(int(rate), level)
    def message(self, host, message):
        host.note("report", message)

class Viewer(sim.Client):
    def start(self, host):
        host.wake("report", 1.0)
    def timer(self, host, name):
        host.tell(int(host.arrived().size.sum()))

@dataclass(frozen=True)
class Small(sim.Application):
    """Sends a packet of each rate, and reports their bytes."""
    clip: sim.Clip
    weights: tuple[float, ...] = ()
    checked: int = 1
    def __post_init__(self):
        if self.checked > 1:
            raise ValueError("checked is at most 1")
    def server(self):
        return Sender(self)
    def client(self):
        return Viewer()
    def figures(self, traffic, duration):
        return {"reported": traffic.noted("report")[1].sum()}
class Bare(sim.Application):
    pass
'''

NETWORK = """
seconds = 5
runs = 2
bins = 2.5
[links.down]
delay = 0.1
[links.up]
delay = 0.1
[[flows]]
name = "small"
there = ["down"]
back = ["up"]
tcp = false
measured = true
source = { kind = "player.py:Small", clip = { duration = 9, rates = [100, 200], audio = [10, 20] }, weights = [1, 2] }
[[flows]]
there = ["down"]
back = ["up"]
measured = true
tcp = { max_window = 2 }
[[flows]]
there = ["down"]
back = ["up"]
tcp = false
source = { kind = "ping", interval = 0.5 }
[[flows]]
there = ["down"]
tcp = false
source = { kind = "steady", packet_rate = 10 }
"""


@pytest.fixture
def read(tmp_path):
    def of(text, player=PLAYER):
        (tmp_path / "player.py").write_text(player)
        (tmp_path / "case.toml").write_text(text)
        return read_experiment(tmp_path / "case.toml")

    return of


def test_a_scenario_without_a_video(read):
    observation = read(NETWORK)
    assert isinstance(observation, Observation)
    assert (observation.seconds, observation.runs, observation.seed) == (5, 2, 1)
    scenario = observation.make(np.random.default_rng(1))
    small, tcp, ping, steady = scenario.flows
    assert (small.source.clip, small.source.weights) == (Clip(9, (100, 200), (10, 20)), (1, 2))
    assert (small.name, scenario.name(0), scenario.name(1), scenario.bins) == ("small", "small", "flow 2", 2.5)
    assert (tcp.tcp, ping.source, steady.source) == (Tcp(max_window=2), Ping(0.5), Steady(10))
    runs = observation.run()
    found = observation.outcome(runs)["flows"]
    assert [flow["name"] for flow in found] == ["small", "flow 2", "flow 3", "flow 4"]
    assert found[0]["figures"] == {"reported": 300}
    assert found[0]["intervals"]["figures"] == {"reported": [300, 300]}
    assert found[2]["figures"] == {"rtt_s": pytest.approx(0.2), "rtt_median_s": pytest.approx(0.2), "loss": 0}
    assert found[3]["sent_bps"] == pytest.approx(51 * 12000 / 5)
    assert found[3]["received_bps"] == pytest.approx(50 * 12000 / 5)
    assert [flow["loss"] for flow in found] == [0] * 4
    assert found[1]["received_bps"] == pytest.approx(8 * runs[0].traffic[1].there.received_bytes / 5)


def test_it_may_be_put_beside_a_video(read):
    text = NETWORK.replace("runs = 2", "runs = 1\n[video]\npacket_rate = 5\nlive = true\ndelays = [1]").replace(
        "bins = 2.5\n", ""
    )
    experiment = read(text)
    (run,) = experiment.run()
    assert len(run.flows) == 1
    assert experiment.outcome([run])["late_fraction"] == [0]
    assert run.traffic[0].noted("report")[1].tolist() == [300]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("player.py:Small", "player.py:Large", "player.py has no application 'Large', a dataclass"),
        ("player.py:Small", "player.py:Sender", "player.py has no application 'Sender', a dataclass"),
        ("player.py:Small", "player.py:Bare", "player.py has no application 'Bare', a dataclass"),
        ("player.py:Small", "none.py:Small", "flows[1].source.kind: there is no Python file "),
        ("player.py:Small", "player:Small", "flows[1].source.kind must be one of backlogged, steady, ping, tfrc, "),
        ("weights", "weight", "flows[1].source: unknown key 'weight'; accepted are clip, weights, checked"),
        ("weights = [1, 2]", "checked = 2", "flows[1].source: ValueError: checked is at most 1"),
        ("[100, 200]", "[200, 100]", "flows[1].source.clip: rates of a clip must increase"),
        ("duration = 9", "length = 9", "flows[1].source.clip: unknown key 'length'; accepted are duration, rates"),
        ("seconds = 5", "", "without [video] it must be said how many seconds are simulated: seconds = 100"),
        ("seconds = 5", "seconds = 0", "simulated time must be greater than 0 s, got 0 s"),
        ("runs = 2", "runs = 0", "number of runs must be a whole number of at least 1, got 0"),
        ("runs = 2", "runs = 1e9", "number of runs must be at most 100,000, got 1,000,000,000"),
        ("bins = 2.5", "bins = 0", "width of time bins must be greater than 0 s, got 0 s"),
        ("bins = 2.5", "[player]", "startup delays and a player are those of a video: a table [video] is needed"),
        ('name = "small"', "name = 1", "flows[1]: the name of a flow must be text, got 1"),
        ('back = ["up"]', "", "flows[1]: an application needs at least one link back"),
    ],
)
def test_errors_name_the_key(read, old, new, words):
    assert old in NETWORK
    with pytest.raises(InputError, match=re.escape(words)) as error:
        read(NETWORK.replace(old, new, 1))
    assert "case.toml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_this_name", "player.py does not run: ModuleNotFoundError: No module named"),
        ("def (", "player.py does not run: SyntaxError: "),
    ],
)
def test_files_that_do_not_run(read, text, words):
    with pytest.raises(InputError, match=words):
        read(NETWORK, text)


def test_startup_delays_need_a_video(read, tmp_path):
    read(NETWORK)
    with pytest.raises(InputError, match="startup delays and a player are those of a video"):
        read_experiment(tmp_path / "case.toml", delays=(1.0,))
    (tmp_path / "case.toml").write_text("[dumbbell]\nrate = 1e6\ndelay = 0.01\nqueue = 5\n")
    with pytest.raises(InputError, match=re.escape("a dumbbell carries a video: a table [video] is needed")):
        read_experiment(tmp_path / "case.toml")


def test_saved_runs_know_their_applications(read, tmp_path):
    """Where the class is known the scenario is the same; elsewhere its settings are there, and it cannot run."""
    scenario = read(NETWORK).make(np.random.default_rng(1))
    run = simulate(scenario, 5.0, np.random.default_rng(1))
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    assert again.scenario == scenario
    assert [one.notes for one in again.traffic] == [one.notes for one in run.traffic]
    code = f"""
import json, numpy as np
from tcpstream import sim
from tcpstream.sim.files import plain
run = sim.Run.load({str(tmp_path / "run.npz")!r})
print(json.dumps(plain(run.scenario)))
run.save({str(tmp_path / "again.npz")!r})
try:
    sim.simulate(run.scenario, 1.0, np.random.default_rng(1))
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    text, error = done.stdout.splitlines()
    assert '"kind": "player.Small"' in text
    assert error == "the application player.Small is not known here: import its module"
    assert Run.load(tmp_path / "again.npz").scenario == scenario


def test_runs_of_before(read, tmp_path):
    """What was saved when there was no traffic can still be read."""
    scenario = replace(read(NETWORK).make(np.random.default_rng(1)), bins=None)
    run = simulate(replace(scenario, flows=scenario.flows[1:2]), 5.0, np.random.default_rng(1))
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        parts = {name: archive[name] for name in archive.files if name not in ("there", "back")}
    parts["about"] = np.array(str(parts["about"]).replace(', "notes": [[]]', ""))
    np.savez_compressed(tmp_path / "old.npz", **parts)
    old = Run.load(tmp_path / "old.npz")
    assert old.traffic == []
    assert (old.flows[0].times == run.flows[0].times).all()


def test_the_player_of_the_guide():
    """It is one file, adapts beside a download, plays all of its clip, and the figures say so."""
    assert len((EXAMPLES / "player.py").read_text().splitlines()) <= 150
    observation = read_experiment(EXAMPLES / "player.toml")
    scenario = observation.make(np.random.default_rng(1))
    wide = dict(scenario.links) | {"down": Link(0.02, 2e6)}
    alone = replace(scenario, links=wide, flows=scenario.flows[:1])
    beside, quiet = (simulate(one, observation.seconds, np.random.default_rng(1)) for one in (scenario, alone))
    rates = scenario.flows[0].source.clip.rates
    media = 8 * quiet.traffic[0].there.sent_bytes
    assert media == pytest.approx(rates[-1] * 90, rel=0.01)  # twice the highest level fits this link
    assert quiet.traffic[0].there.dropped == 0
    assert quiet.traffic[0].noted("level")[1].tolist() == [len(rates) - 1]
    assert quiet.traffic[0].noted("plays")[0].tolist() == [3.0]  # 5 s of media at twice their rate
    times, levels = beside.traffic[0].noted("level")
    assert levels[-1] < levels[0]
    assert (times > scenario.flows[1].start).any()
    assert beside.traffic[1].there.received_bytes > 0
    assert plain(scenario)["flows"][0]["source"]["kind"] == "player.Adaptive"

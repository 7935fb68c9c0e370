"""Flows under TFRC on networks: accounts, seeds, files, and who gets how much."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Bernoulli, Flow, Link, Observation, Run, Scenario, Tcp, Tfrc, read_experiment, simulate
from tcpstream.sim.tfrc.equation import throughput
from tcpstream.sim.tfrc.tfrc_figures import figures
from tcpstream.sim.traffic import Count, Note, Traffic

ROUTES = {"there": ("down",), "back": ("up",)}
UP = Link(0.02)


def narrow(rate: float = 1e6, queue: int = 30) -> Link:
    """A link of 20 ms with room for some packets."""
    return Link(0.02, rate=rate, queue=queue)


def ran(down: Link, *flows: Flow, seconds: float = 60.0, seed: int = 1) -> Run:
    """A run with a link each way."""
    return simulate(Scenario({"down": down, "up": UP}, flows), seconds, np.random.default_rng(seed))


def paced(**settings) -> Flow:
    """A flow under TFRC."""
    return Flow(**ROUTES, tcp=None, source=Tfrc(**settings))


def test_the_same_seed_is_the_same_run() -> None:
    flows = (paced(jitter=0.001), Flow(**ROUTES, tcp=Tcp("sack")))
    one, again, other = (ran(narrow(), *flows, seconds=20.0, seed=seed) for seed in (1, 1, 2))
    assert one.traffic == again.traffic
    assert one.traffic != other.traffic


def test_the_rate_is_that_of_the_equation() -> None:
    """Independent losses: within 10% at the loss-event rate that the receiver saw (15% are asked for)."""
    run = ran(Link(0.08, loss=Bernoulli(0.02)), paced(), seconds=300.0)
    seen = figures(run.traffic[0], 10.0, 300.0)
    assert seen["rtt_s"] == pytest.approx(0.1, rel=1e-6)
    assert 0.015 < seen["loss_event_rate"] < 0.02
    rate = 1000 * run.traffic[0].there.sent / 300
    assert rate == pytest.approx(throughput(1000, seen["rtt_s"], seen["loss_event_rate"]), rel=0.1)
    assert seen["allowed_bps"] == pytest.approx(8 * rate, rel=0.1)


def test_a_link_of_its_own_is_filled() -> None:
    """1 Mbit/s, 40 ms and a queue of 30 kB, six times what fits the link."""
    seen = ran(narrow(), paced(), seconds=120.0).traffic[0]
    assert 0.95 < 8 * seen.there.received_bytes / 120 / 1e6 <= 1
    assert 0 < seen.there.loss < 0.03


def test_flows_share_a_link() -> None:
    run = ran(narrow(2e6, 40), *(paced(jitter=0.001) for _ in range(4)), seconds=100.0)
    got = np.array([seen.there.received_bytes for seen in run.traffic]) * 8 / 100
    assert got.sum() > 0.9 * 2e6
    assert got.max() < 1.5 * got.min()


def test_a_scenario_file(tmp_path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(
        """
        seconds = 20
        runs = 2
        links.down = { delay = 0.02, rate = 1e6, queue = 20 }
        links.up = { delay = 0.02 }
        [[flows]]
        there = ["down"]
        back = ["up"]
        tcp = false
        source = { kind = "tfrc", size = 500, cap = 3e5, start = "rfc3448", discounting = true, damping = true }
        """
    )
    found = read_experiment(file)
    assert isinstance(found, Observation)
    runs = found.run()
    assert runs[0].scenario.flows[0].source == Tfrc(500, 3e5, "rfc3448", discounting=True, damping=True)
    assert found.outcome(runs)["flows"][0]["figures"]["rtt_s"] == pytest.approx(0.044, abs=1e-3)


def test_a_run_is_saved(tmp_path) -> None:
    run = ran(narrow(), paced(cap=5e5), seconds=10.0)
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    assert again.scenario == run.scenario
    assert again.traffic == run.traffic


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"size": 20}, "size of segments must be a whole number of at least 28 bytes"),
        ({"cap": 0}, "cap of the rate must be greater than 0 bit/s"),
        ({"start": "fast"}, "start must be one of rfc5348, rfc3448, got"),
        ({"damping": "yes"}, "damping must be one of True, False, got"),
        ({"jitter": -1}, "jitter must be at least 0 s, got -1 s"),
    ],
)
def test_settings_are_checked(settings, words) -> None:
    with pytest.raises(InputError, match=words):
        Tfrc(**settings)


def test_what_would_never_end_is_refused() -> None:
    """Nothing limits the doubling of the rate."""
    with pytest.raises(InputError, match="may take inf packets"):
        ran(Link(0.02), paced())


def test_tcp_carries_no_datagrams() -> None:
    with pytest.raises(InputError, match="datagrams are sent by a flow without TCP"):
        ran(narrow(), Flow(**ROUTES, tcp=Tcp(), source=Tfrc()))


def traffic(*notes: tuple[float, str, float]) -> Traffic:
    """Traffic with notes."""
    nothing = Count(0, 0, 0, 0, 0, 0)
    return Traffic(nothing, nothing, notes=tuple(Note(time, "server", name, value) for time, name, value in notes))


def test_figures_are_means_over_time() -> None:
    """R of .1 s from 1 s on and .3 s from 3 s on; loss events at packets 100, 150 and 400; seen from 2 to 5 s."""
    events = [(time, "loss_event", number) for time, number in ((1.5, 100), (2.5, 150), (4.0, 400), (6.0, 900))]
    seen = traffic((1.0, "rtt", 0.1), (3.0, "rtt", 0.3), *events)
    found = figures(seen, 2.0, 5.0)
    assert found["rtt_s"] == pytest.approx((0.1 + 2 * 0.3) / 3)
    assert found["loss_event_rate"] == pytest.approx(1 / 250)
    assert math.isnan(found["p"])
    assert math.isnan(figures(seen, 0.0, 2.0)["loss_event_rate"])

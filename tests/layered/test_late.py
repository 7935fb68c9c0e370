"""Late packets of a live stream under TFRC, beside the simulator's TFRC packet by packet."""

from __future__ import annotations

import numpy as np
import pytest

from paced_late import Camera
from tcpstream import sim
from tcpstream.errors import InputError
from tcpstream.layered import late_of_paced
from tcpstream.layered.late import _allowed
from tcpstream.sim.tfrc.equation import throughput
from tcpstream.sim.tfrc.loss_intervals import LossIntervals

TAUS = (0.1, 0.25, 0.5)


def test_late_packets_beside_the_simulator() -> None:
    """Three packets a round trip, a run of 300 s, some 130 times as long as intervals are remembered: within .06."""
    links = {"there": sim.Link(0.025, loss=sim.Bernoulli(0.05)), "back": sim.Link(0.025)}
    scenario = sim.Scenario(links, (sim.Flow(("there",), ("back",), None, Camera(made=60.0), measured=True),))
    seen = sim.simulate(scenario, 300.0, np.random.default_rng(1)).traffic[0].arrivals
    waited = (seen.time - seen.tag / 60 - 0.025)[seen.time > 20]
    found = late_of_paced(0.05, 0.05, 60.0, TAUS, np.random.default_rng(1)).fractions
    assert found == pytest.approx([np.mean(waited > tau) for tau in TAUS], abs=0.06)


def test_margins_hold_what_other_streams_show() -> None:
    """Two independent drawings differ by less than three times what their margins say."""
    one, other = (late_of_paced(0.02, 0.1, 60.0, TAUS, np.random.default_rng(seed), 100) for seed in (1, 2))
    assert (np.abs(one.fractions - other.fractions) < 3 * np.hypot(one.margins, other.margins)).all()
    assert (np.diff(one.fractions) < 0).all()


def test_the_rate_is_that_of_the_loss_intervals() -> None:
    """Intervals by hand, through the simulator's average and equation."""
    lengths, opened = [30.0, 80.0, 10.0, 55.0, 40.0, 90.0, 20.0, 70.0], 120.0
    intervals = LossIntervals()
    for length in reversed(lengths):
        intervals.close(length)
    wanted = throughput(1, 1.0, intervals.event_rate(opened))
    assert _allowed(np.array([lengths]), np.array([opened])) == pytest.approx([wanted], rel=1e-12)


def test_a_slow_stream_is_hardly_late() -> None:
    """A tenth of what TFRC allows on average."""
    assert late_of_paced(0.01, 0.1, 11.0, [0.1], np.random.default_rng(1)).fractions[0] < 1e-3


@pytest.mark.parametrize(("loss", "rate", "words"), [(0.0, 60.0, "loss must"), (0.1, 0.0, "packet rate must be")])
def test_errors(loss: float, rate: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        late_of_paced(loss, 0.1, rate, [1.0], np.random.default_rng(1))

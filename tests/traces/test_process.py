"""Which loss process a capture shows, against flows of known losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import capture, simulate

from tcpstream.traces import estimate
from tcpstream.traces.loss_events import Events
from tcpstream.traces.process import loss_process

EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-reno.pcap"


@pytest.mark.parametrize("vantage", ["sender", 0.5, "receiver"])
@pytest.mark.parametrize("sack", [True, False])
@pytest.mark.parametrize("process", ["independent", "round"])
def test_the_process_is_told(tmp_path, process, sack, vantage):
    found = estimate(capture(tmp_path, simulate(0.02, process=process, sack=sack, seed=12), vantage)).loss_process
    assert found.fits == process
    assert found.error < 1e-9
    expected = found.if_round if process == "round" else found.if_independent
    slack = 0.15 if vantage == "receiver" else 0.02  # at the receiver tails of windows leave no trace
    assert found.next_lost.low - slack < expected < found.next_lost.high + slack


def test_what_a_round_loses_is_what_it_expects(tmp_path):
    """Losses of `round`, seen by the simulation itself: the share expected is the share that was lost."""
    run = simulate(0.03, seconds=200, process="round", seed=4)
    found = estimate(capture(tmp_path, run)).loss_process
    assert found.next_lost.low < found.if_round < found.next_lost.high
    assert found.next_lost.high - found.next_lost.low < 0.1


def test_real_capture_has_independent_losses():
    """Dropped independently, p = 0.02 (examples/README.md)."""
    found = estimate(EXAMPLE).loss_process
    assert found.fits == "independent"
    assert found.next_lost.low <= 0.02 <= found.next_lost.high
    assert found.log10_ratio < -20


def test_without_losses_nothing_is_decided(tmp_path):
    found = estimate(capture(tmp_path, simulate(0.0, seconds=10))).loss_process
    assert (found.fits, found.next_lost, found.log10_ratio, found.error) == ("undecided", None, 0.0, 1.0)
    assert "undecided" in found.sentence()


def events(neighbours, trials=100):
    return Events(trials=trials, episodes=[1] * len(neighbours), neighbours=neighbours)


def test_ratio_by_hand():
    """One first loss in two trials, p = q = 1/2, three in flight: l = .5 .5^2 / (1 - .5^3) = 1/7."""
    last = loss_process(events([(3, False)], trials=2))
    lost = loss_process(events([(3, True)], trials=2))
    assert lost.if_round == pytest.approx(1 - 0.5 / 7)
    assert lost.log10_ratio == pytest.approx(np.log10((1 - 0.5 / 7) / 0.5))
    assert last.log10_ratio == pytest.approx(np.log10((0.5 / 7) / 0.5))
    assert last.error == pytest.approx(1 / 7)


def test_few_losses_do_not_decide_and_half_of_each_is_neither():
    assert loss_process(events([(2, False), (2, True)])).fits == "undecided"
    assert loss_process(events([(20, i % 2 == 0) for i in range(60)], trials=3000)).fits == "neither"


@pytest.mark.parametrize("process", ["independent", "round"])
def test_the_wrong_process_is_hardly_ever_chosen(process):
    """Even few events of windows of 4 to 16 choose the wrong process less often than 1 in 20 times."""
    rng = np.random.default_rng(8)
    p, wrong, runs = 0.1, 0, 2000
    for _ in range(runs):
        windows = rng.integers(4, 17, size=rng.integers(1, 6))
        if process == "independent":
            lost = rng.random(len(windows)) < p
        else:
            position = np.array([_first_loss(rng, p, w) for w in windows])
            lost = (position < windows - 1) | (rng.random(len(windows)) < p)
        pairs = list(zip(windows.tolist(), lost.tolist()))
        found = loss_process(Events(trials=round(len(pairs) / p), episodes=[1] * len(pairs), neighbours=pairs))
        wrong += found.fits not in (process, "undecided", "neither")
    assert wrong <= runs / 20


def _first_loss(rng, p, window):
    while True:
        lost = np.flatnonzero(rng.random(window) < p)
        if len(lost):
            return lost[0]

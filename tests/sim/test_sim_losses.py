"""Loss processes: what is lost, and how often."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_by_one import cross
from tcpstream.sim import (
    Bernoulli,
    Change,
    Flow,
    GilbertElliott,
    Link,
    LossTrace,
    RoundLoss,
    Scenario,
    Steady,
    Tcp,
    simulate,
    single_path,
)
from tcpstream.sim.engine.loop import run
from tcpstream.sim.world import build

PACKETS = 400_000


def lost(loss, *changes):
    """Return how many of 400,000 datagrams, one a second, are lost."""
    link = Link(0.5, loss=loss, changes=changes)
    scenario = Scenario({"there": link}, (Flow(("there",), tcp=None, source=Steady(1.0, PACKETS - 0.5)),))
    rng = np.random.default_rng(7)
    world = build(scenario, rng)
    run(world, rng, 2.0 * PACKETS)
    assert world.flows["sent"][0] == PACKETS
    return int(world.flows["dropped"][0])


def sigmas(found, expected, variance):
    return abs(found - expected) / math.sqrt(variance)


@pytest.mark.parametrize("p", [0.001, 0.02, 0.5])
def test_bernoulli(p):
    assert sigmas(lost(Bernoulli(p)), p * PACKETS, p * (1 - p) * PACKETS) < 4


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain(p):
    assert lost(Bernoulli(p)) == p * PACKETS


@pytest.mark.parametrize(("to_bad", "to_good"), [(0.01, 0.2), (0.05, 0.9), (0.3, 0.3)])
def test_gilbert_elliott(to_bad, to_good):
    # sojourns are geometric: the variance of a two-state chain's count is larger by (1 + r) / (1 - r)
    bad, r = to_bad / (to_bad + to_good), 1 - to_bad - to_good
    variance = PACKETS * bad * (1 - bad) * (1 + r) / (1 - r)
    assert sigmas(lost(GilbertElliott(to_bad, to_good)), bad * PACKETS, variance) < 4


def test_gilbert_elliott_loses_in_both_states():
    p = 0.5 * 0.4 + 0.5 * 0.1  # states that hold for one packet on average: nearly independent
    assert sigmas(lost(GilbertElliott(0.5, 0.5, 0.4, 0.1)), p * PACKETS, p * (1 - p) * PACKETS) < 4


def test_probability_changes():
    p = (0.1 * 100_000 + 0.3 * 300_000) / PACKETS
    found = lost(Bernoulli(0.1), Change(100_000.0, loss=0.3))
    assert sigmas(found, p * PACKETS, 0.09 * 100_000 + 0.21 * 300_000) < 4


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=1, max_size=9), st.integers(1, 30))
def test_recorded_losses_are_those_packets(bits, packets):
    found = cross(Link(0.5, loss=LossTrace(bits)), [(float(i), 100) for i in range(packets)])
    assert [time is None for time in found] == [bits[i % len(bits)] for i in range(packets)]


@pytest.mark.parametrize("seed", range(40))
def test_losses_end_with_their_round(seed):
    """A window of 8 in its first two rounds: the draws tell which packets are lost."""
    p, draws = 0.2, np.random.default_rng(seed)

    def arrived(packets):
        """How many arrive of a round: the first loss takes the rest with it, without asking again."""
        return next((i for i in range(packets) if draws.random() < p), packets)

    first = arrived(8)
    second = arrived(first)  # each acknowledgement lets one packet go, in the next round
    tcp = Tcp(initial_window=8, max_window=8, slow_start=False)
    scenario = single_path(Link(0.5, loss=RoundLoss(p)), Link(0.5), tcp)
    seen = simulate(scenario, 1.75, np.random.default_rng(seed)).flows[0]
    if first == 8:
        assert len(seen.times) == 8 + second
    else:
        assert list(seen.times) == [0.5] * first
    assert seen.sent == 8 + first
    assert round(seen.loss_rate * seen.sent) == 8 - first + first - second


@pytest.mark.parametrize("variant", ["reno", "newreno", "sack"])
@pytest.mark.parametrize("loss", [RoundLoss(0.02), Bernoulli(0.02)])
def test_rate_of_first_losses(loss, variant):
    """Each packet that is sent while nothing is missing is a trial, whatever is lost while others are repaired."""
    seen = simulate(
        single_path(Link(0.05, loss=loss), Link(0.05), Tcp(variant)), 20_000.0, np.random.default_rng(3)
    ).flows[0]
    trials = seen.sent / 2  # more than that
    assert abs(seen.loss_event_rate - loss.p) < 4 * math.sqrt(loss.p * (1 - loss.p) / trials)
    assert (seen.loss_rate > 2 * loss.p) == (loss.kind == RoundLoss.kind)

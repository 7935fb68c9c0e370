"""The stationary solve: what an epoch does to waves, loads near 1, and the depth."""

import math
from functools import cache
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import paths
from tcpstream import AccuracyError, Path
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.burst import Backlog
from tcpstream.stationary.decay import decay_rate
from tcpstream.stationary.independent import IndependentBacklog
from tcpstream.stationary.solve import drain_rounds, solve
from tcpstream.tcp import chain_of, reno

REFERENCE = reno(Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=4, max_window=20, rounds_per_increase=2))


@cache
def of_the_reference(lattice):
    return solve(REFERENCE, lattice)


@settings(max_examples=12)
@given(path=paths(largest_loss=0.2, largest_window=12, largest_ratio=2.5), load=st.floats(0.2, 0.8))
def test_waves_are_what_an_epoch_does_far_from_an_empty_backlog(path, load):
    chain = reno(path)
    lattice = Lattice(max(1, round(10 * load * chain.packets_per_round)), 10)
    backlog = Backlog(chain, lattice)
    tilt = min(decay_rate(chain, lattice.packets_due) / backlog.steps_per_packet / 3, 5e-3)
    values, left, right = backlog.waves(np.array([0.0, tilt], dtype=complex))
    assert values[0] == pytest.approx(1, abs=1e-9)
    np.testing.assert_allclose(right[:, 0], 1, atol=1e-6)
    assert values[1].real < 1
    # mass with the weights of the wave at one backlog: its next entries have kappa times as much tilted worth
    n, position = 100_000, 60_000  # 1,000 packets below the ceiling: in an epoch next to none get there
    entries = np.zeros((len(left), n))
    entries[:, position] = left[:, 1].real
    following = backlog.epoch(entries).entries
    tilted = following * np.exp(tilt * (position - np.arange(n)))
    assert right[:, 1].real @ tilted.sum(axis=1) == pytest.approx(values[1].real, rel=1e-6)


def test_the_asymptotic_decay_is_where_waves_are_kept():
    theta = decay_rate(REFERENCE, 3.0)
    values, _, _ = Backlog(REFERENCE, Lattice(3, 1)).waves(np.array([0.9 * theta, theta, 1.1 * theta], dtype=complex))
    assert values[0].real < 1
    assert not values[2].real < 1
    assert values[1].real == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "lattice",
    [
        *(Lattice(3, 10), Lattice(19, 9, trace=1), Lattice(3, 1), Lattice(4, 1)),
        *(pytest.param(one, marks=pytest.mark.long) for one in (Lattice(27, 7), Lattice(12, 3))),
    ],
)
def test_load_and_lattice_do_not_change_the_number_of_epochs(lattice):
    """Near T/mu = 1, and where backlogs within a packet mix slowly: 4.01 on a lattice of halves."""
    solved = of_the_reference(lattice)
    assert 2 <= solved.epochs <= 60
    assert solved.error_bound < 1e-11


RARE = Path(sender="classic", loss=4e-5, rtt=0.0045, timeout_ratio=4, tcp="reno-sack", bottleneck=5852.0, buffer=11)
"""At a twelfth of a packet a round trip all is delivered thousands of packets before the next loss."""


@pytest.mark.parametrize(
    ("path", "lattice"),
    [
        (Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=10), Lattice(2, 1)),
        (RARE, Lattice(1, 12)),
    ],
)
def test_a_solve_is_what_plain_epochs_lead_to(path, lattice):
    chain = chain_of(path)
    solved = solve(chain, lattice)
    backlog = (IndependentBacklog if path.tcp == "reno-sack" else Backlog)(chain, lattice)
    entries = np.zeros((len(backlog.entered), len(solved.pmf)))
    entries[0, -1] = 1.0
    for _ in range(1500 if path is not RARE else 30):
        epoch = backlog.epoch(entries)
        entries = epoch.entries / epoch.entries.sum()
    law = backlog.occupancy(backlog.epoch(entries))[::-1]
    np.testing.assert_allclose(solved.pmf, law / law.sum(), rtol=1e-9, atol=1e-13)


def test_a_tail_that_goes_deeper_than_predicted_is_followed(monkeypatch):
    expected = of_the_reference(Lattice(3, 1))
    monkeypatch.setattr("tcpstream.stationary.long_waves.LongWaves.depth", lambda *_: 2000)
    solved = solve(REFERENCE, Lattice(3, 1))
    assert len(solved.pmf) > 4000
    assert solved.overflow * 1e4 < 1e-12
    common = min(len(solved.pmf), len(expected.pmf))
    np.testing.assert_allclose(solved.pmf[:common], expected.pmf[:common], rtol=0, atol=1e-12)


def test_the_error_bound_counts_rounds_until_the_backlog_has_emptied(monkeypatch):
    """Twice, before and after: of mass that is wrong, and of mass that leaves where it is deepest, if it waits longest.

    The longest wait is 64 timeouts of 2 rounds, in which 2 packets each are generated.
    """
    chain = reno(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=10))
    stationary = import_module("tcpstream.stationary.solve")
    real, made = stationary._iterate, []

    def off(backlog, waves, depth, weight):
        epoch, change, epochs = real(backlog, waves, depth, weight)
        change[:] = 0.0
        change[3, -101] = -1e-13  # at a backlog of 100 packets
        made.append((backlog.entered[3], backlog.occupancy(epoch).sum()))
        return epoch, change, epochs

    monkeypatch.setattr(stationary, "_iterate", off)
    monkeypatch.setattr(Backlog, "overflow", lambda backlog, epoch: 1e-16 * backlog.occupancy(epoch).sum())
    solved = solve(chain, Lattice(2, 1))
    ((state, rounds),) = made
    each, behind = drain_rounds(chain, 2.0)
    assert each == pytest.approx(1 / (chain.packets_per_round - 2))
    wrong, lost = 1e-13 / rounds * (100 + behind[state]), 1e-16 * (len(solved.pmf) - 1 + 2 * 128 + behind.max())
    assert solved.error_bound == pytest.approx(2 * each * (wrong + lost), rel=1e-9, abs=0)


def test_the_largest_state_is_as_large_as_it_says(monkeypatch):
    chain = reno(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=10))
    values = Backlog(chain, Lattice(2, 1)).rows * len(solve(chain, Lattice(2, 1)).pmf)
    stationary = import_module("tcpstream.stationary.solve")
    monkeypatch.setattr(stationary, "LARGEST", values)
    solve(chain, Lattice(2, 1))
    monkeypatch.setattr(stationary, "LARGEST", values - 1)
    with pytest.raises(AccuracyError, match="TCP states"):
        solve(chain, Lattice(2, 1))


def test_a_load_too_near_one_is_refused_with_a_reason():
    with pytest.raises(AccuracyError, match="too near 1"):
        solve(REFERENCE, Lattice(math.floor(REFERENCE.packets_per_round * 10**7) - 1, 10**7))


@pytest.mark.long
def test_small_windows_on_a_fine_lattice_are_solved():
    """A correction leaves more than nine tenths there: without mixing the error stays above 4e-4."""
    chain = chain_of(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3, max_window=8))
    found = solve(chain, Lattice(55, 13))
    assert found.error_bound < 1e-9
    assert found.epochs < 300

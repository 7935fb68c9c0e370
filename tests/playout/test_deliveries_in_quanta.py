"""Deliveries in quanta: by sorting, and through one table."""

import numpy as np
import pytest

from tcpstream import Path
from tcpstream.playout import lattice
from tcpstream.playout.deliveries import deliveries
from tcpstream.tcp import chain_of

FOUND = deliveries(chain_of(Path(loss=0.03, rtt=0.1, tcp="reno-sack", max_window=16)))


def dense(one):
    """Its probabilities by source, target, rounds, packets in order and received."""
    source = np.repeat(np.arange(FOUND.states), np.diff(one.starts))
    found = {}
    for *key, chance in zip(source, one.target, one.rounds, one.ordered, one.received, one.chance):
        found[tuple(map(int, key))] = found.get(tuple(map(int, key)), 0.0) + float(chance)
    return found


@pytest.mark.parametrize(("quantum", "further"), [(1.0, 0.0), (1.7, 0.0), (0.7, 0.25)])
def test_a_table_and_sorting_find_the_same(monkeypatch, quantum, further):
    by_sorting = dense(lattice.joint(FOUND, quantum, further))
    monkeypatch.setattr(lattice, "MANY", 0)
    monkeypatch.setattr(lattice, "CELLS", 1000)
    one = lattice.joint(FOUND, quantum, further)
    in_a_table = dense(one)
    assert set(in_a_table) <= set(by_sorting)
    for key, chance in by_sorting.items():
        assert in_a_table.get(key, 0.0) == pytest.approx(chance, abs=1e-15)
    source = np.repeat(np.arange(FOUND.states), np.diff(one.starts))
    assert np.bincount(source, one.chance) == pytest.approx(1, abs=1e-12)


def test_a_table_that_is_far_too_large_is_not_made(monkeypatch):
    monkeypatch.setattr(lattice, "MANY", 0)
    monkeypatch.setattr(lattice, "CELLS", 0)
    assert lattice._joint_of_many(FOUND, 1.7, 0.0) is None
    assert len(lattice.joint(FOUND, 1.7, 0.0).chance) > 0

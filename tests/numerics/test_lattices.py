"""Lattices of a playback rate, and what is read between two of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.numerics.lattices import Lattice, interpolated, lattices, order
from tcpstream.tcp import reno


@given(st.floats(0.02, 300), st.integers(1, 30))
def test_neighbours_are_those_of_the_farey_sequence(packets_due, largest):
    found = lattices(packets_due, largest)
    if len(found) == 1:
        assert found[0].packets_due == pytest.approx(packets_due, rel=1e-9)
        return
    low, high = found
    assert low.packets_due < packets_due < high.packets_due
    assert (
        high.steps * low.steps_per_packet - low.steps * high.steps_per_packet == 1
    )  # no fraction with a smaller denominator between
    assert low.steps_per_packet + high.steps_per_packet > largest
    assert low.trace == 1
    assert high.trace == 0


def test_simple_rates_fit_a_lattice():
    assert lattices(3.0, 1) == (Lattice(3, 1),)
    assert lattices(0.75, 4) == (Lattice(3, 4),)
    assert lattices(100 * 0.07, 1) == (Lattice(7, 1),)


def test_neighbours_stay_below_the_throughput():
    assert lattices(5.61, 2, most=5.7)[1].packets_due < 5.7
    chain = reno(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2))
    T, cells = chain.packets_per_round, chain.graph.size * chain.graph.max_window
    assert order(0.9 * T, T, cells) > order(0.5 * T, T, cells)


def test_between_neighbours_f_is_geometric():
    f, error = interpolated(2.25, [(2.0, 0.01), (3.0, 0.04)])
    assert f == pytest.approx(0.01 * 4**0.25)  # linear in ln f
    assert f * (1 + error) > 0.04  # it lies between
    assert interpolated(2.0, [(2.0, 0.01)]) == (0.01, 0.0)

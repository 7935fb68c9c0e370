"""Weights of what stands for what: no wave may grow where TCP sends just what is played, round after round."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream.coarse.state_grid import _along, grid
from tcpstream.path import Path
from tcpstream.playout.lattice import _few
from tcpstream.tcp import chain_of


@pytest.mark.parametrize("many", [4, 6])
@pytest.mark.parametrize("packets", np.linspace(3, 4, 9))
def test_quanta_of_a_number_of_packets_have_no_gain(many, packets):
    quanta, weights = _few(np.array([packets]), np.ones(1), many, 0)
    assert weights @ quanta == pytest.approx(packets)
    waves = np.exp(1j * np.outer(np.linspace(0, np.pi, 99), quanta))
    assert np.abs(waves @ weights).max() <= 1 + 1e-9


def test_few_states_of_cubic_stand_for_all():
    chain = chain_of(
        Path(sender="classic", loss=0.02, rtt=0.04, tcp="cubic", initial_window=10, detection="rack", max_window=100)
    )
    on = grid(chain, 1, 2.0, further=1 / 4)
    counts = np.diff(on.starts)
    weights = np.add.reduceat(on.weights, on.starts[:-1][counts > 0])
    np.testing.assert_allclose(weights, 1.0, atol=1e-9)
    assert 2 * len(on.states) < len(grid(chain, 1, 1.15, further=1 / 16).states)


def test_the_last_states_of_a_line_stand_for_no_more_than_what_lies_between():
    nodes = np.array([0.0, 1, 2, 4, 8])
    x = np.arange(9.0)
    points, weights = _along(x, nodes, apart=True)
    np.testing.assert_allclose((weights * nodes[points]).sum(axis=1), x, atol=1e-12)
    assert (weights[x > 4] >= 0).all()
    assert weights[-1].tolist() == [0, 0, 0, 1]
    _, others = _along(x, nodes, apart=False)
    assert (others[x > 4].min(axis=1)[:-1] < 0).all()

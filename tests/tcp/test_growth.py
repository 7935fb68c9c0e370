"""Moves of states after a round that was delivered whole."""

import numpy as np

from tcpstream.tcp.growth import Growth

MOVES = Growth(np.array([0, 0, 2]), np.array([1, 2, 1]), np.array([0.25, 0.75, 1.0]))


def test_no_moves():
    assert Growth.none().lists() == ([], [], [])
    assert Growth.none().joined(MOVES).lists() == MOVES.lists()


def test_moves():
    both = MOVES.joined(Growth(np.array([1]), np.array([1]), np.array([1.0])))
    assert both.lists() == ([0, 0, 2, 1], [1, 2, 1, 1], [0.25, 0.75, 1.0, 1.0])
    assert both.of(0) == [(1, 0.25), (2, 0.75)]
    assert both.of(1) == [(1, 1.0)]


def test_between():
    """State 2 stands first, state 0 second; state 1 is left out as a source, and is the place 7."""
    found = MOVES.between(np.array([2, 0]), np.array([1, 7, 0]))
    assert found.lists() == ([1, 0, 1], [0, 7, 7], [0.75, 1.0, 0.25])

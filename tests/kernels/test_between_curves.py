"""What a pause between two curves leads to, in a chain of one state that always sends a short second round."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream.kernels.between_curves import Curves, Mass, between_curves
from tcpstream.kernels.latency_passes import Moves, Rounds


def rounds(received, lasts, tail):
    if received is None:
        return Rounds(np.array([0, 0]), *(np.zeros(0, dtype=np.int64) for _ in range(3)), np.zeros((0, 1)))
    return Rounds(np.array([0, 1]), np.array([0]), np.array([lasts]), np.array([received]), np.array([tail]))


@pytest.mark.parametrize(
    ("due", "lost"),
    [
        ([0, 2, 5, 8, 8, 8], 1.0),  # nothing is sent in the pause, and 5 are due then
        ([0, 2, 4, 8, 8, 8], 0.0),
        ([0, 4, 4, 13, 13, 13], 1.0),  # after the short round
    ],
)
def test_a_short_round_that_waits(due, lost):
    """A packet is there, three more come in the first round: all that exists. After a pause come eight."""
    sure = [1.0, 1.0, 1.0, 1.0, 0.0]
    moves = Moves(rounds(None, 0, None), rounds(8, 2, sure), rounds(11, 2, sure))
    curves = Curves(np.array([2, 4, 12, 20, 20, 20]), np.array(due), 3)
    rows, spans = np.zeros((4, 21)), np.tile(np.array([21, 0]), (4, 1))
    rows[0, 1], spans[0] = 1.0, (1, 2)
    mass = Mass(np.array([0]), np.array([4]), rows, spans, np.zeros(3))
    between_curves(0, 1, curves, moves, mass, 0.0)
    assert mass.away[0] == lost
    assert rows.sum() == pytest.approx(1 - lost)
    if not lost:
        assert rows[3, 12 - due[3]] == 1.0

"""Sessions from stall to stall, beside the same followed at once, and a source that is known in closed form."""

import numpy as np
import pytest
from test_sessions import EVERY, arrivals, stalls

from tcpstream.playout.measures import measures
from tcpstream.playout.player_moves import PlayerMoves
from tcpstream.playout.renewals import renewals
from tcpstream.playout.sessions import sessions

FACTORS = np.array([0.9, 0.5])


@pytest.mark.parametrize(("rho", "packets", "start", "resume"), [(1.2, 40, 5, 3), (0.9, 30, 2, 1), (1.0, 25, 8, 12)])
def test_without_memory_they_are_those_of_the_ballot_theorem(rho, packets, start, resume):
    moves = PlayerMoves(arrivals(rho), EVERY, measures(4, FACTORS, 1, 1))
    found = renewals(moves, 4, FACTORS, packets, [start], resume, packets + 2.0, packets, np.inf)
    np.testing.assert_allclose(found.seen[-1, 0, :4], stalls(rho, packets, start, resume, 4), rtol=0, atol=1e-12)
    at_once = sessions(moves, packets, [start], resume, packets + 2.0, packets)
    np.testing.assert_array_equal(found.lengths, at_once.lengths)
    np.testing.assert_allclose(found.seen[..., :6], at_once.seen[..., :6], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.seen, at_once.seen, rtol=0, atol=1e-4)  # more arrives at the end of a long fill

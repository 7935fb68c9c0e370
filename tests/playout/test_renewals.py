"""Sessions from stall to stall, beside the same followed at once, and a source that is known in closed form."""

from dataclasses import replace

import numpy as np
import pytest
from test_sessions import EVERY, arrivals, stalls

from tcpstream.playout import renewals as renewing
from tcpstream.playout import settling
from tcpstream.playout.measures import measures
from tcpstream.playout.pauses import Pauses
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


@pytest.mark.parametrize(("stop", "refill"), [(9, 9), (12, 5)], ids=["kept full", "read again at less"])
def test_players_that_hold_no_more_than_so_much(stop, refill):
    moves, pauses = PlayerMoves(arrivals(1.1), EVERY, measures(4, FACTORS, 1, 1)), Pauses(stop, refill, None)
    found = renewals(moves, 4, FACTORS, 70, [5], 3, 0.0, 70, np.inf, pauses=pauses)
    at_once = sessions(moves, 70, [5], 3, 0.0, 70, pauses=pauses)
    free = sessions(moves, 70, [5], 3, 72.0, 70)
    assert found.seen[-1, 0, 0] < free.seen[-1, 0, 0] - 0.02  # what is looked at does matter
    np.testing.assert_allclose(found.seen[..., :6], at_once.seen[..., :6], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.grown, at_once.grown, rtol=0, atol=1e-12)


def test_the_end_of_a_video_that_is_leapt_over_counts(monkeypatch):
    monkeypatch.setattr(settling, "SETTLED", 0.0)
    monkeypatch.setattr(settling, "NOTHING", 0.0)
    moves = PlayerMoves(arrivals(1.2), replace(EVERY, sparse=16), measures(4, FACTORS, 1, 1))
    chances = []
    kept = renewing.first_stalls
    monkeypatch.setattr(renewing, "first_stalls", lambda *args: chances.append(kept(*args)) or chances[-1])
    for steady in (np.inf, 3):
        renewals(moves, 4, FACTORS, 1520, [5], 8, 0.0, 20, steady, pauses=Pauses(12, 12, None))
    followed, leapt = (np.diff(found.chance[-1, -60:]) for found in chances)
    np.testing.assert_allclose(leapt, followed, rtol=0.05)


def test_a_full_buffer_settles():
    """Of a long video the rest is not followed: stalls come as before."""
    moves, pauses = PlayerMoves(arrivals(1.2), EVERY, measures(4, FACTORS, 1, 1)), Pauses(12, 12, None)
    found = renewals(moves, 4, FACTORS, 600, [5], 3, 0.0, 20, np.inf, pauses=pauses)
    at_once = sessions(moves, 600, [5], 3, 0.0, 20, pauses=pauses)
    assert 0 < found.slack[0, 4] < 1e-3 * found.seen[-1, 0, 4]
    assert abs(found.seen[-1, 0, 4] - at_once.seen[-1, 0, 4]) <= found.slack[0, 4] + 1e-9
    np.testing.assert_allclose(found.grown[-1], at_once.grown[-1], rtol=1e-4)

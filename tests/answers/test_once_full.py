"""Players that hold no more than so much, told by those that hold all, and a bound on what that changes."""

import numpy as np
import pytest

from tcpstream import Path, PausingPlayer, Video
from tcpstream.answers.held_at_most import held_at_most
from tcpstream.answers.once_full import NEGLIGIBLE, PART, OnceFull
from tcpstream.answers.two_finenesses import COUNTS, TwoFinenesses
from tcpstream.answers.waiting_from_buffer import WaitingFromBuffer
from tcpstream.playout.rare_stalls import RareStalls
from tcpstream.tcp import chain_of

PATH = Path(sender="classic", tcp="reno-sack", loss=0.004, rtt=0.1, rto=0.3, max_window=20)
DUE = 10
VIDEO = Video(packet_rate=10 * DUE, duration=20)
SHOWN = [0, COUNTS + 1, COUNTS + 2]  # stalls are not counted without a resume buffer


def solvers(start, resume, held):
    player = PausingPlayer(start_buffer=start, resume_buffer=resume, client_buffer=held)
    chain, most = chain_of(PATH), held_at_most(PATH, VIDEO, player)
    followed = TwoFinenesses(chain, PATH, VIDEO, most)
    free = (TwoFinenesses if resume else WaitingFromBuffer)(chain, PATH, VIDEO)
    lead = most.pauses.resume - 2 * DUE
    bound = RareStalls(chain, DUE, VIDEO.packets, 1.0).once_full(lead, max(1.0, VIDEO.packet_rate * resume))
    return followed, OnceFull(free, bound, PATH, VIDEO.duration / PATH.rtt, followed, resume > 0), bound


@pytest.mark.parametrize("resume", [0.0, 1.0])
def test_what_comes_once_the_buffer_is_full_is_part_of_the_errors(resume):
    start = 0.5
    followed, told, bound = solvers(start, resume, held=7.0)
    exact, seen = followed.solve([start], resume)[0], told.solve([start], resume)[0]
    free = (TwoFinenesses if resume else WaitingFromBuffer)(chain_of(PATH), PATH, VIDEO).solve([start], resume)[0]
    assert NEGLIGIBLE < bound.stalled < PART * free.answers[0]
    np.testing.assert_array_equal(seen.answers, free.answers)
    assert (seen.errors[SHOWN] > free.errors[SHOWN]).all()
    assert (np.abs(seen.answers - exact.answers) <= seen.errors + exact.errors)[SHOWN].all()
    missed, off = told.missed([start], resume, 0)
    assert (missed[0], off[0]) == (seen.answers[0], seen.errors[0])


def test_where_it_matters_the_player_is_followed():
    followed, told, bound = solvers(0.5, 0.0, held=3.0)
    exact, seen = followed.solve([0.5], 0.0)[0], told.solve([0.5], 0.0)[0]
    assert bound.stalled > PART * exact.answers[0]
    np.testing.assert_array_equal(seen.answers, exact.answers)
    np.testing.assert_array_equal(seen.errors, exact.errors)

"""Stalls after many losses, by where playback begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcpstream import Path, Video
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.coarse.modes import Beginning, Modes
from tcpstream.coarse.resolution import FAST
from tcpstream.coarse.steps import Steps
from tcpstream.errors import AccuracyError
from tcpstream.playout.fineness import Fineness
from tcpstream.playout.late_stalls import AtTheEnd, LateStalls
from tcpstream.playout.player_moves import Begun
from tcpstream.tcp import chain_of

CHAIN = chain_of(Path(loss=0.03, rtt=0.1, tcp="reno-sack", max_window=16))
ON = Fineness.between_packets(CHAIN.packets_per_round / 0.97, 1, 100.0)
END = AtTheEnd(np.array([5.0, 20.0]), 0.0, 0.0)


@pytest.fixture(scope="module")
def late():
    return LateStalls(CHAIN, ON, FAST, 4000.0)


def begun(goal, state, beyond, rounds=0):
    return Begun(goal, np.array([rounds]), np.array([[0, state, beyond]]), np.ones(1))


def test_a_beginning_in_the_first_state_is_that_of_the_chain():
    modes, theta = Modes(Steps.of(CHAIN, 2, 1.2)), 1e-3 + 2e-3j
    start = np.eye(1, modes.steps.entries, modes.steps.start)
    own = modes.at(theta, modes.about(theta))
    for rounds, packets in ((0.0, 0.0), (3.0, 7.0)):
        same = modes.begun(Beginning(np.array([rounds]), np.array([packets]), start)).at(theta, modes.about(theta))
        assert same.value == own.value
        assert same.factor == pytest.approx(
            own.factor * np.exp(-theta * packets) * own.value ** (-rounds / 2), rel=1e-9
        )


def test_what_was_received_beyond_the_buffer_is_held(late):
    later = np.array([1000, 2000, 4000])
    more, held = (late.chance(one, END, 0.5, later) for one in (begun(30, 3, 40), begun(70, 3, 0)))
    assert more == pytest.approx(held, rel=1e-9)
    less = late.chance(begun(30, 3, 0), END, 0.5, later)
    assert np.abs(less - held).max() > 1e-3


def test_from_what_is_known_on_it_grows_with_the_video(late):
    chance = late.chance(begun(60, 3, 0), END, 0.25, np.array([late.rounds, 600, 1200, 4000]))
    assert chance[0] == pytest.approx(0.25, rel=1e-9)
    assert (np.diff(chance) > 0.01).all()
    assert chance[-1] < 1


def test_too_few_leads_and_leads_of_which_one_mode_knows_nothing_tell_nothing(late):
    leads = late.leads
    with pytest.raises(AccuracyError, match="too few leads"):
        late.fitted(begun(60, 3, 0), leads, np.full(len(leads), 1e-9))
    with pytest.raises(AccuracyError, match="off by"):
        late.fitted(begun(60, 3, 0), leads, np.tile([0.2, 0.8], len(leads) // 2))


def test_it_is_known_before_anything_is_followed_where_there_is_no_single_mode():
    with pytest.raises(AccuracyError):
        LateStalls(CHAIN, replace(ON, due=0.5 * ON.due), FAST, 4000.0)


@pytest.mark.long
def test_leads_that_are_fitted_are_not_too_far_apart(monkeypatch):
    """With leads eleven rounds of playback apart the pass diverged, to 1e58."""
    path = Path(loss=0.00092, rtt=0.18)
    solver, found = TwoFinenesses(chain_of(path), path, Video(bitrate=4.3e6, duration=7200)), []
    monkeypatch.setattr(LateStalls, "fitted", lambda *args: found.append(args[-1]) or END)
    monkeypatch.setattr(LateStalls, "chance", lambda *args: np.full(len(args[-1]), args[-2]))
    solver._renewed(solver._fine, [2.0], 5.0, 1e5, 2, late=True)
    (late,) = found
    assert (late > 0).all()
    assert (late < 0.9).all()
    ratio = late[1:] / late[:-1]
    assert (np.diff(ratio) < 0).all()  # as the tail of a normal distribution

"""Players of large buffers, from stall to stall: beside the same players followed at once, and those that are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcpstream import Path, PausingPlayer, Player, Video, play, throughput
from tcpstream.answers import stall_by_stall, two_finenesses
from tcpstream.answers.stall_by_stall import StallByStall
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.coarse.resolution import Scale
from tcpstream.playout import first_stalls
from tcpstream.tcp import chain_of

SACK = Path(loss=0.03, rtt=0.1, tcp="reno-sack", max_window=24)
NAMES = "stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio"


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(stall_by_stall, "QUICK", 0.0)


def video(path, load, duration):
    """A video at a rate of which no round plays whole packets."""
    return Video(packet_rate=round(throughput(path) / load) + 0.37, duration=duration)


def answers(seen):
    return np.array([getattr(seen, name) for name in NAMES]), np.array([seen.errors[name] for name in NAMES])


@pytest.mark.parametrize("load", [0.97, 1.1])
def test_they_are_those_that_are_followed_at_once(load, monkeypatch):
    shown, player = video(SACK, load, 40), Player(start_buffer=1, resume_buffer=2)
    at_once = play(SACK, shown, player)
    monkeypatch.setattr(stall_by_stall, "QUICK", 0.0)
    monkeypatch.setattr(TwoFinenesses, "_pass", lambda *_: pytest.fail("all stalls were followed at once"))
    found = play(SACK, shown, player)
    (value, error), (expected, off) = answers(found), answers(at_once)
    assert (error < 0.05 * value).all()
    assert (np.abs(value - expected) <= error + off).all()
    assert value == pytest.approx(expected, rel=0.02)
    assert value[0] == pytest.approx(expected[0], rel=1e-6)  # until the first stall nothing differs
    assert found.stall_counts == pytest.approx(at_once.stall_counts, abs=2e-3)
    t = np.linspace(0, 40, 7)
    assert found.no_stall_until(t) == pytest.approx(at_once.no_stall_until(t), abs=2e-3)


@pytest.mark.usefixtures("always")
def test_after_many_losses_one_mode_tells_the_stalls_that_follow(monkeypatch):
    """Of 1,200 rounds 450 are followed."""
    shown, player = video(SACK, 1.0, 120), Player(start_buffer=1.5, resume_buffer=2)
    followed: list[int] = []
    kernel = first_stalls.back_from_stalls
    monkeypatch.setattr(first_stalls, "back_from_stalls", lambda *args: followed.append(args[1]) or kernel(*args))
    found = play(SACK, shown, player)
    assert 300 < max(followed) < 600
    monkeypatch.setattr(StallByStall, "late", lambda *_: None)
    every = play(SACK, shown, player)
    assert max(followed) == 1200
    (value, error), (expected, off) = answers(found), answers(every)
    assert (error < 0.08 * value).all()
    assert (np.abs(value - expected) <= error + off).all()
    assert value == pytest.approx(expected, rel=0.02)


@pytest.mark.usefixtures("always")
def test_sessions_that_are_drawn_see_the_same():
    path = Path(loss=0.04, rtt=0.1, max_window=12)
    found = play(path, video(path, 0.95, 30), Player(start_buffer=1, resume_buffer=2.5))
    drawn = found.sessions(4000, np.random.default_rng(5))
    for sample, value, error in (
        (drawn.stalls > 0, found.stall_probability, found.errors["stall_probability"]),
        (drawn.stalls, found.mean_stalls, found.errors["mean_stalls"]),
        (drawn.total_rebuffer, found.mean_total_rebuffer, found.errors["mean_total_rebuffer"]),
    ):
        assert abs(sample.mean() - value) <= error + 4 * sample.std() / len(sample) ** 0.5
        assert error < 0.05 * value


def test_small_buffers_and_quick_passes_are_followed_at_once():
    solver = TwoFinenesses(chain_of(SACK), SACK, video(SACK, 1.0, 60))
    assert solver._stalls.suits(80.0, 2e10)
    assert not solver._stalls.suits(10.0, 2e10)  # 33 packets from loss to loss
    assert solver._stalls.doubt(30.0) > 0.0 == solver._stalls.doubt(34.0)
    assert not solver._stalls.suits(80.0, 1e9)


@pytest.mark.parametrize("held", [None, 6.0])
@pytest.mark.parametrize(("load", "resume"), [(1.17, 0.5), (1.35, 0.3)])
def test_where_a_fill_is_short_part_of_what_later_stalls_add_is_part_of_the_errors(load, resume, held, monkeypatch):
    """83 packets from loss to loss: while the buffer fills there are .57 and .3 losses."""
    path, buffers = replace(SACK, loss=0.012), {"start_buffer": 1.5, "resume_buffer": resume}
    shown = video(path, load, 40)
    player = Player(**buffers) if held is None else PausingPlayer(**buffers, client_buffer=held)
    at_once = play(path, shown, player)
    monkeypatch.setattr(stall_by_stall, "QUICK", 0.0)
    monkeypatch.setattr(stall_by_stall, "ROUNDS", 2.0)
    monkeypatch.setattr(two_finenesses, "AGAIN", 0.3)
    with monkeypatch.context() as patch:
        patch.setattr(TwoFinenesses, "_pass", lambda *_: pytest.fail("all stalls were followed at once"))
        found = play(path, shown, player)
    (value, error), (expected, off) = answers(found), answers(at_once)
    again = found.mean_stalls - found.stall_probability
    doubt = StallByStall(chain_of(path), Scale.of(chain_of(path)), 400, 1.0, None).doubt(resume * shown.packet_rate)
    assert error[1] >= 0.9 * (off[1] + doubt * again)
    assert (np.abs(value - expected) <= 0.3 * doubt * again + 1e-9)[1:3].all()
    assert value[0] == pytest.approx(expected[0], rel=1e-6)
    monkeypatch.setattr(two_finenesses, "AGAIN", 1e-4)
    (value, error) = answers(play(path, shown, player))
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(error, off)

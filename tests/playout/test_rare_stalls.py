"""Bounds on rare stalls, beside passes over the video that follow every lead."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream import Path, PausingPlayer, Player, Varying, Video, play
from tcpstream.playout.rare_stalls import RareStalls
from tcpstream.tcp import chain_of

SENDERS = (
    {},
    {"tcp": "reno-sack", "max_window": 20, "initial_window": 4},
    {"tcp": "cubic", "max_window": 16},
)


def bounds(path, due, rounds, start, resume):
    chain = chain_of(path)
    found = (RareStalls(chain, due, due * rounds, 10.0**n).at_most(start, resume) for n in range(-12, 1))
    return next(filter(None, found), None)


@settings(max_examples=8)
@given(
    sender=st.sampled_from(SENDERS),
    loss=st.floats(0.002, 0.03),
    timer=st.sampled_from([2, 4]),
    due=st.integers(2, 5),
    start=st.integers(4, 12),
    resume=st.integers(1, 9),
    rounds=st.integers(20, 60),
)
def test_they_hold_beside_passes(sender, loss, timer, due, start, resume, rounds):
    path = Path(sender="classic", loss=loss, rtt=0.1, rto=0.1 * timer, **sender)
    most = bounds(path, due, rounds, start * due, resume * due)
    if most is None:
        return
    video = Video(packet_rate=due / path.rtt, duration=rounds * path.rtt)
    seen = play(path, video, Player(start_buffer=start * path.rtt, resume_buffer=resume * path.rtt))
    assert seen.stall_probability <= most.stalled + seen.errors["stall_probability"]
    assert seen.mean_stalls <= most.stalls + seen.errors["mean_stalls"]
    assert seen.mean_total_rebuffer <= most.rounds * path.rtt + seen.errors["mean_total_rebuffer"]


@settings(max_examples=8)
@given(
    sender=st.sampled_from(SENDERS),
    loss=st.floats(0.002, 0.03),
    due=st.integers(2, 4),
    stop=st.integers(8, 16),
    refill=st.integers(6, 16),
    rounds=st.integers(40, 80),
)
def test_they_hold_once_a_buffer_is_full(sender, loss, due, stop, refill, rounds):
    path, refill = Path(sender="classic", loss=loss, rtt=0.1, rto=0.3, **sender), min(refill, stop)
    found = (
        RareStalls(chain_of(path), due, due * rounds, 10.0**n).once_full((refill - 2) * due, 2 * due)
        for n in range(-12, 1)
    )
    most = next(filter(None, found), None)
    if most is None:
        return
    held = {"client_buffer": stop * path.rtt, "refill_at": refill * path.rtt, "idle": "keep"}
    video = Video(packet_rate=due / path.rtt, duration=rounds * path.rtt)
    buffers = {"start_buffer": stop * path.rtt, "resume_buffer": 2 * path.rtt}
    free, seen = (play(path, video, one) for one in (Player(**buffers), PausingPlayer(**buffers, **held)))
    assert seen.stall_probability <= free.stall_probability + most.stalled + 1e-9
    assert seen.mean_stalls <= free.mean_stalls + most.stalls + 1e-9
    assert seen.mean_total_rebuffer <= free.mean_total_rebuffer + most.rounds * path.rtt + 1e-9


def test_they_decay_as_stalls_do():
    path = Path(sender="classic", tcp="reno-sack", loss=0.004, rtt=0.1, rto=0.3, max_window=20)
    video = Video(packet_rate=40, duration=20)
    seen = [play(path, video, Player(start_buffer=b, resume_buffer=1)).stall_probability for b in (1.2, 1.6)]
    most = [bounds(path, 4, 200, 40 * b, 40) for b in (1.2, 1.6)]
    assert seen[1] > 1e-9
    decays = (np.log(seen[0] / seen[1]), np.log(most[0].stalled / most[1].stalled))
    assert decays[1] == pytest.approx(decays[0], rel=0.3)
    assert all(one.stalled < 1e6 * of for one, of in zip(most, seen))


def test_once_full_they_fall_as_stalls_do():
    """From 1.6 to 4 s held stalls get a hundred times as rare, in steps, as a timer doubles."""
    path, due, length = Path(sender="classic", tcp="reno-sack", loss=0.004, rtt=0.1, rto=0.3, max_window=20), 4, 40
    video, levels = Video(packet_rate=due / path.rtt, duration=length), (1.6, 2.8, 4.0)
    held = [PausingPlayer(start_buffer=1, resume_buffer=1, client_buffer=one) for one in levels]
    stalls = np.array([play(path, video, one).stalls_per_hour / 3600 * length for one in held])
    bounds = RareStalls(chain_of(path), due, video.packets, 1.0)
    most = np.array([bounds.once_full((one * video.packet_rate) - 2 * due, 40).stalled for one in levels])
    assert stalls[0] > 100 * stalls[2]
    assert (most > stalls).all()
    assert (most < 1e5 * stalls).all()


def test_a_source_that_falls_behind_has_none():
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    assert bounds(path, 20, 100, 400, 400) is None


def test_what_is_not_negligible_has_none():
    path = Path(sender="classic", loss=0.004, rtt=0.1, rto=0.3)
    found = RareStalls(chain_of(path), 4, 400, 1e-12)
    assert found.at_most(100, 100) is None
    assert not found.are_negligible(100)


def test_paths_that_vary():
    good, bad = (
        Path(sender="classic", tcp="reno-sack", loss=p, rtt=0.1, rto=0.3, max_window=16) for p in (0.002, 0.01)
    )
    path = Varying([good, bad], [20, 2])
    most = bounds(path, 3, 60, 60, 20)
    seen = play(path, Video(packet_rate=30, duration=6), Player(start_buffer=2, resume_buffer=0.7))
    assert seen.stall_probability <= most.stalled + seen.errors["stall_probability"]


def test_the_time_of_a_stall_is_about_what_the_lead_lacks():
    """Not the time in which a whole video comes: 200 rounds."""
    path, video = Path(sender="classic", tcp="reno-sack", loss=0.004, rtt=0.1, rto=0.3, max_window=20), (4, 200)
    most = bounds(path, *video, 48, 1)
    seen = play(path, Video(packet_rate=40, duration=20), Player(start_buffer=1.2))
    length = seen.mean_total_rebuffer / seen.stall_probability / path.rtt
    assert length < most.rounds / most.stalled < 10 * length

"""Players: against one that plays packet by packet, and pauses of the server computed by hand."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tcpstream
from sim_twins import viewer
from tcpstream import InputError, PausingPlayer, Video
from tcpstream.sim import (
    Bernoulli,
    Experiment,
    Link,
    Player,
    Run,
    Session,
    Stored,
    Tcp,
    read_experiment,
    simulate,
    single_path,
)
from tcpstream.sim.audience import seen
from tcpstream.sim.session import watched

TCP = Tcp("sack", max_window=10, timer="rfc6298", granularity=0.2)


@given(
    st.lists(st.floats(0, 20), min_size=40, max_size=40).map(sorted),
    st.one_of(st.tuples(st.floats(0, 8), st.none()), st.tuples(st.none(), st.integers(1, 60))),
    st.integers(0, 60),
)
def test_sessions_are_those_of_a_player_of_packets(times, starts, resume):
    start, begin = starts
    player = Player(start=start) if begin is None else Player(start_buffer=begin * 0.25, resume_buffer=resume * 0.25)
    found = watched(np.array(times), player, 4.0, 10.0)
    again = 1 if begin is None else max(1, resume)
    joined, stalls = viewer(times, 0.25, start, begin, again)
    assert found.join_time == joined
    assert len(found.stall_start) == len(stalls)
    for at, lasted, wanted in zip(found.stall_start, found.stall_length, stalls):
        assert (at, lasted) == pytest.approx(wanted, abs=1e-6)


def test_parts_of_packets_are_whole_ones():
    times = np.arange(1.0, 11.0)
    assert watched(times, Player(start_buffer=2.1), 1.0, 10.0).join_time == 3.0
    assert watched(times, Player(start_buffer=100), 1.0, 10.0).join_time == 10.0
    assert watched(times, Player(start_buffer=3 * 0.1), 10.0, 1.0).join_time == 3.0  # 3.0000000000000004 packets
    with pytest.raises(InputError, match="only 10 of 11 packets of the video are there"):
        watched(times, Player(start=1), 1.0, 10.5)


@pytest.mark.parametrize(
    ("idle", "burst", "following"),
    [("keep", 10, 3.03), ("restart", 2, 3.03)],
)
def test_a_pause_by_hand(idle, burst, following):
    """Windows 2, 4, 8, 10, 10, ... of 50 packets/s; arrivals at 0.05 s, 0.15 s, ...

    The 50th packet comes with the 7th window, at 0.65 s. After window n the client holds 5 n + 19 packets; with the 6th
    of window 17, at 1.65 s, it holds 100. Acknowledgements of the first five send five more, before the server hears of
    it: the 159th packet comes at 1.75 s. 50 are held at 0.65 s + 109 / 50 s = 2.83 s, and what is sent then comes a
    round trip later. It was idle for 1.18 s, three timers of 0.3 s and more: the window of 10 is halved to 5 and to 2.
    """
    player = Player(start_buffer=1, resume_buffer=1, client_buffer=2, refill_at=1, idle=idle)
    path = single_path(Link(0.05), Link(0.05), TCP, Stored(50, 10, player))
    flow = simulate(path, 100, np.random.default_rng(1)).flows[0]
    session = flow.session(player, 50, 10)
    assert session.join_time == pytest.approx(0.65)
    assert not len(session.stall_start)
    assert flow.times[[153, 158, 159]] == pytest.approx([1.65, 1.75, 2.93])
    assert flow.times[159 + burst - 1 : 159 + burst + 1] == pytest.approx([2.93, following])
    assert flow.duration == flow.times[-1]
    assert len(flow.times) == 500


def lossy(player, duration=60.0, seed=1, packet_rate=60.0):
    tcp = Tcp("rack", 64, 10, timer="rfc6298", granularity=0.2)
    path = single_path(Link(0.05, loss=Bernoulli(0.02)), Link(0.05), tcp, Stored(packet_rate, duration, player))
    return simulate(path, 20 * duration, np.random.default_rng(seed))


def held(run, player, packet_rate=60.0, duration=60.0):
    """Packets that the client holds right after each arrival, and whether it is playing."""
    times = run.flows[0].times
    session = run.flows[0].session(player, packet_rate, duration)
    begins = session.join_time + session.stall_start + np.cumsum(session.stall_length) - session.stall_length
    stood = np.clip(times[:, np.newaxis] - begins, 0, session.stall_length).sum(axis=1)
    played = np.clip(times - session.join_time - stood, 0, duration) * packet_rate
    return times, np.searchsorted(times, times, side="right") - played


@pytest.mark.parametrize("refill", [1.0, 2.0])
def test_it_holds_no_more_than_its_buffer_and_what_was_under_way(refill):
    player = Player(start_buffer=1, resume_buffer=1, client_buffer=2, refill_at=refill)
    seen_more, gaps = [], []
    for seed in range(20):
        times, packets = held(lossy(player, seed=seed), player)
        seen_more.append(packets.max())
        after = packets[:-1] - 60 * np.diff(times)  # what it holds when the next packet comes
        gaps.append(after[(np.diff(times) > 0.6) & (after > 0)])
    assert 120 <= max(seen_more) <= 120 + 64
    waits = np.concatenate(gaps)
    if refill < 2:
        assert len(waits) > 20
        assert np.quantile(waits, 0.5) == pytest.approx(60 * (refill - 0.1), abs=0.5)  # a round trip after it asked


def test_room_for_all_of_it_pauses_nothing():
    free, room = Player(start_buffer=1, resume_buffer=1), Player(start_buffer=1, resume_buffer=1, client_buffer=60)
    assert (lossy(free).flows[0].times == lossy(room).flows[0].times).all()


def test_less_room_stalls_more():
    stalled = []
    for most in (30, 3, 1.5):
        player = Player(start_buffer=1, resume_buffer=1, client_buffer=most, refill_at=1)
        stalled.append(sum(len(lossy(player, seed=s).flows[0].session(player, 60, 60).stall_start) for s in range(40)))
    assert stalled[0] < stalled[1] < stalled[2]


def test_runs_are_saved_with_their_player(tmp_path):
    run = lossy(Player(start_buffer=1, client_buffer=2))
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    assert again.scenario == run.scenario
    assert (again.flows[0].times == run.flows[0].times).all()
    assert again.flows[0].duration == run.flows[0].duration < run.duration < 100


def test_what_an_audience_saw_by_hand():
    """Three sessions of 10 s: none, one and two stalls, of 1 s, 2 s and 3 s."""
    sessions = [
        Session(1.0, np.array([]), np.array([])),
        Session(2.0, np.array([4.0]), np.array([1.0])),
        Session(6.0, np.array([5.0, 7.0]), np.array([2.0, 3.0])),
    ]
    found = seen(sessions, 10.0, counted=True)
    assert found["join_time_s"] == {"mean": 3.0, "p50": 2.0, "p90": 6.0, "p99": 6.0}
    assert found["stall_probability"] == pytest.approx(2 / 3)
    assert found["total_rebuffer_s"] == {"mean": 2.0, "p50": 1.0, "p90": 5.0, "p99": 5.0}
    assert found["rebuffer_count"] == {"mean": 1.0, "pmf": pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])}
    assert found["stall_length_s"] == {"mean": 2.0}
    assert found["first_stall_s"] == {"p50": 4.0, "p90": 5.0, "p99": 5.0}
    assert found["rebuffering_ratio"] == pytest.approx((1 / 11 + 5 / 15) / 3)
    assert set(found["intervals"]) == {
        *("join_time_s", "stall_probability", "total_rebuffer_s", "rebuffer_count", "rebuffering_ratio")
    }
    uncounted = seen(sessions, 10.0, counted=False)
    assert uncounted["rebuffer_count"] is uncounted["stall_length_s"] is None
    assert seen(sessions[:1], 10.0, counted=True)["first_stall_s"] is None


@pytest.mark.parametrize(
    "settings",
    [
        {"start": -1},
        {"start": 1, "start_buffer": 1},
        {"start_buffer": 0},
        {"start_buffer": "2"},
        {"resume_buffer": 2},
        {"start_buffer": 1, "resume_buffer": 2e8},
        {"client_buffer": 4},
        {"start_buffer": 1, "client_buffer": 0},
        {"start_buffer": 1, "client_buffer": 0.5},
        {"start_buffer": 1, "client_buffer": 2, "resume_buffer": 3},
        {"start_buffer": 1, "client_buffer": 2, "refill_at": 3},
        {"start_buffer": 1, "client_buffer": 2, "idle": "never"},
    ],
)
def test_settings_are_refused_as_in_play(settings):
    kind = PausingPlayer if "client_buffer" in settings else tcpstream.Player
    with pytest.raises(InputError) as refused:
        kind(**settings)
    message = str(refused.value).partition("; or, of a live stream")[0]  # which the simulator does not show
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Player(**settings)


def test_settings_are_those_of_play():
    settings = {"start_buffer": 1, "resume_buffer": 2, "client_buffer": 3, "refill_at": 0.5, "idle": "keep"}
    assert Player(**settings).to_dict() == PausingPlayer(**settings).to_dict()
    assert Player().to_dict() == tcpstream.Player().to_dict() == {"start_s": 2.0, "resume_buffer_s": 0.0}
    with pytest.raises(InputError, match="give client_buffer as well"):
        Player(start_buffer=1, refill_at=1)


SCENE = """
runs = 2
[video]
packet_rate = 60
duration = 10
[player]
start_buffer = 1
client_buffer = 3
[links.down]
delay = 0.05
loss = { process = "bernoulli", p = 0.02 }
[links.up]
delay = 0.05
[[flows]]
there = ["down"]
back = ["up"]
measured = true
"""


def test_players_of_files(tmp_path):
    (tmp_path / "a.toml").write_text(SCENE)
    experiment = read_experiment(tmp_path / "a.toml")
    player = Player(start_buffer=1, client_buffer=3)
    assert experiment.player == player
    assert experiment.make(np.random.default_rng(1)).flows[0].source == Stored(60, 10, player)
    found, flows = experiment.outcome(runs := experiment.run()), [run.flows[0] for run in runs]
    assert found["join_time_s"]["mean"] == np.mean([flow.session(player, 60, 10).join_time for flow in flows])
    assert found["rebuffer_count"] is None
    for old, new, words in (
        ("client_buffer = 3", "client_buffer = 0.5", "player: start buffer must be at most the client buffer"),
        ("client_buffer = 3", "buffer = 3", "player: unknown key 'buffer'; accepted are start, start_buffer, "),
        ("duration = 10", "live = true", "a player is that of a stored video"),
    ):
        (tmp_path / "a.toml").write_text(SCENE.replace(old, new))
        with pytest.raises(InputError, match=re.escape(words)):
            read_experiment(tmp_path / "a.toml")


def test_a_video_that_is_not_there_in_time_is_no_answer():
    player = Player(start=1)
    slow = single_path(Link(0.05, rate=8 * 1500 * 2), Link(0.05), source=Stored(60, 10, player))
    experiment = Experiment(lambda _rng: slow, 0.0, Video(packet_rate=60, duration=10), (), runs=1, player=player)
    with pytest.raises(InputError, match="of 600 packets of the video are there: simulate a longer time"):
        experiment.outcome(experiment.run())
    longer = dataclasses.replace(experiment, seconds=400)
    assert longer.outcome(longer.run())["stall_probability"] == 1

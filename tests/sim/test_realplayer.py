"""Each rule of RealPlayer and its server, on links where it is known what has to happen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import Path, Player, Video, play
from tcpstream.errors import InputError
from tcpstream.sim import Bernoulli, Change, Clip, Flow, Link, LossTrace, Run, Scenario, Tcp, simulate
from tcpstream.sim.players.realplayer import RealPlayer
from tcpstream.sim.players.realplayer_tcp import RealPlayerTcp
from tcpstream.sim.players.screen import Screen

LEVELS = Clip(150.0, (20e3, 45e3, 100e3, 225e3))
ONE = Clip(100.0, (34e3,))
UDP = RealPlayer(LEVELS)
TCP = RealPlayerTcp(LEVELS)
WIDE = Link(0.05)
SOCKET = Tcp("sack", send_buffer=60)


def ran(player: RealPlayer, down: Link = WIDE, seconds: float = 200.0, seed: int = 1) -> Run:
    tcp = SOCKET if isinstance(player, RealPlayerTcp) else None
    flow = Flow(("down",), ("up",), tcp, player, measured=True)
    return simulate(Scenario({"down": down, "up": WIDE}, (flow,), bins=1.0), seconds, np.random.default_rng(seed))


def figures(player: RealPlayer, down: Link = WIDE, seconds: float = 200.0) -> dict[str, float]:
    return player.figures(ran(player, down, seconds).traffic[0], seconds)


def coded(run: Run) -> list[tuple[float, float]]:
    """When which rate arrives first [s, bit/s]."""
    times, rates = run.traffic[0].noted("coded")
    return list(zip(times.tolist(), rates.tolist()))


def media(run: Run) -> np.ndarray:
    """Bytes in each second."""
    bins = run.traffic[0].bins
    assert bins is not None
    return bins.received


@pytest.mark.parametrize("player", [UDP, TCP])
def test_a_wide_link_shows_the_clip_as_it_is(player: RealPlayer) -> None:
    run = ran(player)
    found = player.figures(run.traffic[0], run.duration)
    assert [rate for _, rate in coded(run)] == [225e3]
    assert found["rebuffer_count"] == found["total_rebuffer_s"] == found["rebuffering_ratio"] == 0
    assert found["end_s"] == pytest.approx(found["join_time_s"] + 150, abs=1e-6)
    assert 10 / player.speed(225e3) < found["join_time_s"] < 6


def test_the_player_says_what_its_connection_takes() -> None:
    assert coded(ran(replace(UDP, preferred=99e3)))[0][1] == 45e3


@pytest.mark.parametrize("rate", [20e3, 36e3, 45e3, 80e3, 150e3, 225e3, 450e3])
def test_media_are_sent_faster_at_first(rate: float) -> None:
    """And at their rate once the player holds a minute."""
    player = RealPlayer(Clip(400.0, (rate,)))
    received = media(ran(player, seconds=300.0))
    steady = received[100:250].mean()
    speed = received[1:9].mean() / steady
    assert speed == pytest.approx(player.speed(rate), rel=0.1)
    after = 60 / (player.speed(rate) - 1) + 12  # about ten seconds go by before playback starts, at most
    assert received[math.ceil(min(after, 41)) : 100].mean() == pytest.approx(steady, rel=0.1)
    assert speed > 5.4 if rate <= 36e3 else speed < 5.4


def test_not_for_more_than_forty_seconds() -> None:
    received = media(ran(replace(RealPlayer(Clip(300.0, (450e3,))), most_held=1e3), seconds=150.0))
    assert received[30:39].mean() == pytest.approx(2 * received[60:100].mean(), rel=0.1)
    assert received[42:60].mean() == pytest.approx(received[60:100].mean(), rel=0.1)


def test_losses_take_the_level_down_one_by_one() -> None:
    run = ran(UDP, Link(0.05, 60e3, queue_bytes=5000))
    first = coded(run)[:3]
    assert [rate for _, rate in first] == [225e3, 100e3, 45e3]
    assert first[-1][0] <= 8


def test_a_lost_packet_is_no_congestion() -> None:
    lost = np.zeros(10_000, dtype=bool)
    lost[::60] = True  # one in some seconds
    assert len(coded(ran(RealPlayer(Clip(150.0, (20e3, 45e3))), Link(0.05, loss=LossTrace(lost))))) == 1


def test_losses_up_to_the_threshold_are_borne() -> None:
    down = Link(0.05, loss=LossTrace(np.arange(10_000) % 40 == 0))
    assert len(coded(ran(UDP, down))) == 1
    assert len(coded(ran(replace(UDP, most_loss=0.01), down))) > 1


def test_congestion_ends_the_hurry() -> None:
    """Of 300 kbit/s 45 k would be sent at five times its rate; what arrives in congestion is the limit then."""
    player = RealPlayer(Clip(150.0, (45e3,)))
    run = ran(player, Link(0.05, 150e3, queue_bytes=5000))
    there = run.traffic[0].there
    assert there.dropped > 0
    sent = run.traffic[0].bins
    assert sent is not None
    assert sent.sent[3:12].mean() <= 1.1 * 150e3 / 8


def test_the_next_level_is_tried_after_twenty_quiet_seconds_and_then_after_forty() -> None:
    clip = Clip(400.0, (20e3, 45e3))
    run = ran(RealPlayer(clip), Link(0.05, 35e3, queue_bytes=5000), 400.0)
    tries = [time for time, rate in coded(run)[1:] if rate == 45e3]
    falls = [time for time, rate in coded(run)[1:] if rate == 20e3]
    waits = [up - down for up, down in zip(tries, falls)]
    assert waits[1] == pytest.approx(40, abs=4)
    assert waits[2] == pytest.approx(80, abs=4)
    same = ran(replace(RealPlayer(clip), patience=1.0), Link(0.05, 35e3, queue_bytes=5000), 400.0)
    assert len(coded(same)) > len(coded(run)) + 4


def test_the_level_comes_back_when_congestion_is_over() -> None:
    narrow = Link(0.05, 60e3, queue_bytes=5000, changes=(Change(60.0, rate=1e6),))
    rates = dict(coded(ran(RealPlayer(replace(LEVELS, duration=300.0)), narrow, 300.0)))
    late = [rate for time, rate in rates.items() if time > 60]
    assert late[-1] == 225e3
    assert late == sorted(late)


def test_it_halts_and_goes_on_after_twenty_seconds_at_most() -> None:
    """The link is dead from 30 s to 110 s: what is held is played, then nothing; then what there is."""
    off, on = Change(30.0, loss=0.999999), Change(110.0, loss=0.0)
    dead = Link(0.05, 1e6, queue_bytes=20_000, loss=Bernoulli(1e-9), changes=(off, on))
    run = ran(RealPlayer(Clip(300.0, (100e3,))), dead, 500.0)
    _, halts = run.traffic[0].noted("halt")
    _, resumes = run.traffic[0].noted("resume")
    found = RealPlayer(Clip(300.0, (100e3,))).figures(run.traffic[0], run.duration)
    assert len(halts) == len(resumes) == found["rebuffer_count"] == 1
    assert 110 < resumes[0] < 121
    assert found["total_rebuffer_s"] == pytest.approx(resumes[0] - halts[0])
    assert found["rebuffering_ratio"] == pytest.approx(
        found["total_rebuffer_s"] / (found["end_s"] - found["join_time_s"]), rel=1e-6
    )


def test_while_it_halts_media_come_faster() -> None:
    off, on = Change(60.0, loss=0.999999), Change(140.0, loss=0.0)
    dead = Link(0.05, 1e6, queue_bytes=20_000, loss=Bernoulli(1e-9), changes=(off, on))
    run = ran(RealPlayer(Clip(600.0, (100e3,))), dead, 300.0)
    (halt,) = run.traffic[0].noted("halt")[1]
    assert halt < 132
    bins = run.traffic[0].bins
    assert bins is not None
    assert bins.sent[134:139].mean() == pytest.approx(3 * bins.sent[200:250].mean(), rel=0.15)


def test_a_halt_lasts_until_the_end_of_the_run() -> None:
    dead = Link(0.05, 1e6, loss=Bernoulli(1e-9), changes=(Change(30.0, loss=0.999999),))
    run = ran(RealPlayer(Clip(400.0, (100e3,))), dead, 300.0)
    _, halts = run.traffic[0].noted("halt")
    found = RealPlayer(Clip(400.0, (100e3,))).figures(run.traffic[0], run.duration)
    assert found["total_rebuffer_s"] == pytest.approx(300 - halts[0])
    assert math.isnan(found["end_s"])


def test_a_clip_whose_end_is_lost_ends() -> None:
    lost = np.zeros(10_000, dtype=bool)
    lost[400:] = True
    assert figures(RealPlayer(Clip(40.0, (34e3,))), Link(0.05, loss=LossTrace(lost[:500])), 300.0)["end_s"] > 40


def test_it_gives_up_where_that_is_asked_for() -> None:
    hopeless = RealPlayer(Clip(200.0, (225e3,)), endures=20.0)
    run = ran(hopeless, Link(0.05, 50e3, queue_bytes=5000))
    (when,), _ = run.traffic[0].noted("gone")
    assert 20 < when < 25
    assert media(run)[30:].sum() == 0
    assert math.isnan(hopeless.figures(run.traffic[0], run.duration)["end_s"])
    assert media(ran(replace(hopeless, endures=math.inf), Link(0.05, 50e3, queue_bytes=5000)))[30:100].sum() > 0


def test_it_does_not_give_up_while_there_are_lower_levels() -> None:
    run = ran(replace(UDP, endures=2.0), Link(0.05, 24e3, queue_bytes=3000), 100.0)
    assert len(run.traffic[0].noted("gone")[0]) == 0
    assert coded(run)[-1][1] == 20e3


def test_packets() -> None:
    run = ran(replace(UDP, spread=0.25), seconds=50.0)
    arrivals = run.traffic[0].arrivals
    assert arrivals is not None
    assert 740 <= arrivals.size.min() < 800
    assert 1200 < arrivals.size.max() <= 1250
    assert RealPlayer(ONE).packet(34e3, 0.5) == 425 + 28
    assert RealPlayer(ONE).packet(10e3, 0.5) == 328


def test_over_tcp_the_first_buffer_is_delivered_before_a_lower_level_comes() -> None:
    """The server decides after five seconds; 60 packets of 1460 bytes at 35 kbit/s take twenty more."""
    run = ran(TCP, Link(0.05, 35e3, queue_bytes=5000), 300.0)
    first, second = coded(run)[:2]
    assert first[1] == 225e3
    assert second[1] == 20e3
    assert 24 <= second[0] <= 33
    shorter = Flow(("down",), ("up",), Tcp("sack", send_buffer=20), TCP, measured=True)
    links = {"down": Link(0.05, 35e3, queue_bytes=5000), "up": WIDE}
    assert coded(simulate(Scenario(links, (shorter,)), 100.0, np.random.default_rng(1)))[1][0] < second[0] - 10


def test_over_tcp_servers_that_step_wait_for_a_buffer_between() -> None:
    run = ran(replace(TCP, steps=True), Link(0.05, 35e3, queue_bytes=5000), 300.0)
    times, rates = zip(*coded(run)[:4])
    assert rates == (225e3, 100e3, 45e3, 20e3)
    assert np.diff(times[1:]).min() > 15


def test_over_tcp_a_level_that_drains_stays() -> None:
    player = RealPlayerTcp(Clip(100.0, (20e3, 100e3)))
    assert len(coded(ran(player, Link(0.05, 130e3, queue=10)))) == 1


def test_over_tcp_media_are_written_twice_as_fast_at_first() -> None:
    received = media(ran(RealPlayerTcp(Clip(400.0, (100e3,))), seconds=300.0))
    assert received[1:9].mean() == pytest.approx(2 * received[100:250].mean(), rel=0.1)


@pytest.mark.parametrize("player", [UDP, TCP])
def test_packets_and_bytes_are_conserved(player: RealPlayer) -> None:
    run = ran(player, Link(0.05, 60e3, queue_bytes=5000, loss=Bernoulli(0.02)))
    there = run.traffic[0].there
    assert 0 <= there.under_way <= 50
    assert there.sent_bytes - there.received_bytes - there.dropped_bytes <= 50 * 1500
    assert there.dropped > 0


def test_a_viewer_over_tcp_is_told_of_in_the_words_of_play() -> None:
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    told = play(path, Video(packet_rate=10, duration=5), Player(start=1)).to_dict()
    found = figures(TCP, Link(0.05, 1e6, queue=20, changes=(Change(30.0, rate=5e3), Change(110.0, rate=1e6))), 300.0)
    words = {"join_time_s", "rebuffer_count", "total_rebuffer_s", "rebuffering_ratio"}
    assert words <= set(told)
    assert set(found) == {*words, "end_s", "level_changes", "coded_bps"}
    assert found["rebuffer_count"] >= 1
    assert found["level_changes"] >= 1
    watched = found["end_s"] - found["join_time_s"]
    assert found["rebuffering_ratio"] == pytest.approx(found["total_rebuffer_s"] / watched, rel=1e-9)
    assert watched == pytest.approx(LEVELS.duration + found["total_rebuffer_s"], abs=1e-6)


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = (ran(UDP, Link(0.05, 60e3, queue_bytes=5000), seed=3).traffic[0] for _ in range(2))
    assert one.notes == other.notes
    assert one.there == other.there


@given(st.lists(st.tuples(st.floats(0.0, 20.0), st.floats(0.0, 10.0)), max_size=30), st.floats(0.5, 8.0))
def test_a_screen_shows_what_a_clock_shows(steps: list[tuple[float, float]], preroll: float) -> None:
    """A clock that ticks each hundredth of a second; the clip is long enough that it does not end."""
    screen, tick = Screen(1e4, preroll, 20.0), 0.01
    now = held = position = since = 0.0
    plays = joined = False
    for wait, new in steps:
        for _ in range(round(wait / tick)):
            if plays:
                shown = min(tick, held - position)
                position += shown
                if shown < tick - 1e-9:
                    plays, since = False, now
            elif joined and now - since >= 20.0 and held > position + 1e-9:
                plays = True
            now += tick
        screen.advance(now)
        held += new
        screen.arrive(now, held)
        if not plays and held - position >= preroll - 1e-9 and held > position + 1e-9:
            plays = joined = True
    assert screen.held == pytest.approx(held)
    assert screen.position <= held + 1e-9
    assert screen.position == pytest.approx(position, abs=2 * tick * (len(screen.events) + 1))


def test_a_screen_ends() -> None:
    screen = Screen(5.0, 10.0, 20.0)
    screen.arrive(1.0, 3.0)
    assert not screen.plays
    screen.arrive(2.0, 5.0)
    screen.advance(9.0)
    assert [(event.name, event.time) for event in screen.events] == [("start", 2.0), ("end", 7.0)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"clip": 3}, "clip of a player must be a Clip, got 3"),
        ({"report": 0.0}, "report must be greater than 0 s, got 0 s"),
        ({"most_loss": 2.0}, "most_loss must lie between 0 and 1, got 2"),
        ({"least_packet": 20}, "packets must have more than 28 bytes"),
        ({"spread": 1.0}, "spread must be at least 0 and below 1, got 1"),
    ],
)
def test_errors(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(UDP, **settings)  # type: ignore[arg-type]

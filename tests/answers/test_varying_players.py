"""Players with buffers, drawn sessions and rates on a path that varies, beside an agent that knows no chain of it."""

from functools import cache

import numpy as np
import pytest

import regime_agent
import tcpstream
from buffered_sessions import close, watched
from tcpstream import AccuracyError, Path, Player, Varying, Video
from tcpstream.answers import player_fineness

R, RUNS = 0.125, 8_000


def path(**change):
    given = {"sender": "classic", "loss": 0.03, "rtt": R, "rto": 0.3, "losses": "independent", "max_window": 9}
    return Path(**given | change)


def narrow(rate, buffer, loss=0.03):
    return path(max_window=None, bottleneck=rate, buffer=buffer, loss=loss)


PLAYER, VIDEO = Player(start_buffer=0.6, resume_buffer=1.0), Video(packet_rate=48, duration=3)

CASES = {
    "losses": Varying([path(loss=0.02), path(loss=0.15)], [3, 1.5]),
    "start": Varying([path(loss=loss) for loss in (0.01, 0.06, 0.2)], [3, 1.5, 1], start=2),
    "bottleneck": Varying([narrow(80, 6), narrow(32, 3, 0.01)], [3, 1.5], start=0),
    "cubic": Varying([path(tcp="cubic", max_window=8, loss=loss) for loss in (0.01, 0.1)], [3, 1]),
}


@cache
def played(name):
    """What `play` says."""
    return tcpstream.play(CASES[name], VIDEO, PLAYER)


@cache
def of_the_agent(name):
    """Stalls, stalled seconds and join time by run."""
    arrived = regime_agent.delivered(CASES[name], 700, RUNS, np.random.default_rng(7))
    assert arrived[:, -1].min() >= VIDEO.packets
    mu = VIDEO.packet_rate
    found = watched(arrived, mu * R, VIDEO.packets, mu * PLAYER.start_buffer, mu * PLAYER.resume_buffer)
    return found[:, 0], R * found[:, 1], R * found[:, 2]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in ("start", "cubic"))) for name in CASES]
)
def test_buffers_beside_the_agent(name):
    seen = played(name)
    stalls, stalled, joined = of_the_agent(name)
    assert 0.05 < (stalls > 0).mean() < 0.95
    close(stalls > 0, seen.stall_probability, seen.errors["stall_probability"])
    close(stalls, seen.mean_stalls, seen.errors["mean_stalls"])
    close(stalled, seen.mean_total_rebuffer, seen.errors["mean_total_rebuffer"])
    close(joined, seen.mean_join_time)


@pytest.mark.parametrize("name", ["losses", pytest.param("start", marks=pytest.mark.long)])
def test_drawn_sessions_beside_the_agent(name):
    drawn = played(name).sessions(RUNS, np.random.default_rng(8))
    for ours, agents in zip((drawn.stalls, drawn.total_rebuffer, drawn.join_time), of_the_agent(name)):
        error = np.hypot(ours.std(ddof=1), agents.std(ddof=1)) / np.sqrt(RUNS)
        assert abs(ours.mean() - agents.mean()) < 4 * error


@pytest.mark.parametrize("start", [pytest.param(None, marks=pytest.mark.long), 1])
def test_equal_regimes_are_a_path_that_does_not_vary(start):
    one = path()
    a, b = (tcpstream.play(each, VIDEO, PLAYER) for each in (one, Varying([one, one], [3.0, 1.0], start=start)))
    assert b.stall_probability == pytest.approx(a.stall_probability, rel=1e-9)
    assert b.mean_total_rebuffer == pytest.approx(a.mean_total_rebuffer, rel=1e-9)
    assert b.mean_join_time == pytest.approx(a.mean_join_time, rel=1e-10)


def test_leads_apart_are_as_near_as_they_say(monkeypatch):
    exact = played("losses")
    monkeypatch.setattr(player_fineness, "SHORT", 0)
    apart = tcpstream.play(CASES["losses"], VIDEO, PLAYER)
    for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer"):
        assert getattr(exact, name) != getattr(apart, name)
        assert abs(getattr(exact, name) - getattr(apart, name)) < apart.errors[name] < 0.1 * getattr(exact, name)


@pytest.mark.long
def test_pairs_are_single_players():
    pairs = tcpstream.buffer_grid(CASES["losses"], VIDEO, start_buffers=[0.6, 1], resume_buffers=[1.0])
    seen = played("losses")
    assert pairs.stall_probability[0, 0] == pytest.approx(seen.stall_probability, rel=1e-9)
    assert pairs.stall_probability[1, 0] < pairs.stall_probability[0, 0]


@pytest.mark.parametrize("duration", [8, pytest.param(40, marks=pytest.mark.long)])
def test_largest_rate_is_the_inverse_of_the_delay(duration):
    varying = CASES["start"]
    mu = tcpstream.largest_rate(varying, delay=1.0, duration=duration, target=0.01)
    videos = [Video(packet_rate=rate, duration=duration) for rate in (mu, 1.03 * mu)]
    late = [tcpstream.stored(varying, video, accuracy="exact").late_fraction(1.0) for video in videos]
    assert late[0] <= 0.01 < late[1]


def test_a_rate_that_the_path_is_far_from_is_refused():
    """Stalls follow each other, and lattices do not tell how many: an exception, and no number that cannot be."""
    path = Varying(
        [Path(loss=p, sender="classic", tcp="reno-sack", rtt=0.1, rto=0.3, max_window=16) for p in (0.01, 0.08)], [6, 2]
    )
    with pytest.raises(AccuracyError, match="the number of stalls is not known"):
        tcpstream.play(path, Video(packet_rate=416.7, duration=10), Player(start_buffer=1, resume_buffer=1))

"""Players that hold no more than so much: against sessions that are simulated, and the limits of the buffer."""

from __future__ import annotations

import numpy as np
import pytest

import tcpstream
from pausing_sessions import simulated
from tcpstream import AccuracyError, InputError, Path, PausingPlayer, Player, Video, play
from tcpstream.answers.held_at_most import held_at_most
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.playout.pauses import halvings
from tcpstream.tcp import chain_of
from tcpstream.tcp.idle_restart import with_idle_restarts

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}
RENO = {"sender": "classic"}


def close(sample, value, error=0.0):
    allowed = 4 * sample.std(ddof=1) / np.sqrt(len(sample)) + error
    assert abs(sample.mean() - value) <= allowed, (sample.mean(), value, allowed)


def same(states):
    ways = np.tile(np.arange(states)[:, np.newaxis], (1, 2)), np.tile(np.array([1.0, 0.0]), (states, 1))
    return lambda rounds: ways  # noqa: ARG005


@pytest.mark.parametrize(
    ("path", "rate", "duration", "levels", "idle"),
    [
        (RENO | {"rto": 0.3}, 40, 20, (2, 1.2), "keep"),
        (RENO | {"rto": 0.35}, 40, 20, (2, 2), "keep"),
        pytest.param(RENO | {"rto": 0.3, "halving": "ceil"}, 43.2, 20, (2, 1.5), "keep", marks=pytest.mark.long),
        ({"tcp": "reno-sack", "rto": 1.0}, 45, 15, (2, 0.5), "keep"),
        (SACK | {"rto": 0.3}, 60, 35, (2, 0.8), "restart"),
        pytest.param(SACK | {"rto": 0.2, "loss": 0.01}, 80, 60, (3, 0.3), "restart", marks=pytest.mark.long),
    ],
)
def test_as_sessions_that_are_simulated(path, rate, duration, levels, idle):
    path, video = (
        Path(**{"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 14} | path),
        Video(packet_rate=rate, duration=duration),
    )
    player = PausingPlayer(start_buffer=1, resume_buffer=1.5, client_buffer=levels[0], refill_at=levels[1], idle=idle)
    result = play(path, video, player)
    rows = chain_of(path).written_out
    after_idle = same(rows.n_states)
    if idle == "restart":
        after_idle = held_at_most(path, video, player).pauses.after_idle
        packets = round(rate * (levels[0] - levels[1]))
        rows = with_idle_restarts(chain_of(path), path.initial_window, packets, 1.25).chain.written_out
    stalls, stalled, joined, pauses = simulated(path, video, player, rows, after_idle, 15_000, 3).T
    assert (pauses > 2).mean() > 0.3  # what is looked at does happen
    seconds, errors = stalled * path.rtt, result.errors
    close(stalls > 0, result.stall_probability, errors["stall_probability"])
    close(seconds, result.mean_total_rebuffer, errors["mean_total_rebuffer"])
    close(seconds / (seconds + duration), result.rebuffering_ratio, errors["rebuffering_ratio"])
    close(stalls, result.mean_stalls, errors["mean_stalls"])
    for count, chance in enumerate(result.stall_counts[:-1]):
        close(np.append(stalls == count, [True, False]), chance, errors["stall_counts"] + 1 / len(stalls))
    close(joined * path.rtt, result.mean_join_time, 1e-6)


@pytest.mark.parametrize("levels", [pytest.param((4, 4), marks=pytest.mark.long), (4.03, 1.7)])
@pytest.mark.long
def test_leads_apart_as_sessions_that_are_simulated(levels, monkeypatch):
    monkeypatch.setattr("tcpstream.answers.player_fineness.QUICK", 0)
    path = Path(sender="classic", tcp="reno-sack", loss=0.012, rtt=0.1, rto=0.3, max_window=40)
    video, stop, refill = Video(packet_rate=87, duration=60), *levels
    player = PausingPlayer(start_buffer=1, resume_buffer=1.5, client_buffer=stop, refill_at=refill, idle="keep")
    result = play(path, video, player)
    rows = chain_of(path).written_out
    stalls, stalled, _, pauses = simulated(path, video, player, rows, same(rows.n_states), 15_000, 3).T
    assert (pauses > 2).mean() > 0.3
    close(stalls > 0, result.stall_probability, result.errors["stall_probability"])
    close(stalls, result.mean_stalls, result.errors["mean_stalls"])
    close(stalled * path.rtt, result.mean_total_rebuffer, result.errors["mean_total_rebuffer"])
    assert result.errors["mean_stalls"] < 0.2 * result.mean_stalls


def test_error_of_when_playback_first_stalls():
    # without a loss the first rounds hold half a packet more than playback needs, which quanta of .6 packets blur
    path, rate = Path(sender="classic", loss=0.0245, rtt=0.256, max_window=29, rounds_per_increase=2), 19.0337
    player = PausingPlayer(start_buffer=0.326, resume_buffer=2.873, client_buffer=3.229)
    result = play(path, Video(packet_rate=rate, duration=12), player)
    rows = chain_of(path).written_out
    stalls = simulated(path, Video(packet_rate=rate, duration=1), player, rows, same(rows.n_states), 20_000, 3)[:, 0]
    assert abs((stalls == 0).mean() - result.no_stall_until(1)) > 0.05
    close(stalls == 0, result.no_stall_until(1), result.errors["no_stall_until"])


PATH = Path(**({"sender": "classic"} | SACK | {"loss": 0.03, "rtt": 0.1, "rto": 0.3, "max_window": 14}))
VIDEO, SHORT = (Video(packet_rate=60, duration=length) for length in (20, 10))


def seen(client_buffer, refill_at=None, idle="restart", video=VIDEO):
    player = PausingPlayer(
        start_buffer=1, resume_buffer=1.5, client_buffer=client_buffer, refill_at=refill_at, idle=idle
    )
    return play(PATH, video, player)


@pytest.fixture(scope="module")
def free():
    return play(PATH, SHORT, Player(start_buffer=1, resume_buffer=1.5))


@pytest.mark.parametrize("most", [9.9, *(pytest.param(one, marks=pytest.mark.long) for one in (10, 1000))])
def test_a_buffer_for_all_of_the_video_pauses_nothing(free, most):
    held = seen(most, most / 2, "keep", SHORT)
    for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio"):
        assert getattr(held, name) == pytest.approx(getattr(free, name), abs=free.errors[name] + held.errors[name])
    assert held.stall_probability == pytest.approx(free.stall_probability, rel=1e-3)


@pytest.mark.parametrize("refill", [10, 8])
def test_a_full_buffer_that_next_to_nobody_sees_run_empty(refill, monkeypatch):
    """It is told by a player that holds all, within a bound, and as one that is followed."""
    path, video = Path(loss=0.01, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=16), Video(packet_rate=60, duration=60)
    player = PausingPlayer(start_buffer=0.3, resume_buffer=1, client_buffer=10, refill_at=refill, idle="keep")
    followed = play(path, video, player)
    monkeypatch.setattr(TwoFinenesses, "is_quick", False)
    monkeypatch.setattr(TwoFinenesses, "_paused", lambda *_: pytest.fail("pauses were followed"))
    found = play(path, video, player)
    assert found.stall_probability > 0.002
    for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio", "stalls_per_hour"):
        allowed = found.errors[name] + followed.errors[name]
        assert abs(getattr(found, name) - getattr(followed, name)) <= allowed
        assert name == "stalls_per_hour" or found.errors[name] < 0.02 * getattr(found, name)
    assert found.errors["stalls_per_hour"] < 0.01


@pytest.mark.parametrize("rate", [10, 25])
def test_levels_between_packets(rate):
    """It stops reading with the next packet, and reads again once no more is held: of 2.5 or 1 packets a round."""
    path, video = Path(sender="classic", loss=0.03, rtt=0.1, rto=0.3, max_window=9), Video(packet_rate=rate, duration=9)
    part = 1 if rate == 10 else 0.5

    def stalls(stop, refill):
        levels = {"client_buffer": stop / rate, "refill_at": refill / rate, "idle": "keep"}
        return play(path, video, PausingPlayer(start_buffer=0.1, resume_buffer=0.1, **levels)).mean_stalls

    steps = [stalls(6 - part, 3), stalls(6, 3), stalls(6, 3 - part)]
    between = stalls(6 - 0.9 * part, 3 + 0.9 * part), stalls(6 - 0.1 * part, 3 + 0.1 * part)
    assert between == pytest.approx([steps[1]] * 2, rel=1e-12)
    assert steps[0] != pytest.approx(steps[1], rel=1e-3)
    assert steps[2] > 1.001 * steps[1]


def test_the_end_of_a_video_waits_for_room_as_well():
    """Of a window of 30 packets no more comes than the player has room for: 16 packets, of a video of 46."""
    path = Path(loss=0.0358, rtt=0.035, max_window=30, sender="linux", tcp="reno", losses="bursts")
    video = Video(packet_rate=2 / path.rtt, duration=23 * path.rtt)
    player = PausingPlayer(start_buffer=0.237, resume_buffer=0.237, client_buffer=0.28, idle="keep")
    rows = chain_of(path).written_out
    stalls, stalled, *_ = simulated(path, video, player, rows, same(rows.n_states), 15_000, 3).T
    result = play(path, video, player)
    close(stalls > 0, result.stall_probability, result.errors["stall_probability"])
    close(stalled * path.rtt, result.mean_total_rebuffer, result.errors["mean_total_rebuffer"])


@pytest.mark.parametrize(("stop", "room"), [(11.5, (11, 12)), (12.3, (12, 13))])
def test_a_buffer_that_is_kept_full_between_quanta(stop, room):
    """Its answers lie between those of less and of more room."""
    path, rate = Path(sender="classic", loss=0.03, rtt=0.1, rto=0.3, max_window=9), 33.7
    quantum = rate * path.rtt / 2

    def stalls(held):
        player = PausingPlayer(start_buffer=0.1, resume_buffer=0.1, client_buffer=held * quantum / rate, idle="keep")
        return play(path, Video(packet_rate=rate, duration=9), player).mean_stalls

    more, less = (stalls(held) for held in room)
    assert more > stalls(stop) > less


@pytest.mark.long
def test_less_room_lower_refills_and_restarts_stall_more():
    found = [
        seen(*one).stall_probability
        for one in ((30,), (6, 4, "keep"), (3, 2, "keep"), (3, 1, "keep"), (3, 0.3, "keep"), (3, 0.3, "restart"))
    ]
    assert found == sorted(found)
    assert found[-1] > 1.01 * found[-2] > 1.02 * found[0]


@pytest.mark.long
def test_stalls_per_hour_are_those_of_longer_videos():
    player = {"start_buffer": 1, "resume_buffer": 1, "client_buffer": 2, "refill_at": 1, "idle": "keep"}
    path = Path(sender="classic", loss=0.03, rtt=0.1, rto=0.3, max_window=14)
    short, long = (play(path, Video(packet_rate=40, duration=d), PausingPlayer(**player)) for d in (200, 300))
    assert short.stalls_per_hour == pytest.approx(36 * (long.mean_stalls - short.mean_stalls), rel=1e-3)
    assert short.errors["stalls_per_hour"] < 0.02 * short.stalls_per_hour
    assert long.to_dict()["stalls_per_hour"] == pytest.approx(short.stalls_per_hour, rel=1e-3)


def test_sessions_that_have_not_settled_have_no_long_run():
    result = seen(10, 5, "keep", Video(packet_rate=60, duration=5))
    assert result.to_dict()["stalls_per_hour"] is None
    with pytest.raises(AccuracyError, match="give a longer duration"):
        _ = result.stalls_per_hour


def test_a_pause_is_idle_a_round_longer():
    """Linux halves once for each timer that passes but the first, from the last packet on, sent a round before."""
    assert [halvings(rounds, 3.0) for rounds in (1, 2, 3, 5, 6, 8)] == [0, 0, 1, 1, 2, 2]


def test_its_sessions_are_not_drawn():
    path = Path(loss=0.03, rtt=0.1, max_window=14, **({"sender": "classic"} | SACK))
    player = PausingPlayer(start_buffer=1, client_buffer=3)
    result = play(path, Video(packet_rate=60, duration=4), player)
    with pytest.raises(InputError, match="holds no more than so much"):
        result.sessions(10, np.random.default_rng(1))


def test_round_trips_before_the_request_are_join_time():
    path, video = (
        Path(loss=0.03, rtt=0.1, max_window=9, **({"sender": "classic"} | SACK)),
        Video(packet_rate=60, duration=4),
    )
    plain, counted = (
        play(path, video, PausingPlayer(start_buffer=1, client_buffer=3, setup_round_trips=trips))
        for trips in (None, 2)
    )
    assert counted.mean_join_time == pytest.approx(plain.mean_join_time + 3 * 0.1)
    assert counted.to_dict()["parameters"]["setup_round_trips"] == 2


def test_its_json_is_its_answers():
    result = seen(3, 1, video=Video(packet_rate=60, duration=6))
    assert isinstance(result, tcpstream.PausingPlay)
    data = result.to_dict()
    assert data["parameters"]["client_buffer_s"] == 3
    assert data["parameters"]["refill_at_s"] == 1
    assert data["parameters"]["idle"] == "restart"
    assert data["rebuffer_count"]["mean"] == result.mean_stalls
    assert data["error_bound"] == result.errors
    assert "at most 3 s held" in result.summary()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start_buffer": None, "resume_buffer": 0}, "starts with some media held: give a start buffer"),
        ({"client_buffer": 0}, "client buffer must be greater than 0 s, got 0 s"),
        ({"client_buffer": 1.2}, "resume buffer must be at most the client buffer of 1.2 s, got 1.5 s"),
        ({"refill_at": 4}, "refill level must be at most the client buffer of 3 s, got 4 s"),
        ({"idle": "never"}, "idle must be one of restart, keep, got 'never'"),
    ],
)
def test_players_that_there_are_not(settings, message):
    with pytest.raises(InputError, match=message):
        PausingPlayer(**{"start_buffer": 1, "resume_buffer": 1.5, "client_buffer": 3} | settings)


@pytest.mark.parametrize(
    ("path", "video", "player", "error", "message"),
    [
        ({}, {}, {"refill_at": 0.05}, InputError, "at least a round trip time of 0.1 s, got 0.05 s"),
        ({"tcp": "reno"}, {}, {}, InputError, "followed for tcp = reno-sack"),
        ({"initial_window": None}, {}, {}, InputError, "give an initial window, as 10"),
        ({"max_window": 400, "loss": 1e-5}, {}, {}, AccuracyError, "take idle = keep, or a smaller max_window"),
        (
            {},
            {"packet_rate": None, "duration": None, "curve": ([0, 1, 9], [0, 10, 40])},
            {},
            InputError,
            "constant rate",
        ),
    ],
)
def test_what_is_refused(path, video, player, error, message):
    path = Path(**{"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 14} | SACK | path)
    player = PausingPlayer(**{"start_buffer": 1, "client_buffer": 3, "refill_at": 1} | player)
    with pytest.raises(error, match=message):
        play(path, Video(**{"packet_rate": 60, "duration": 30} | video), player)

"""What a viewer sees: the law of the stalled time, against players that are simulated packet by packet."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import monte_carlo as mc
import tcpstream
from tcpstream import InputError, Path, Player, Video, play, stored
from tcpstream.answers.coarse_stored import CoarseStored

PATH = Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=3, max_window=53, backoff="rfc6298", halving="floor")
VIDEO = Video(packet_rate=40, duration=60)


@njit(cache=True)
def arrivals(tcp_path, rtt, packets, rng):
    """When each packet is there [s]: those of round i from (i - 1) R on."""
    times, tcp = np.zeros(packets), mc.new_tcp()
    delivered, i = 0, 0
    for k in range(packets):
        while delivered <= k:
            i += 1
            if tcp[5] > 0:
                tcp[5] -= 1
            else:
                delivered += mc.round_of_tcp(tcp, tcp_path, rng)
        times[k] = (i - 1) * rtt
    return times


@njit(cache=True)
def largest_lateness(there, packet_rate, start):
    """Stalled time of a player whose later deadlines are all shifted by a stall."""
    return max(0.0, (there - start - np.arange(len(there)) / packet_rate).max())


@njit(cache=True)
def with_a_clock(there, packet_rate, start):
    """Stalled time of a player whose clock stops at each missing packet and goes on when it is there."""
    stalled, clock = 0.0, start
    for time in there:
        if time > clock:
            stalled += time - clock
            clock = time
        clock += 1 / packet_rate
    return stalled


def close(sample, expected, allowed=0.0):
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    assert abs(sample.mean() - expected) <= 4 * error + allowed, (sample.mean(), expected, error)


@pytest.fixture(scope="module")
def watched():
    """What `play` says of 6 s, and when the packets of 20,000 such videos are there."""
    path = replace(PATH, max_window=12)
    result = play(path, Video(packet_rate=40, duration=6), Player(start=1.0), accuracy="exact")
    rng, tcp = np.random.default_rng(7), mc.tcp_path(path)
    return result, [arrivals(tcp, path.rtt, 240, rng) for _ in range(20_000)]


@pytest.mark.parametrize("player", [largest_lateness, with_a_clock])
def test_as_players_that_are_simulated(watched, player):
    result, videos = watched
    waited = np.array([player(there, 40.0, 1.0) for there in videos])
    close(waited > 1e-9, result.stall_probability)
    for x in (0.5, 1.5):
        close(waited > x, result.longer_than(x))
    close(waited, result.mean_total_rebuffer, result.errors["mean_total_rebuffer"])
    close(waited / (waited + 6), result.rebuffering_ratio, result.errors["rebuffering_ratio"])
    for u in (0.9, 0.99):
        assert (waited <= result.total_rebuffer_quantile(u) + 1e-9).mean() >= u - 0.004


@pytest.mark.parametrize(
    "tcp",
    [
        {"sender": "classic"},
        {"tcp": "reno-sack", "initial_window": 10, "detection": "rack"},
        {"tcp": "cubic", "initial_window": 10, "detection": "rack"},
    ],
)
def test_every_chain_is_one_minus_alpha(tcp):
    path, video = Path(loss=0.04, rtt=0.1, rto=0.4, **({"sender": "classic"} | tcp)), Video(packet_rate=30, duration=8)
    result, solved = play(path, video, Player(start=0.7), accuracy="exact"), stored(path, video, accuracy="exact")
    for x in (0.0, 0.3, 2.0):
        assert result.longer_than(x) == pytest.approx(1 - solved.no_late_probability(0.7 + x), abs=1e-12)


def test_known_values():
    # alpha at tau + x, known before there was a player
    result = play(PATH, VIDEO, Player(start=1.0), accuracy="exact")
    np.testing.assert_allclose(result.longer_than([0.0, 1.0, 3.0]), [0.245225, 0.06657, 0.00539], rtol=1e-3)


def test_ordinary_rates_are_within_their_errors():
    path, video = replace(PATH, max_window=16), replace(VIDEO, duration=8)
    exact, fine = (play(path, video, Player(start=1.0), accuracy=how) for how in ("exact", "fine"))
    assert isinstance(fine.solved, CoarseStored)
    assert abs(fine.stall_probability - exact.stall_probability) <= fine.errors["stall_probability"]
    allowed = fine.errors["mean_total_rebuffer"] + exact.errors["mean_total_rebuffer"]
    assert abs(fine.mean_total_rebuffer - exact.mean_total_rebuffer) <= allowed < 0.15 * exact.mean_total_rebuffer
    allowed = fine.errors["rebuffering_ratio"] + exact.errors["rebuffering_ratio"]
    assert abs(fine.rebuffering_ratio - exact.rebuffering_ratio) <= allowed


def test_the_start_that_meets_a_target():
    path, video = Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4, max_window=12), Video(packet_rate=20, duration=5)
    result = play(path, video)
    start = result.required_start(stall_probability=0.05)
    assert play(path, video, Player(start)).stall_probability == pytest.approx(0.05, rel=0.05)
    start = result.required_start(ratio=0.01)
    assert play(path, video, Player(start)).rebuffering_ratio <= 0.0102
    assert play(path, video, Player(0.95 * start)).rebuffering_ratio > 0.01


def test_without_losses_nothing_stalls():
    result = play(Path(sender="classic", loss=1e-6, rtt=0.1, rto=0.4), Video(packet_rate=5, duration=10), Player(5.0))
    assert result.stall_probability < 1e-6
    assert result.total_rebuffer_quantile(0.99) == 0
    assert result.mean_total_rebuffer < 1e-6


def test_exports():
    path, video = Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4, max_window=8), Video(packet_rate=20, duration=3)
    result = play(path, video, Player(1.0))
    data = json.loads(json.dumps(result.to_dict()))
    assert data["stall_probability"] == result.stall_probability
    assert data["total_rebuffer_s"]["p99"] == result.total_rebuffer_quantile(0.99)
    assert data["rebuffer_count"] is None
    assert data["join_time_s"] == {"mean": 1, "p50": 1, "p90": 1, "p99": 1}
    table = result.to_pandas([0.0, 1.0])
    assert table["probability_longer"].tolist() == [result.stall_probability, result.longer_than(1.0)]
    assert "P(any stall)" in result.summary()
    assert pickle.loads(pickle.dumps(result)).stall_probability == result.stall_probability
    axes = result.plot()
    assert axes.get_xlabel() == "stalled time x (s)"


@pytest.mark.parametrize("start", [-1, float("nan"), "2", 1e9])
def test_a_start_out_of_range_is_refused(start):
    with pytest.raises(InputError, match="start must"):
        Player(start)


def test_bad_questions_are_refused():
    path, video = Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4), Video(packet_rate=20, duration=5)
    result = play(path, video)
    assert result.player == tcpstream.Player(2.0)
    with pytest.raises(InputError, match="needs the duration"):
        play(path, Video(packet_rate=20))
    with pytest.raises(InputError, match="time must not be negative, got -1 s"):
        result.longer_than(-1.0)
    with pytest.raises(InputError, match="give a stall probability or a rebuffering ratio"):
        result.required_start()
    for target in ({"stall_probability": 0.0}, {"ratio": 1.0}):
        with pytest.raises(InputError, match="must lie strictly between 0 and 1"):
            result.required_start(**target)
    with pytest.raises(InputError, match="quantile must lie strictly"):
        result.total_rebuffer_quantile(1.0)

"""What a viewer sees: the law of the stalled time, against players that are simulated packet by packet."""

from __future__ import annotations

import json
import pickle

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
def stalled(tcp_path, rtt, packet_rate, packets, start, runs, rng):
    """Stalled time of runs of a player that stops at each missing packet until it is there.

    Packets of round i are there from (i - 1) R on.
    """
    result = np.zeros(runs)
    for run in range(runs):
        tcp = mc.new_tcp()
        delivered, i, waited = 0, 0, 0.0
        for k in range(packets):
            while delivered <= k:
                i += 1
                if tcp[5] > 0:
                    tcp[5] -= 1
                else:
                    delivered += mc.round_of_tcp(tcp, tcp_path, rng)
            waited = max((i - 1) * rtt - start - k / packet_rate, waited)  # the clock of playback stands still
        result[run] = waited
    return result


@njit(cache=True)
def stalled_step_by_step(tcp_path, rtt, packet_rate, packets, start, runs, rng):
    """The same, with a clock that is stopped and goes on."""
    result = np.zeros(runs)
    for run in range(runs):
        tcp = mc.new_tcp()
        delivered, i, total, clock = 0, 0, 0.0, start
        for k in range(packets):
            while delivered <= k:
                i += 1
                if tcp[5] > 0:
                    tcp[5] -= 1
                else:
                    delivered += mc.round_of_tcp(tcp, tcp_path, rng)
            there = (i - 1) * rtt
            if there > clock:
                total += there - clock
                clock = there
            clock += 1 / packet_rate
        result[run] = total
    return result


def close(sample, expected, allowed=0.0):
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    assert abs(sample.mean() - expected) <= 4 * error + allowed, (sample.mean(), expected, error)


@pytest.mark.parametrize("simulated", [stalled, stalled_step_by_step])
def test_as_players_that_are_simulated(simulated):
    path, video = PATH, Video(packet_rate=40, duration=20)
    result = play(path, video, Player(start=1.0), accuracy="exact")
    waited = simulated(mc.tcp_path(path), path.rtt, 40.0, 800, 1.0, 60_000, np.random.default_rng(7))
    close(waited > 1e-9, result.stall_probability)
    for x in (0.5, 1.5):
        close(waited > x, result.longer_than(x))
    close(waited, result.mean_total_rebuffer, result.errors["mean_total_rebuffer"])
    close(waited / (waited + 20), result.rebuffering_ratio, result.errors["rebuffering_ratio"])
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
    path, video = Path(loss=0.04, rtt=0.1, rto=0.4, **tcp), Video(packet_rate=30, duration=8)
    result, solved = play(path, video, Player(start=0.7), accuracy="exact"), stored(path, video, accuracy="exact")
    for x in (0.0, 0.3, 2.0):
        assert result.longer_than(x) == pytest.approx(1 - solved.no_late_probability(0.7 + x), abs=1e-12)


def test_published_values():
    # 10^6 simulated runs of the paper's chain gave .245225, .06657, .00539 within their errors, from alpha at tau + x.
    result = play(PATH, VIDEO, Player(start=1.0), accuracy="exact")
    np.testing.assert_allclose(result.longer_than([0.0, 1.0, 3.0]), [0.245225, 0.06657, 0.00539], rtol=1e-3)


def test_ordinary_rates_are_within_their_errors():
    exact, fine = (play(PATH, VIDEO, Player(start=1.0), accuracy=how) for how in ("exact", "fine"))
    assert isinstance(fine.solved, CoarseStored)
    assert abs(fine.stall_probability - exact.stall_probability) <= fine.errors["stall_probability"]
    allowed = fine.errors["mean_total_rebuffer"] + exact.errors["mean_total_rebuffer"]
    assert abs(fine.mean_total_rebuffer - exact.mean_total_rebuffer) <= allowed < 0.1 * exact.mean_total_rebuffer
    allowed = fine.errors["rebuffering_ratio"] + exact.errors["rebuffering_ratio"]
    assert abs(fine.rebuffering_ratio - exact.rebuffering_ratio) <= allowed


def test_the_start_that_meets_a_target():
    path, video = Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4), Video(packet_rate=20, duration=10)
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
    path, video = Path(sender="classic", loss=0.04, rtt=0.1, rto=0.4), Video(packet_rate=20, duration=5)
    result = play(path, video, Player(1.0))
    data = json.loads(json.dumps(result.to_dict()))
    assert data["stall_probability"] == result.stall_probability
    assert data["total_rebuffer_s"]["p99"] == result.total_rebuffer_quantile(0.99)
    assert data["rebuffer_count"] is None
    assert data["join_time_s"] == 1
    table = result.to_pandas([0.0, 1.0])
    assert table["probability_longer"].tolist() == [result.stall_probability, result.longer_than(1.0)]
    assert "P(any stall)" in result.summary()
    assert pickle.loads(pickle.dumps(result)).stall_probability == result.stall_probability
    axes = result.plot()
    assert axes.get_xlabel() == "stalled time x (s)"


@pytest.mark.parametrize("start", [-1, float("nan"), "2", 1e9])
def test_a_start_out_of_range_is_refused(start):
    with pytest.raises(InputError, match="start must be"):
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

"""Answers to targets meet them with the error that they state themselves: value and error together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcpstream import Pacing, Path, Player, SegmentPlayer, Video, largest_rate, live, play, stored

PATH = Path(loss=0.02, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=20, sender="classic")
VIDEO = Video(packet_rate=51.7, duration=12)
SMALL = Path(loss=0.03, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=10, sender="classic")
LINUX = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=20)


def most(result, name):
    """The most that an answer may be."""
    return getattr(result, name) + result.errors[name]


@pytest.mark.parametrize("solve", [stored, live])
def test_late_fractions(solve):
    result = solve(PATH, VIDEO if solve is stored else Video(packet_rate=51.7), accuracy="fine")
    delay = result.required_delay(1e-3)
    off = result.relative_error(delay)
    assert off > 0.005
    assert result.late_fraction(delay) * (1 + off) <= 1e-3
    assert result.late_at_worst(delay) == pytest.approx(1e-3, rel=1e-3)


def test_late_packets():
    result = stored(PATH, VIDEO, accuracy="fine")
    delay = result.required_delay(no_late=0.98)
    late, off = result.stalled(np.array([delay]))
    assert off[0] > 1e-4
    assert 0.0195 < late[0] + off[0] <= 0.02


def test_exact_answers_have_next_to_no_error():
    result = stored(PATH, VIDEO, accuracy="exact")
    assert result.late_fraction(result.required_delay(1e-3)) == pytest.approx(1e-3, rel=1e-6)


def test_a_late_fraction_below_what_is_followed_has_a_finite_bound():
    result = stored(PATH, VIDEO, accuracy="fine")
    assert result.relative_error(60.0) == math.inf
    assert result.late_at_worst(60.0) <= 2 * result.error_bound


@pytest.mark.parametrize(
    ("path", "rate", "how", "target"),
    [
        (PATH, 51.7, {"accuracy": "fine"}, {"stall_probability": 0.1}),
        pytest.param(PATH, 51.7, {"accuracy": "fine"}, {"ratio": 2e-3}, marks=pytest.mark.long),
        (SMALL, 33.7, {"live": True}, {"stall_probability": 0.05}),
        (SMALL, 30, {"live": True}, {"ratio": 5e-4}),
        (SMALL, 33.7, {"pacing": Pacing(1.25)}, {"stall_probability": 0.02}),
    ],
)
def test_startup_delays(path, rate, how, target):
    video = Video(packet_rate=rate, duration=6 if path is PATH else 3)
    start = play(path, video, Player(start=1), **how).required_start(**target)
    name, wanted = next(iter(target.items()))
    name = "rebuffering_ratio" if name == "ratio" else name
    found, sooner = (play(path, video, Player(start=one), **how) for one in (start, start - 0.03))
    assert most(found, name) <= wanted < most(sooner, name)


@pytest.mark.parametrize("target", [{"stall_probability": 0.02}, {"ratio": 1e-3}])
def test_start_buffers(target):
    path = Path(loss=0.03, rtt=0.1, rto=0.3, max_window=6, sender="classic")
    video, player = Video(packet_rate=33.7, duration=6), Player(start_buffer=1, resume_buffer=1)
    name = "stall_probability" if "stall_probability" in target else "rebuffering_ratio"
    buffer = play(path, video, player).required_start_buffer(**target)
    found = play(path, video, Player(start_buffer=buffer, resume_buffer=1))
    assert found.errors[name] > 1e-3 * getattr(found, name)
    assert most(found, name) <= next(iter(target.values()))


def test_segments():
    found = play(LINUX, Video(packet_rate=62.0, duration=60), SegmentPlayer(segment=2, client_buffer=12))
    values = [
        play(LINUX, found.video, SegmentPlayer(segment=2, client_buffer=12, start_buffer=2.0 * k)) for k in (1, 2, 3)
    ]
    between = (values[1].stall_probability + most(values[1], "stall_probability")) / 2
    assert found.required_start_buffer(stall_probability=between) == 6


def test_rates():
    rate = largest_rate(PATH, delay=2, duration=10, no_late=0.95)
    assert stored(PATH, Video(packet_rate=rate, duration=10)).stalled_at_worst(2.0) <= 0.05

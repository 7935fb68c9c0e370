"""Live streams of variable bit rate: against every transition in dictionaries, and streams of a constant rate."""

from __future__ import annotations

import math

import pytest

import tcpstream
from tcpstream import InputError, Path, Player, Video, play
from two_curves import in_time

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}
CURVE = ([0, 0.4, 0.5, 1.2, 2.0], [0, 10, 16, 22.5, 44])


def curves(path, video, start):
    rounds = math.ceil((video.duration + start) / path.rtt - 1e-9)
    ends = [path.rtt * i for i in range(rounds + 1)]
    whole = math.ceil(video.packets - 1e-9)
    exists = [whole if t > video.duration - 1e-9 else math.floor(float(video.due(t)) + 1e-6) for t in ends]
    return exists, [min(math.ceil(float(video.due(t - start)) - 1e-6), there) for t, there in zip(ends, exists)]


@pytest.mark.parametrize(
    ("path", "start"),
    [
        ({"sender": "classic", "rto": 0.3, "max_window": 5}, 0.5),
        ({"sender": "classic", "rto": 0.2, "max_window": 7}, 0.33),
        (SACK | {"rto": 0.3, "max_window": 6}, 0.4),
    ],
)
def test_as_every_transition_in_dictionaries(path, start):
    path, video = Path(loss=0.06, rtt=0.1, **({"sender": "classic"} | path)), Video(curve=CURVE)
    result = play(path, video, Player(start=start), live=True)
    for packets in (0, 4, 11):  # levels are whole packets at the mean rate of 22 a second
        level = math.floor(22 * start) + packets
        expected = 1 - in_time(path, *curves(path, video, level / 22))[-1]
        x = level / 22 - start
        if x >= 0:
            assert result.longer_than(x) == pytest.approx(expected, abs=1e-9 + result.longer_than_error(x))
        hazard, _ = result._fine.latency.ended(level, 20.0)
        assert -math.expm1(-hazard) == pytest.approx(expected, abs=1e-10)
    bounds = [1 - in_time(path, *curves(path, video, start + late))[-1] for late in (-0.05, 0.05)]
    assert bounds[1] <= result.stall_probability <= bounds[0]
    for u in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert result.longer_than(result.total_rebuffer_quantile(u)) <= 1 - u + 1e-9


def test_a_straight_curve_is_a_constant_rate():
    path = Path(sender="classic", tcp="reno-sack", loss=0.03, rtt=0.1, rto=0.3, max_window=20)
    constant = play(path, Video(packet_rate=50, duration=10), Player(start=1), live=True)
    curved = play(path, Video(curve=([0, 5, 10], [0, 250, 500])), Player(start=1), live=True)
    assert isinstance(curved, tcpstream.EncodedPlay)
    for x in (0, 0.3, 1):
        off = constant.longer_than_error(x) + curved.longer_than_error(x)
        assert curved.longer_than(x) == pytest.approx(constant.longer_than(x), abs=off)
    assert curved.stall_probability == pytest.approx(constant.stall_probability, rel=1e-3)
    assert curved.to_dict()["parameters"]["live"] is True
    assert "variable bit rate" in curved.summary()


def test_a_burst_of_the_encoder_stalls_more():
    path = Path(sender="classic", tcp="reno-sack", loss=0.03, rtt=0.1, rto=0.3, max_window=14)
    burst = play(path, Video(curve=([0, 2, 3, 5], [0, 50, 150, 200])), Player(start=1), live=True)
    even = play(path, Video(packet_rate=40, duration=5), Player(start=1), live=True)
    assert burst.stall_probability > 2.25 * even.stall_probability
    needed = burst.required_start(stall_probability=0.1)
    again = play(path, burst.video, Player(start=needed), live=True)
    assert again.stall_probability <= 0.1 + 1e-9


def test_a_player_that_skips_takes_no_curve():
    with pytest.raises(InputError, match="skips takes a constant playback rate"):
        play(Path(sender="classic", loss=0.01, rtt=0.1), Video(curve=CURVE), Player(on_stall="skip"), live=True)

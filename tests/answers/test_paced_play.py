"""Servers that pace: against every transition in dictionaries, simulated videos, and the limits of the pace."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tcpstream
from tcpstream import AccuracyError, InputError, Pacing, Path, Player, Video, play
from two_curves import in_time, lateness

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}
RENO = {"sender": "classic"}


def curves(path, rate, duration, start, pacing):
    """What exists and what is due, by the ends of rounds: whole packets exist, all that are due count."""
    m, packets = rate * path.rtt, rate * duration
    rounds = math.ceil((duration + start) / path.rtt - 1e-9)
    exists = [
        min(math.floor(pacing.burst * rate + pacing.pace * m * i + 1e-9), math.ceil(packets - 1e-9))
        for i in range(rounds + 1)
    ]
    return exists, [min(m * i - rate * start, packets) - 1e-9 for i in range(rounds + 1)]


@pytest.mark.parametrize(
    ("path", "rate", "duration", "start", "pace", "burst"),
    [
        (RENO | {"rto": 0.3, "max_window": 5}, 20, 3, 0.5, 1.25, 0),
        (RENO | {"rto": 0.3, "max_window": 5}, 20, 3, 0.5, 1.5, 0.35),
        (RENO | {"rto": 0.2, "max_window": 6}, 30, 2, 0.25, 2.2, 0.1),
        (RENO | {"rto": 0.1, "max_window": 5}, 10, 2.5, 0.1, 1, 0.5),
        (RENO | {"rto": 0.2, "max_window": 6}, 30, 2, 0.05, 1.2, 0.1),
        (SACK | {"rto": 0.2, "max_window": 6, "initial_window": 6}, 30, 0.9, 0.0, 1, 0.07),
        (SACK | {"rto": 0.3, "max_window": 6}, 40, 1.4, 0.3, 1.1, 0.2),
        (SACK | {"rto": 0.2, "max_window": 5, "tcp": "cubic"}, 20, 1.2, 0.4, 3, 0),
        ({"tcp": "reno-sack", "rto": 0.3, "max_window": 6}, 30, 1.5, 0.0, 1.3, 1.0),
    ],
)
def test_as_every_transition_in_dictionaries(path, rate, duration, start, pace, burst):
    path, video, pacing = (
        Path(loss=0.06, rtt=0.1, **({"sender": "classic"} | path)),
        Video(packet_rate=rate, duration=duration),
        Pacing(pace, burst),
    )
    result = play(path, video, Player(start=start), pacing=pacing)
    for x in (0.0, 0.1, 0.3):
        expected = 1 - in_time(path, *curves(path, rate, duration, start + x, pacing))[-1]
        assert result.longer_than(x) == pytest.approx(expected, abs=1e-11 + result.longer_than_error(x))
    exact = 1 - in_time(path, *curves(path, rate, duration, start, pacing))[-1]
    assert result.stall_probability == pytest.approx(exact, rel=1e-4, abs=1e-10)  # on a lattice of whole packets


@pytest.mark.parametrize(("rate", "start"), [(23, 0.27), (23, 0.16), (17.3, 0.411)])
def test_startup_delays_between_packets(rate, start):
    """Where packets and rounds have no common lattice: as every transition in dictionaries, and one error between."""
    path, video = (
        Path(sender="classic", loss=0.06, rtt=0.1, max_window=5, rto=0.2),
        Video(packet_rate=rate, duration=1.5),
    )
    pacing = Pacing(1.3, 0.2)
    result = play(path, video, Player(start=start), pacing=pacing)
    exact = 1 - in_time(path, *curves(path, rate, 1.5, start, pacing))[-1]
    assert result.stall_probability == pytest.approx(exact, abs=1e-9)
    for x in np.linspace(0, 6 / rate, 13):
        expected = 1 - in_time(path, *curves(path, rate, 1.5, start + x, pacing))[-1]
        assert abs(result.longer_than(x) - expected) <= result.longer_than_error(x) + 1e-9
    needed = result.required_start(stall_probability=0.3 * exact)
    less, more = (
        1 - in_time(path, *curves(path, rate, 1.5, needed + off, pacing))[-1] for off in (-0.03 * path.rtt, 1e-9)
    )
    assert more <= 0.3 * exact < less


def close(sample, value, error=0.0):
    spread = np.sqrt(value * (1 - value)) if sample.dtype == bool else sample.std(ddof=1)
    allowed = 4 * spread / np.sqrt(len(sample)) + 4 / len(sample) + error
    assert abs(sample.mean() - value) <= allowed, (sample.mean(), value, allowed)


@pytest.mark.parametrize(
    ("path", "rate", "duration", "start", "pace", "burst"),
    [
        (RENO | {"rto": 0.3}, 30, 15, 1.0, 1.25, 0),
        (RENO | {"rto": 0.35}, 33.7, 15, 1.0, 1.1, 2),
        pytest.param({"tcp": "reno-sack", "rto": 1.0}, 47, 15, 1.5, 1.05, 0.5, marks=pytest.mark.long),
        (SACK | {"rto": 0.3}, 57.3, 15, 0.5, 1.2, 0),
        (SACK | {"rto": 0.3, "tcp": "cubic", "max_window": 9}, 40, 6, 0.5, 1.5, 1),
        (SACK | {"rto": 0.3, "loss": 0.1}, 63, 10, 1.0, 1.25, 0),  # faster than TCP
        pytest.param(SACK | {"rto": 0.3}, 57.3, 10, 0.0, 2, 0.5, marks=pytest.mark.long),
    ],
)
def test_as_videos_that_are_simulated(path, rate, duration, start, pace, burst):
    path, video = (
        Path(**{"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 12} | path),
        Video(packet_rate=rate, duration=duration),
    )
    result = play(path, video, Player(start=start), pacing=Pacing(pace, burst))
    m = rate * path.rtt
    ends = np.arange(math.ceil(duration / path.rtt) + 2)
    exists = np.minimum(rate * burst + pace * m * ends, rate * duration)
    stalled = np.maximum(path.rtt * lateness(path, exists, m, 15_000, 5) - start, 0.0)
    errors = result.errors
    close(stalled > 1e-9, result.stall_probability, errors["stall_probability"])
    for x in (0.103, 0.503, 1.003):
        close(stalled > x, result.longer_than(x), result.longer_than_error(x))
    close(stalled, result.mean_total_rebuffer, errors["mean_total_rebuffer"])
    close(stalled / (stalled + duration), result.rebuffering_ratio, errors["rebuffering_ratio"])
    x = result.total_rebuffer_quantile(0.9)
    assert (stalled <= x + 1e-9).mean() >= 0.89 - result.longer_than_error(x)


PATH = Path(sender="classic", tcp="reno-sack", loss=0.03, rtt=0.1, rto=0.3, max_window=14)
VIDEO = Video(packet_rate=50, duration=4)
SLOW = Path(sender="classic", tcp="reno-sack", loss=0.03, rtt=0.1, rto=0.3, max_window=6)


def test_a_pace_of_one_without_a_burst_is_a_live_stream():
    live = play(PATH, VIDEO, Player(start=1), live=True)
    paced = play(PATH, VIDEO, Player(start=1), pacing=Pacing(1))
    for x in (0, 0.5, 2):
        off = live.longer_than_error(x) + paced.longer_than_error(x)
        assert paced.longer_than(x) == pytest.approx(live.longer_than(x), abs=off)
    assert paced.stall_probability == pytest.approx(live.stall_probability, rel=1e-3)
    assert paced.mean_total_rebuffer == pytest.approx(live.mean_total_rebuffer, rel=0.01)


@pytest.mark.parametrize("pacing", [Pacing(1, burst=20), Pacing(1e6), Pacing(1e6, burst=0.1)])
def test_without_an_effect_it_is_a_video_that_tcp_has_from_the_start(pacing):
    late = 0.0 if pacing.burst else PATH.rtt  # a server that has nothing at first begins a round later
    stored = tcpstream.stored(PATH, VIDEO, accuracy="exact")
    paced = play(PATH, VIDEO, Player(start=1.0 + late), pacing=pacing)
    assert paced.stall_probability == pytest.approx(1 - stored.no_late_probability(1.0), rel=1e-4)
    off = paced.longer_than_error(1) + 1e-9
    assert paced.longer_than(1) == pytest.approx(1 - stored.no_late_probability(2.0), abs=off)


def test_a_faster_server_and_a_larger_burst_stall_less():
    def stalls(pace, burst):
        return play(PATH, VIDEO, Player(start=0.5), pacing=Pacing(pace, burst)).stall_probability

    assert stalls(1, 0) > stalls(1.1, 0) > stalls(1.5, 0) > stalls(1.5, 0.3) > stalls(1.5, 20) > 0


def test_the_required_start_meets_its_target():
    pacing = Pacing(1.25, burst=0.5)
    needed = play(PATH, VIDEO, Player(start=1), pacing=pacing).required_start(stall_probability=0.05)
    assert play(PATH, VIDEO, Player(start=needed), pacing=pacing).stall_probability <= 0.05
    assert play(PATH, VIDEO, Player(start=needed - 0.021), pacing=pacing).stall_probability > 0.05


@pytest.mark.long
def test_long_videos_are_not_followed_to_their_end():
    """What the hazard settles to, or falls by, is that of a pass to the end within the stated error."""
    live = play(SLOW, Video(packet_rate=20, duration=36_000), Player(start=4), live=True)
    paced = play(SLOW, Video(packet_rate=20, duration=36_000), Player(start=4), pacing=Pacing(1))
    off = paced.errors["stall_probability"] + live.errors["stall_probability"]
    assert paced.stall_probability == pytest.approx(live.stall_probability, abs=off)
    assert off < 0.05 * live.stall_probability
    whole, first = (
        play(SLOW, Video(packet_rate=20, duration=length), Player(start=1), pacing=Pacing(1.25))
        for length in (36_000, 60)
    )
    off = whole.errors["stall_probability"] + first.errors["stall_probability"]
    assert whole.stall_probability == pytest.approx(first.stall_probability, abs=off)  # the lead has outgrown stalls
    assert off < 0.03 * first.stall_probability


def test_its_json_and_table_are_its_answers():
    pd = pytest.importorskip("pandas")
    result = play(PATH, VIDEO, Player(start=1), pacing=Pacing(1.25, burst=2))
    assert isinstance(result, tcpstream.PacedPlay)
    data = result.to_dict()
    assert (data["parameters"]["pace"], data["parameters"]["burst_s"]) == (1.25, 2)
    assert data["rebuffer_count"] is None
    assert data["total_rebuffer_s"]["mean"] == result.mean_total_rebuffer
    assert data["error_bound"] == result.errors
    frame = result.to_pandas([0, 1])
    assert isinstance(frame, pd.DataFrame)
    assert frame["probability_longer"].iloc[0] == result.stall_probability
    assert "at 1.25 times its rate after 2 s" in result.summary()
    assert "pace 1.25, start 1 s" in repr(result)


def test_round_trips_before_the_request_are_join_time():
    plain, counted = (
        play(PATH, VIDEO, Player(start=1, setup_round_trips=trips), pacing=Pacing(1.25)) for trips in (None, 1)
    )
    assert counted.to_dict()["join_time_s"]["p99"] == pytest.approx(1 + 2 * PATH.rtt)
    assert counted.stall_probability == plain.stall_probability


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"live": True}, "leave out live, segments and start_buffer"),
        ({"player": Player(start_buffer=2)}, "leave out live, segments and start_buffer"),
        ({"player": tcpstream.SegmentPlayer(2)}, "leave out live, segments and start_buffer"),
        ({"accuracy": "fast"}, "one accuracy, got accuracy=fast"),
        ({"video": Video(packet_rate=20)}, "needs the duration"),
        ({"video": Video(curve=([0, 1, 2], [0, 10, 40]))}, "constant playback rate, not a playback curve"),
    ],
)
def test_what_is_refused(settings, message):
    video = settings.pop("video", VIDEO)
    with pytest.raises(InputError, match=message):
        play(PATH, video, settings.pop("player", None), pacing=Pacing(1.25), **settings)


@pytest.mark.parametrize(
    ("pace", "burst", "message"),
    [
        (0.9, 0, "pace must lie between 1 and 1e\\+06 times the rate, got 0.9"),
        (math.nan, 0, "pace must be finite, got nan"),
        (1.25, -1, "burst must not be negative, got -1 s"),
    ],
)
def test_paces_that_make_no_sense(pace, burst, message):
    with pytest.raises(InputError, match=message):
        Pacing(pace, burst)


def test_what_takes_too_long_is_refused():
    path = Path(sender="classic", loss=0.03, rtt=0.1, rto=0.3, max_window=40)  # TCP is slower than the video
    with pytest.raises(AccuracyError, match="take a shorter video"):
        play(path, Video(packet_rate=200, duration=36_000), Player(start=3000), pacing=Pacing(1.25))

"""Players that fetch segments: beside sessions simulated packet by packet, measured ones, and limits that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

import segment_agent
import tcpstream
from tcpstream import AccuracyError, InputError, Path, SegmentPlayer, Video, play
from tcpstream.answers import segment_solve
from tcpstream.playout.segment_clock import Clock
from tcpstream.playout.segment_downloads import Downloads, downloads
from tcpstream.playout.segment_sessions import ANY, DAMPED, MEAN, STALLED, SegmentPass
from tcpstream.tcp import chain_of
from tcpstream.tcp.idle_restart import with_idle_restarts

RUNS = 40_000

CASES = {
    "idle restarts": (0.02, 0.1, 1.46, 200, {"segment": 4, "client_buffer": 8}),
    "idle windows kept": (0.02, 0.1, 1.46, 200, {"segment": 4, "client_buffer": 8, "idle": "keep"}),
    "buffers": (0.02, 0.1, 1.2, 16, {"segment": 2, "client_buffer": 6, "start_buffer": 4, "resume_buffer": 4}),
    "short round trips": (0.01, 0.05, 1.3, 60, {"segment": 2, "client_buffer": 6}),
    "overload": (0.03, 0.08, 0.9, 30, {"segment": 3, "client_buffer": 12, "resume_buffer": 6}),
}


def with_time(name):
    """Return a case as a parameter: most take many seconds."""
    return pytest.param(CASES[name], id=name, marks=[pytest.mark.long] * (name != "buffers"))


@pytest.mark.parametrize("case", [*map(with_time, CASES)])
def test_sessions_simulated_packet_by_packet(case):
    """Within 4 standard errors of 40,000 sessions and the stated error, with what the chain forgets.

    It forgets the threshold of slow start: after a timeout it is drawn anew, and after an idle time it is that of the
    window alone.
    """
    loss, rtt, ratio, duration, settings = case
    path = Path(loss=loss, rtt=rtt, sender="linux", tcp="reno-sack")
    rate, player = tcpstream.throughput(path) / ratio, SegmentPlayer(**settings)
    found = play(path, Video(packet_rate=rate, duration=duration), player)
    seen = segment_agent.seen_by(segment_agent, path, rate, player, found.segments, RUNS)
    stalls, stalled, join = seen["mean_stalls"], seen["mean_total_rebuffer"], seen["mean_join_time"]
    seen["rebuffering_ratio"] = stalled / (stalled + duration)
    for name, values in seen.items():
        room = 4 * values.std() / math.sqrt(RUNS) + found.errors.get(name, 0.0)
        assert getattr(found, name) == pytest.approx(values.mean(), abs=room), name
    if found.stall_counts is not None:
        for k in range(4):
            room = 4 * math.sqrt(found.stall_counts[k] / RUNS) + found.errors["stall_counts"] + 0.02
            assert found.stall_counts[k] == pytest.approx((stalls == k).mean(), abs=room)
    assert found.join_time_quantile(0.9) == pytest.approx(np.quantile(join, 0.9), abs=rtt)


@pytest.mark.long
def test_stalls_that_were_measured():
    """2.24 +- 0.39 stalls in 200 s, and 60 to 88% of the segments after an idle gap: Linux Reno and an HTTP client.

    At p = 0.02, R = 100 ms, segments of 4 s, at most 8 s held, T/mu = 1.46.
    """
    path = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack")
    rate = tcpstream.throughput(path) / 1.46
    found = play(path, Video(packet_rate=rate, duration=200), SegmentPlayer(segment=4, client_buffer=8))
    assert found.mean_stalls == pytest.approx(2.24, abs=0.39)
    assert 0.6 <= found.restart_share <= 0.88


def test_segments_of_one_window():
    """Each download takes a round or two rounds, for itself: the buffer is a random walk that can be written down."""
    late, room = 0.6, 7
    chance = np.array([0.0, 1 - late, 0.0, late])[:, np.newaxis, np.newaxis]  # 2 or 4 rounds for 3 steps of media
    found = Downloads(chance, [np.eye(1)], 0, 0.0)
    ran = SegmentPass(found, Clock(1.0, 3, float(room), 1.0, 9.0), 1, np.array([0.2])).run(6, [np.ones(1)])

    def walk(held, left):
        """Return P(stall), E[N], E[S] and E[exp(-S / 5)] with so much held when a segment is asked for."""
        if left == 0:
            return np.array([0.0, 0.0, 0.0, 1.0])
        total = np.zeros(4)
        for took, weight in ((2, 1 - late), (4, late)):
            stall = max(took - held, 0)
            after = walk(min(max(held - took, 0) + 3, room), left - 1)
            if stall:
                after = np.array([1.0, 1 + after[1], stall + after[2], math.exp(-stall / 5) * after[3]])
            total += weight * after
        return total

    for n in range(7):
        any_, mean, stalled, damped = walk(3, n)
        row = ran.seen[0, n]
        assert row[[ANY, MEAN, STALLED, DAMPED]] == pytest.approx([any_, mean, stalled, 1 - damped], abs=1e-12)


def test_answers_do_not_depend_on_what_was_asked_before():
    path = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=16)
    video, player = Video(packet_rate=40, duration=20), SegmentPlayer(segment=2, client_buffer=6)
    play(path, video, SegmentPlayer(segment=2, client_buffer=4)).summary()
    after = play(path, video, player)
    segment_solve._downloads.cache_clear()
    anew = play(path, video, player)
    assert (after.mean_stalls, after.errors) == (anew.mean_stalls, anew.errors)


def test_fast_paths_never_stall_and_slow_ones_always_do():
    path = Path(loss=0.01, rtt=0.05, sender="linux", tcp="reno-sack", max_window=14)
    player = SegmentPlayer(segment=2, client_buffer=8)
    fast = play(path, Video(packet_rate=tcpstream.throughput(path) / 20, duration=30), player)
    assert fast.stall_probability < 1e-5
    rate = 2 * tcpstream.throughput(path)
    slow = play(path, Video(packet_rate=rate, duration=30), player)
    assert slow.stall_probability > 0.999
    # T/mu = 1/2, but for the round trip of each request: in the long run half of the time stalls
    hour = slow.stalls_per_hour * slow.mean_stall_length
    assert hour == pytest.approx(3600, rel=0.05)


def test_the_first_stall_is_that_of_shorter_videos():
    """No stall in k segments of playback, as in a video of k; each as exact as it says."""
    path = Path(
        loss=0.0101, rtt=0.078, sender="classic", tcp="reno-sack", max_window=15, rounds_per_increase=2,
        initial_window=4, detection="rack",
    )  # fmt: skip
    player = SegmentPlayer(segment=0.709, client_buffer=0.972)

    def of(segments):
        return play(path, Video(packet_rate=38.5, duration=0.709 * segments), player)

    long, short = of(26), of(3)
    assert long.no_stall_until([0.709, 0.71]) == pytest.approx([1, 1 - of(2).stall_probability])
    assert long.no_stall_until(3 * 0.709) == pytest.approx(1 - short.stall_probability)
    assert long.errors["no_stall_until"] > 0.99 * short.errors["stall_probability"]


def test_a_buffer_of_whole_segments_is_not_too_large():
    assert SegmentPlayer(segment=3.739, client_buffer=12.147, start_buffer=11.217).starts_with == 3


def test_segments_of_the_largest_window():
    """They take one round trip each, once the window is as large as they are."""
    path = Path(loss=1e-6, rtt=0.1, sender="linux", tcp="reno-sack", max_window=13)
    chance = downloads(chain_of(path), None, 13, 400, 1.25).chance
    at = np.linalg.matrix_power(chance.sum(axis=0), 1000)[0]
    assert at @ chance[0].sum(axis=1) > 0.999


@pytest.mark.long
def test_a_larger_start_buffer_meets_a_target():
    path = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=24)
    video = Video(packet_rate=tcpstream.throughput(path) / 1.46, duration=100)
    found = play(path, video, SegmentPlayer(segment=4, client_buffer=20))
    needed = found.required_start_buffer(stall_probability=0.01)
    assert needed > 4
    again = play(path, video, SegmentPlayer(segment=4, client_buffer=20, start_buffer=needed))
    assert again.stall_probability <= 0.01 < found.stall_probability
    assert again.no_stall_until([0, 100]) == pytest.approx([1, 1 - again.stall_probability])
    with pytest.raises(AccuracyError, match="no start buffer of up to 5 segments"):
        found.required_start_buffer(stall_probability=1e-9)
    tight = play(path, video, SegmentPlayer(segment=4, client_buffer=8))
    with pytest.raises(AccuracyError, match="no start buffer of up to 2 segments"):
        tight.required_start_buffer(ratio=1e-6)


def test_idle_times_lead_to_slow_start():
    """64 packets, idle: 48 as the threshold, and half of the window for each timer, but not below 10.

    While a loss is repaired it is the reduced window, which is the threshold then.
    """
    chain = chain_of(Path(loss=0.01, rtt=0.1, sender="linux", tcp="reno-sack", max_window=200))
    on = with_idle_restarts(chain, 10, 10, 1.01)
    graph = on.chain.graph
    whole = graph.n_preamble + np.searchsorted(graph.windows[graph.n_preamble :], 64)
    moves = graph.branches
    repair = moves.from_state[np.flatnonzero(graph.windows[moves.from_state] > graph.windows[moves.to_state])[-1]]
    left = int(graph.windows[moves.to_state[moves.from_state == repair]][0])  # of 200
    assert left == 100
    for begin, halvings, windows in (
        (whole, 1, [32, 48]), (whole, 2, [16, 32, 48]), (whole, 9, [10, 20, 40, 48]),
        (repair, 1, [40, 80, 100]), (repair, 9, [10, 20, 40, 80, 100]),
    ):  # fmt: skip
        targets, shares = on.after_idle(halvings)
        assert shares[begin].max() == pytest.approx(1)
        state, seen = targets[begin, np.argmax(shares[begin])], []
        while state < graph.n_preamble:
            seen.append(graph.windows[state])
            state = graph.grow_to[state]
        assert [*seen, graph.windows[state]] == windows
    small = graph.n_preamble + np.searchsorted(graph.windows[graph.n_preamble :], 7)
    assert (on.after_idle(3)[0][small] == small).all()
    assert on.chain.packets_per_round == pytest.approx(chain.packets_per_round, rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"segment": 0}, "segment must be greater than 0 s"),
        ({"segment": 4, "client_buffer": 4}, "client buffer must be above the segment of 4 s"),
        ({"segment": 4, "client_buffer": 10, "start_buffer": 9}, "start buffer must lie between 0 and 8 s, got 9 s"),
        ({"segment": 4, "resume_buffer": float("nan")}, "resume buffer must be finite"),
        ({"segment": 4, "idle": "sleep"}, "idle must be one of restart, keep"),
    ],
)
def test_players_that_are_none(settings, message):
    with pytest.raises(InputError, match=message):
        SegmentPlayer(**settings)


@pytest.mark.parametrize(
    ("path", "video", "message"),
    [
        ({"sender": "linux", "bottleneck": 200, "buffer": 20}, {}, "got tcp = cubic behind a bottleneck"),
        ({"sender": "classic"}, {}, "got tcp = reno"),
        ({"sender": "classic", "tcp": "reno-sack"}, {}, "initial window"),
        ({}, {"packet_rate": 0.01}, "1 to 100,000 packets"),
        ({"rtt": 0.9}, {"segment": 0.5}, "at least a round trip time"),
        ({}, {"curve": ([0, 9], [0, 90]), "packet_rate": None, "duration": None}, "playback curve"),
    ],
)
def test_what_is_not_followed(path, video, message):
    settings = {"loss": 0.02, "rtt": 0.1, "sender": "linux"} | ({"tcp": "reno-sack"} if not path else {}) | path
    if "rtt" in path:
        settings["tcp"] = "reno-sack"
    given = {"packet_rate": 30, "duration": 60, "segment": 4} | video
    player = SegmentPlayer(segment=given.pop("segment"))
    with pytest.raises(InputError, match=message):
        play(Path(**({"sender": "classic"} | settings)), Video(**given), player)

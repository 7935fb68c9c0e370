"""Players that fetch segments over CUBIC: beside sessions whose sender remembers its threshold and its line."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import cubic_segment_agent
import segment_agent
import tcpstream
from tcpstream import Path, SegmentPlayer, Video, play
from tcpstream.numerics.weights import around
from tcpstream.playout.segment_downloads import downloads
from tcpstream.playout.segment_points import points_of
from tcpstream.tcp.line_restarts import with_line_restarts
from tcpstream.tcp.lines import lines_of, usual_window
from tcpstream.tcp.places import Kind

cubic = importlib.import_module("tcpstream.tcp.cubic").cubic

RUNS = 40_000

CASES = {
    "windows kept": (0.02, 0.1, 1.46, 200, {"segment": 4, "client_buffer": 8, "idle": "keep"}),
    "buffers": (0.02, 0.1, 1.2, 16, {"segment": 2, "client_buffer": 6, "start_buffer": 4, "resume_buffer": 4}),
    "restarts": (0.02, 0.1, 1.52, 200, {"segment": 4, "client_buffer": 8}),
    "long round trips": (0.0005, 0.3, 5.93, 10, {"segment": 2, "client_buffer": 6}),
    "overload": (0.03, 0.08, 0.9, 30, {"segment": 3, "client_buffer": 12, "resume_buffer": 6}),
    "4 Mbit/s": (0.005, 0.04, 1.25, 60, {"segment": 4, "client_buffer": 8}),
    "plateaus": (0.0005, 0.04, 1.1, 60, {"segment": 4, "client_buffer": 12, "idle": "keep"}),
}


QUICK = {"windows kept", "buffers", "long round trips"}


def with_time(name):
    """Return a case as a parameter: most take many seconds."""
    return pytest.param(CASES[name], id=name, marks=[pytest.mark.long] * (name not in QUICK))


@pytest.mark.parametrize("case", [*map(with_time, CASES)])
def test_sessions_simulated_packet_by_packet(case):
    """Within 4 standard errors of 40,000 sessions and the stated error."""
    loss, rtt, ratio, duration, settings = case
    path, player = Path(loss=loss, rtt=rtt, losses="independent"), SegmentPlayer(**settings)
    rate = tcpstream.throughput(path) / ratio
    found = play(path, Video(packet_rate=rate, duration=duration), player)
    seen = segment_agent.seen_by(cubic_segment_agent, path, rate, player, found.segments, RUNS)
    stalls, stalled, join = seen["mean_stalls"], seen["mean_total_rebuffer"], seen.pop("mean_join_time")
    for name, values in (seen | {"rebuffering_ratio": stalled / (stalled + duration)}).items():
        room = 4 * values.std() / math.sqrt(RUNS) + found.errors[name]
        assert getattr(found, name) == pytest.approx(values.mean(), abs=room), name
    assert found.mean_join_time == pytest.approx(join.mean(), rel=0.02)
    if found.stall_counts is not None:
        for k in range(4):
            room = 4 * math.sqrt(max(found.stall_counts[k], 1e-4) / RUNS) + found.errors["stall_counts"]
            assert found.stall_counts[k] == pytest.approx((stalls == k).mean(), abs=room)
    few = found.mean_download_time < 10 * rtt  # round trips, of which a segment takes a whole number
    assert found.errors["mean_download_time"] < (0.12 if few else 0.05) * found.mean_download_time


def test_segments_after_idle_times():
    """Mean rounds of a segment, each after an idle time that halves the window so often; 4 standard errors, and .5%."""
    path = Path(loss=0.02, rtt=0.1, losses="independent")
    after = with_line_restarts(cubic(path, ratio=1.1), 10, 1.5)
    found = downloads(after.chain, after, 209, 209, 1.25)
    assert found.left_out < 1e-6
    rounds = np.einsum("tab,t->a", found.chance, 1 + np.arange(len(found.chance)))
    rng = np.random.default_rng(6)
    for halvings in (0, 1, 3):
        drawn = cubic_segment_agent.after_idle_times(
            cubic_segment_agent.connection(10), RUNS, 209, 0.02, path.timeout_ratio, 0.1, 10, halvings, rng
        )
        at = np.eye(1, len(rounds), found.first)[0] @ found.after_idle[halvings]
        for _ in range(100):
            at = at @ found.chance.sum(axis=0) @ found.after_idle[halvings]
        room = 4 * drawn.std() / math.sqrt(RUNS) + 0.005 * drawn.mean()
        assert at @ rounds == pytest.approx(drawn.mean(), abs=room)


def test_windows_with_negative_shares_are_followed():
    few = cubic(Path(loss=0.02, rtt=0.1, losses="independent"), ratio=1.3)
    assert downloads(few, None, 209, 100, 1.5).left_out < 1e-6


def test_drawn_sessions_are_those_of_the_answers():
    path, video = Path(loss=0.02, rtt=0.1, losses="independent"), Video(packet_rate=55, duration=60)
    found = play(path, video, SegmentPlayer(segment=4, client_buffer=8, idle="keep"))
    drawn = found.sessions(20_000, np.random.default_rng(4))
    for name, values in (("mean_stalls", drawn.stalls), ("mean_total_rebuffer", drawn.total_rebuffer)):
        room = 4 * values.std() / math.sqrt(len(drawn)) + found.errors[name]
        assert getattr(found, name) == pytest.approx(values.mean(), abs=room)


@pytest.fixture(scope="module")
def chain():
    return cubic(Path(loss=0.005, rtt=0.04, losses="independent"), ratio=1.1)


def test_idle_times_lead_to_slow_start_and_back_to_the_line(chain):
    """Of 40 packets: half of the window for each timer, but not below 10; at least three quarters as the threshold."""
    on = with_line_restarts(chain, 10, 1.5)
    graph = on.chain.graph
    forty = np.flatnonzero((graph.places.window == 40) & (graph.places.kind == Kind.AVOIDANCE))
    for halvings, begin in ((1, 20), (2, 10), (5, 10)):
        targets, shares = on.after_idle(halvings)
        for s in forty.tolist():
            assert shares[s].sum() == pytest.approx(1)
            ways = []
            for state in targets[s][shares[s] != 0].tolist():
                way = [state]
                while way[-1] < graph.n_preamble:
                    way.append(int(graph.grow_to[way[-1]]))
                ways.append(graph.places.window[way])
            weights = shares[s][shares[s] != 0]
            assert weights @ [way[0] for way in ways] == pytest.approx(begin, abs=0.15 * begin)
            assert weights @ [way[-1] for way in ways] == pytest.approx(41, abs=2)
            assert 30 <= weights @ [way[-2] for way in ways] + 0.5 <= 38
            assert all((np.diff(way) > 0).all() and (way[1:-2] == 2 * way[:-3]).sum() >= len(way) - 4 for way in ways)
    small = np.flatnonzero((graph.places.window == 8) & (graph.places.kind == Kind.AVOIDANCE))
    targets, shares = on.after_idle(3)
    assert (targets[small][shares[small] != 0] == small).all()
    assert on.chain.packets_per_round == pytest.approx(chain.packets_per_round, rel=1e-9)


def test_points_stand_for_the_windows_of_the_long_run(chain):
    """What is known of a state keeps its window; a point has one window."""
    points = points_of(chain, 1.25)
    windows, n = chain.graph.places.window, chain.graph.size
    assert points.known.sum(axis=1) == pytest.approx(1)
    assert points.states.sum(axis=1) == pytest.approx(1)
    at = points.states[:, :n] @ windows
    usual = windows <= usual_window(chain) / 2
    assert (points.known[:n] @ at)[usual] == pytest.approx(windows[usual], rel=2e-3)
    there = points.states.toarray()[:, :n] > 0
    assert all(len(set(windows[row].tolist())) == 1 for row in there)


def test_lines_are_those_of_the_chain(chain):
    """Each begins with the round that repairs, at .7 of the window at its loss, and ends in the largest window."""
    lines = lines_of(chain.graph)
    assert lines[-1].windows.tolist() == [chain.graph.places.window[-1]]
    assert [line.end for line in lines[:-1]] == [line.first for line in lines[1:]]
    for line in lines[:-1]:
        assert (np.diff(line.windows) >= 0).all()
        assert chain.graph.grow_to[line.end - 1] == chain.graph.size - 1
        if line.kind in {Kind.AVOIDANCE, Kind.EARLY_AVOIDANCE}:
            assert line.windows[0] == max(int(0.7 * line.begin + 1e-9), 2)
            assert line.plateau == int(line.begin * (1 if line.kind == Kind.AVOIDANCE else 0.85) + 1e-9)


def test_nodes_around_a_value():
    """A cubic in the logarithm is kept up to the usual values, a line in the value itself beyond."""
    nodes, values = np.array([2, 3, 5, 8, 13, 21, 34, 55]), np.arange(2, 56)
    which, weights = around(nodes, values, 25)
    few = values >= 13
    cubic_of, line = lambda x: 1 + np.log(x) - np.log(x) ** 2 + np.log(x) ** 3, lambda x: 3 + 2.0 * x
    assert (weights * cubic_of(nodes[which])).sum(axis=1)[~few] == pytest.approx(cubic_of(values[~few]))
    assert (weights * line(nodes[which])).sum(axis=1)[few] == pytest.approx(line(values[few]))
    assert around(np.array([7]), np.array([7]), 9)[1].sum() == pytest.approx(1)

"""Players of the simulator as witnesses of ``play``: the study's table, and two small studies of the same kind."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pytest

import beside_packets
import tcpstream
from beside_packets import ANSWERS, FREE, SENDERS, distance, matched, recorded, solved, table, watched
from tcpstream import Path, Video, sim

R, RATE, LENGTH, RUNS = 0.1, 40.0, 12.0, 1500
DOCUMENTATION = FilePath(__file__).parents[2] / "docs" / "stalls.md"


def far(row):
    """Answers that differ by four standard errors or more, beyond what the solve may be off."""
    return [name for name in ANSWERS if row["play"][name][0] is not None and distance(row, name) >= 4]


@pytest.fixture(scope="module")
def delivered():
    """What an agent that obeys the chain delivers; packets of a round are there when it begins, as in the chain."""
    rng = np.random.default_rng(7)
    return [
        sim.rounds_agent(loss=0.03, rtt=R, timeout_ratio=3.0, max_window=12, duration=5 * LENGTH, rng=rng)
        for _ in range(RUNS)
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"start": 1},
        {"start_buffer": 1, "resume_buffer": 1},
        {"start_buffer": 0.5, "resume_buffer": 2},
    ],
)
def test_viewers_of_the_agent_see_what_play_says(delivered, settings):
    sessions = [flow.session(sim.Player(**settings), RATE, LENGTH) for flow in delivered]
    path = Path(sender="classic", loss=0.03, rtt=R, rto=0.3, max_window=12)
    player = tcpstream.Player(**settings)
    result = tcpstream.play(path, Video(packet_rate=RATE, duration=LENGTH), player)
    seen = {
        "stall_probability": [len(one.stall_start) > 0 for one in sessions],
        "mean_total_rebuffer": [one.total_rebuffer for one in sessions],
    }
    if "start_buffer" in settings:
        seen["mean_stalls"] = [len(one.stall_start) for one in sessions]
        seen["mean_join_time"] = [one.join_time for one in sessions]
    assert 0.2 < np.mean(seen["stall_probability"]) < 0.9  # there is something to see
    for name, values in seen.items():
        sample = np.array(values, dtype=float)
        allowed = 4 * sample.std(ddof=1) / np.sqrt(RUNS) + result.errors.get(name, 1e-6)
        assert abs(sample.mean() - getattr(result, name)) < allowed, name


def test_viewers_of_a_sender_of_packets_see_what_play_says(monkeypatch):
    """Under independent losses, at the p of the sender's throughput; clocks differ by the R/2 that packets travel."""
    monkeypatch.setattr(beside_packets, "DURATION", LENGTH)
    monkeypatch.setattr(beside_packets, "BEGINNING", 3.0)
    world = SENDERS["independent"] | {"runs": 1500}
    settings = {"start_buffer": 0.5, "resume_buffer": 1}
    p = matched(world)["p"]
    row = {"simulated": watched(world, [settings], 3)[0], "play": solved(world, p, settings)}
    assert 0.02 < p < 0.025  # that of the losses, and little more
    assert row["simulated"]["stall_probability"][0] > 0.02
    assert not far(row)


def test_a_sender_of_packets_starts_half_a_round_trip_later():
    """Nothing is lost, windows are 1, 2, 4, ...: all clocks are known, and 40 packets are there in the sixth round."""
    path = Path(sender="linux", tcp="reno-sack", loss=1e-9, rtt=R, max_window=30, initial_window=1)
    tcp = sim.Tcp("sack", 30, 1, timer="rfc6298", granularity=0.2)
    wire = sim.single_path(sim.Link(R / 2), sim.Link(R / 2), tcp, sim.Stored(RATE, LENGTH))
    flow = sim.simulate(wire, 100, np.random.default_rng(1)).flows[0]
    result = tcpstream.play(path, Video(packet_rate=RATE, duration=LENGTH), tcpstream.Player(start_buffer=1))
    assert flow.session(sim.Player(start_buffer=1), RATE, LENGTH).join_time == pytest.approx(0.5 + R / 2)
    assert result.mean_join_time == pytest.approx(0.5, abs=1e-6)


def test_the_study_is_whole_and_its_table_is_the_documentation():
    rows = recorded()
    wanted = [(name, one) for name, world in SENDERS.items() for one in (*FREE, *world["pausing"])]
    assert [(row["sender"], row["settings"]) for row in rows] == wanted
    assert table(rows) in DOCUMENTATION.read_text(encoding="utf-8")


def test_the_study_finds_what_play_says_where_the_sender_is_the_chain():
    for row in recorded():
        if row["sender"] == "agent":
            assert not far(row), row["settings"]

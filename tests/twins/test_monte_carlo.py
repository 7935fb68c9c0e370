"""The simulation that checks the chains, checked against what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import monte_carlo as mc
from tcpstream.path import Path
from tcpstream.tcp.table_vi import packets_per_round
from tcpstream.video import Video

PATHS = [
    Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=1),
    Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=2.3, max_window=12, backoff="paper"),
    Path(sender="classic", loss=0.01, rtt=0.1, timeout_ratio=3, max_window=20, rounds_per_increase=2, halving="ceil"),
]


def close(estimate, error, expected):
    assert np.all(np.abs(estimate - expected) <= 4 * error + 1e-12), (estimate - expected) / error


def test_arrivals_are_geometric_and_cut_at_the_window():
    rng = np.random.default_rng(1)
    drawn = np.array([mc.arrives(3, 0.2, rng) for _ in range(20_000)])
    expected = np.array([0.2, 0.16, 0.128, 0.512])
    found = np.bincount(drawn, minlength=4) / len(drawn)
    close(found, np.sqrt(expected * (1 - expected) / len(drawn)), expected)


def test_a_wait_keeps_its_mean():
    rng = np.random.default_rng(2)
    drawn = np.array([mc.random_rounds(2.3, rng) for _ in range(20_000)])
    assert set(drawn) == {2, 3}
    close(drawn.mean(), drawn.std() / np.sqrt(len(drawn)), 2.3)
    assert {mc.random_rounds(0.6 / 0.2, rng) for _ in range(1000)} == {3}


@pytest.mark.parametrize("path", PATHS, ids=["one", "plain", "delayed"])
def test_throughput(path):
    rng, tcp, chain = np.random.default_rng(3), mc.new_tcp(), mc.tcp_path(path)
    delivered = np.zeros(80_000)
    for i in range(len(delivered)):
        if tcp[5] > 0:
            tcp[5] -= 1
        else:
            delivered[i] = mc.round_of_tcp(tcp, chain, rng)
    batches = delivered.reshape(40, -1).mean(axis=1)
    expected = packets_per_round(
        p=path.loss,
        max_window=path.max_window,
        timeout_ratio=path.timeout_ratio,
        rounds_per_increase=path.rounds_per_increase,
        backoff=path.backoff,
        halving=path.halving,
    )
    close(batches.mean(), batches.std(ddof=1) / np.sqrt(len(batches)), expected)


LOSSLESS = Path(sender="classic", loss=1e-9, rtt=0.5, timeout_ratio=1, max_window=1)
VIDEO = Video(packet_rate=4, duration=5)  # 10 rounds of 2 packets


def test_one_packet_a_round_where_two_are_due():
    rng = np.random.default_rng(4)
    # A_i = i; without a delay B_i = 2 i: one late packet in round 1, two in all others
    found = mc.stored(LOSSLESS, VIDEO, [0.0, 2.5, 5.0], 2, rng, "paper")
    assert found.f == pytest.approx([19 / 20, 0, 0])
    assert found.alpha.tolist() == [0, 1, 1]
    # until the end: B_i = 2 (i - 5) passes A_i = i in round 11, by one packet, and two a round until B_15 = 20
    found = mc.stored(LOSSLESS, VIDEO, [0.0, 2.5, 5.0], 2, rng)
    assert found.f == pytest.approx([19 / 20, 9 / 20, 0])
    assert found.late[1, :15].tolist() == [0] * 10 + [1] * 5


def test_a_live_stream_sends_what_exists():
    video = Video(packet_rate=2, duration=5)  # 10 rounds of 1 packet
    rng = np.random.default_rng(5)
    # the first round has nothing to send, then the packet of the round before is always on its way
    assert mc.live(LOSSLESS, video, [0.0, 0.25, 0.5], 6400, rng).f == pytest.approx([1, 0.5, 0])
    found = mc.live_finite(LOSSLESS, video, [0.0, 0.5], 2, rng)
    assert found.f == pytest.approx([1, 0])

"""RACK-TLP in the chains."""

import math

import numpy as np
import pytest

import sack_twin
from tcpstream import InputError, Path, Video, live, stored, throughput
from tcpstream.tcp import chain_of
from tcpstream.tcp.silences import Waits


def test_a_probe_goes_before_the_timer():
    """RFC 8985: PTO of two round trips (7.2), reordering window of a quarter (6.2); then the timer, not doubled yet."""
    waits = Waits.of(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.5, detection="rack"))
    assert waits.all_lost == 2
    assert waits.unseen == 1.25
    assert waits.lost_again == 2.25
    assert waits.backoff == (5, 10, 20, 40, 80, 160, 320)


def test_a_timer_that_is_shorter_than_the_probe_runs_out_first():
    """RFC 8985, Section 7.2: the probe is never later than the timer."""
    waits = Waits.of(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.15, detection="rack"))
    assert (waits.all_lost, waits.unseen, waits.lost_again) == pytest.approx((1.5, 0.5, 2.25))


def test_duplicates_wait_as_the_paper_does():
    """Table VI: T_O after a round lost whole, T_O - 1 after a short round."""
    waits = Waits.of(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3))
    assert (waits.all_lost, waits.unseen) == (pytest.approx(3), pytest.approx(2))
    assert waits.backoff[0] == pytest.approx(6)


def walk(path, rounds, rng):
    """Return packets per round, by batch, of Table VI's chain with the silences of RFC 8985; from the texts alone."""
    p, T_O = path.loss, path.timeout_ratio
    probe, seen = min(2, T_O), max(min(1.25, T_O - 1), 1)
    batches = []
    for _ in range(20):
        time = packets = 0.0
        w = 2
        while time < rounds:
            j = rng.geometric(p) - 1  # delivered before the first loss
            if j >= w:
                packets, time, w = packets + w, time + 1, min(w + 1, path.max_window)
                continue
            if j > 0:
                short = min(rng.geometric(p) - 1, j)
                packets += j + short
                if short >= 3:
                    time, w = time + 2, w // 2
                    continue
                time += 1 + seen
            else:
                time += probe
            timer, alone = T_O, 2
            while alone:
                if rng.random() < p:
                    time, timer = time + timer, min(2 * timer, 64 * T_O)
                    alone = 2
                else:
                    packets, time, alone = packets + 1, time + 1, alone - 1
            w = 2
        batches.append(packets / time)
    return np.array(batches)


def test_throughput_is_that_of_a_walk():
    path = Path(sender="classic", loss=0.05, rtt=0.1, rto=0.45, detection="rack", max_window=40)
    batches = walk(path, 20_000, np.random.default_rng(8985))
    error = batches.std(ddof=1) / math.sqrt(len(batches))
    assert abs(chain_of(path).packets_per_round - batches.mean()) < 4 * error
    assert error < 0.02


@pytest.mark.parametrize("tcp", ["reno", "reno-sack"])
def test_fewer_are_late_than_with_duplicates(tcp):
    """The probe only ever shortens a silence of a timer of several round trips."""
    usual = {"sender": "classic", "loss": 0.03, "rtt": 0.1, "rto": 0.5, "tcp": tcp, "max_window": 9}
    slow, fast = Path(**usual), Path(**usual, detection="rack")
    assert throughput(fast) > throughput(slow)
    video = Video(packet_rate=25, duration=10)
    assert stored(fast, video).late_fraction(2) < stored(slow, video).late_fraction(2)
    stream = Video(packet_rate=video.packet_rate)
    assert live(fast, stream).late_fraction(2) < live(slow, stream).late_fraction(2)


@pytest.mark.parametrize(
    ("tcp", "window", "b", "ratio"),
    [
        ("reno-sack", 6, 1, 2.4),
        ("reno-sack", 5, 2, 1.5),
        ("cubic", 5, 1, 1.5),
        pytest.param("cubic", 6, 1, 2.4, marks=pytest.mark.long),
    ],
)
def test_retransmissions_lost_again_do_not_wait_for_the_timer(tcp, window, b, ratio):
    """The chain of independent losses is its twin, in which only a round lost whole leads to a timeout."""
    path = Path(
        sender="classic",
        loss=0.12, rtt=0.125, timeout_ratio=ratio, max_window=window, tcp=tcp, detection="rack", backoff="paper",
        rounds_per_increase=b,
    )  # fmt: skip
    video = Video(packet_rate=2 / path.rtt, duration=2.5)
    film, event = stored(path, video), live(path, video)
    for tau in (0.0, 0.3, 1.0):
        assert film.late_fraction(tau) == pytest.approx(sack_twin.stored(path, video, tau)[0], abs=1e-12)
        assert event.late_fraction(tau) == pytest.approx(sack_twin.stream(path, video, tau), abs=1e-12)
    ahead = np.array([0, 1, 3, 8, 20])
    endless = live(path, Video(packet_rate=8))
    assert endless.late_fraction(ahead / 8) == pytest.approx(sack_twin.live(path, 1, ahead, 700), rel=1e-7, abs=1e-10)


def test_what_is_accepted():
    with pytest.raises(InputError, match="detection must be one of duplicates, rack"):
        Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3, detection="sack")

"""Quantiles of the packets ahead of playback, against arithmetic, P_i and Monte Carlo."""

import numpy as np
import pytest
from numba import njit

import monte_carlo as mc
from tcpstream import AccuracyError, InputError, Path, Video, stored

PATH = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2.3, max_window=12)
VIDEO = Video(packet_rate=20, duration=12)
RUNS = 4000


@njit(cache=True)
def delivered(chain, runs, rounds, rng):
    """Packets delivered by the ends of rounds, by run."""
    found = np.zeros((runs, rounds))
    for run in range(runs):
        tcp, packets = mc.new_tcp(), 0
        for i in range(rounds):
            if tcp[5] > 0:
                tcp[5] -= 1
            else:
                packets += mc.round_of_tcp(tcp, chain, rng)
            found[run, i] = packets
    return found


def test_one_packet_a_round():
    """Without losses and with a window of 1, A_i = i; playback of 4 packets/s takes 2 a round of 0.5 s, from 1 s on."""
    path = Path(sender="classic", loss=1e-9, rtt=0.5, timeout_ratio=1, max_window=1)
    times, N = stored(path, Video(packet_rate=4, duration=2)).buffer_quantiles(1.0, [0.1, 0.9])
    assert times.tolist() == [0.5, 1, 1.5, 2, 2.5, 3]
    assert N.tolist() == [[1, 2, 1, 0, -1, -2]] * 2


def test_monte_carlo():
    """The share of runs at or below a quantile is at least its probability, the share below it is at most that."""
    result = stored(PATH, VIDEO)
    wanted = np.array([0.05, 0.5, 0.95])
    times, N = result.buffer_quantiles(1.5, wanted)
    due = np.minimum(20 * np.maximum(times - 1.5, 0), VIDEO.packets)
    arrived = delivered(mc.tcp_path(PATH), RUNS, len(times), np.random.default_rng(7))
    found = np.minimum(arrived, VIDEO.packets) - due
    error = 5 * np.sqrt(wanted * (1 - wanted) / RUNS)[:, np.newaxis]
    slack = 1e-9  # of packet counts
    share = (found[np.newaxis] <= N[:, np.newaxis] + slack).mean(axis=1)
    below = (found[np.newaxis] < N[:, np.newaxis] - slack).mean(axis=1)
    assert (share >= wanted[:, np.newaxis] - error).all()
    assert (below <= wanted[:, np.newaxis] + error).all()


def test_a_round_is_late_where_the_quantile_is_below_0():
    result = stored(PATH, VIDEO)
    P = result.late_probability_per_round(1.5)
    for u in (0.001, 0.01, 0.05):
        assert ((result.buffer_quantiles(1.5, u)[1][0] < 0) == (u <= P)).all()


def test_a_lattice_of_several_packets_comes_near():
    path, video = (
        Path(sender="classic", loss=1e-3, rtt=0.1, timeout_ratio=2, max_window=64),
        Video(packet_rate=300, duration=10),
    )
    wanted = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    exact = stored(path, video, quantum=1)
    lower, upper = (exact.buffer_quantiles(2.0, wanted + shift)[1][:, 30:] for shift in (-0.01, 0.01))
    coarse = stored(path, video, quantum=16).buffer_quantiles(2.0, wanted)[1][:, 30:]
    assert (lower - 16 <= coarse).all()
    assert (coarse <= upper + 16).all()


@pytest.mark.parametrize("u", [0, 1, -0.1, float("nan"), "half"])
def test_bad_quantiles(u):
    with pytest.raises(InputError, match="quantile must"):
        stored(PATH, VIDEO).buffer_quantiles(1.5, [0.5, u])


def test_a_quantile_that_is_too_fine():
    with pytest.raises(AccuracyError, match="quantile 1e-17 is nearer to 0 or 1"):
        stored(PATH, VIDEO).buffer_quantiles(1.5, 1e-17)

"""The coarse lattice against the exact one, and what it costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import paths
from tcpstream import AccuracyError, InputError, Path, Video, stored, throughput
from tcpstream.numerics.measure import Measure, together
from tcpstream.numerics.weights import split
from tcpstream.tcp import reno
from tcpstream.transient.boundary import Boundary
from tcpstream.transient.burst import BackloggedBurst
from tcpstream.transient.coarse import BackloggedCoarse
from tcpstream.transient.coarse_moves import recovery
from tcpstream.transient.cost import affordable, check, forecast


def difference(one: Measure, other: Measure, limit: int) -> float:
    """Largest difference of two laws below `limit`."""
    both = together(one, Measure(other.origin, -other.mass))
    return float(np.abs(both.mass[: max(0, limit - both.origin)]).max(initial=0))


@settings(max_examples=20)
@given(path=paths(largest_window=20), per_round=st.floats(0, 4), goal=st.integers(20, 200))
def test_a_quantum_of_one_packet_is_exact(path, per_round, goal):
    """Written apart, the two transients agree: in every round's law, and nearly in what a floor kills.

    The coarse one does not look for what is late between the two rounds of a recovery.
    """
    chain = reno(path)
    exact, coarse = BackloggedBurst(chain, goal), BackloggedCoarse(chain, goal, 1, 1)
    for _ in range(25):
        exact.step()
        coarse.step()
        assert difference(exact.distribution(), coarse.distribution(), goal) < 1e-12
    assert coarse.survivors() == pytest.approx(1, abs=1e-11)
    assert coarse.unaccounted < 1e-11
    exact, coarse = BackloggedBurst(chain, goal), BackloggedCoarse(chain, goal, 1, 1)
    for i in range(1, 26):
        due = min(goal, int(per_round * max(0, i - 8)))
        exact.step(Boundary(due))
        coarse.step(Boundary(due))
        assert 1 - coarse.survivors() == pytest.approx(1 - exact.survivors(), rel=0.05, abs=1e-11)


@given(st.floats(-50, 50), st.sampled_from([2, 3]))
def test_split_keeps_moments(place, points):
    first, weights = split(np.array([place]), points)
    where = first[0] + np.arange(points)
    assert weights[:, 0].sum() == pytest.approx(1)
    assert weights[:, 0] @ where == pytest.approx(place, abs=1e-9)
    if points == 3:
        assert weights[:, 0] @ where**2 == pytest.approx(place**2, abs=1e-8)


@given(st.integers(4, 40), st.floats(0.001, 0.9))
def test_recovery_by_all_pairs(window, p):
    q = 1 - p
    expected = np.zeros(2 * window)
    for j in range(3, window):
        for i in range(3, j + 1):
            expected[j + i] += p * q**j * q**i * (1 if i == j else p)
    total, law = recovery(window, p)
    np.testing.assert_allclose(law, expected[6 : 2 * window - 1], rtol=1e-12)
    assert total[0] == 6


@pytest.mark.parametrize(("b", "ratio"), [pytest.param(1, 4, marks=pytest.mark.long), (2, 2.5)])
def test_within_the_stated_error(b, ratio):
    path = Path(sender="classic", loss=0.002, rtt=0.1, timeout_ratio=ratio, max_window=100, rounds_per_increase=b)
    video = Video(packet_rate=160 if b == 1 else 120, duration=20)
    exact, coarse = stored(path, video, quantum=1), stored(path, video, quantum=8)
    delays = [exact.required_delay(target) for target in (0.1, 1e-2, 1e-3, 1e-4, 1e-5)]
    assert exact.quantum_error == 0
    error = coarse.quantum_error
    np.testing.assert_allclose(coarse.late_fraction(delays), exact.late_fraction(delays), rtol=error)
    late = 1 - exact.no_late_probability(delays[3])
    assert 1 - coarse.no_late_probability(delays[3]) == pytest.approx(late, rel=error)
    needed = exact.required_delay()  # the coarse one has its error on top
    assert (1 - 0.002) * needed <= coarse.required_delay()
    assert coarse.late_fraction(coarse.required_delay()) * (1 + error) == pytest.approx(1e-4, rel=1e-3)
    assert coarse.required_delay() < 1.004 * needed
    np.testing.assert_allclose(
        coarse.late_probability_per_round(delays[2]).max(), exact.late_probability_per_round(delays[2]).max(), rtol=0.02
    )
    assert coarse.to_dict(delays)["quantum_packets"] == 8


@pytest.mark.parametrize(
    ("loss", "window", "quantum", "headroom", "rounds"),
    [
        pytest.param(0.001, 256, 32, 10, 200, marks=pytest.mark.long),
        (0.003, 120, 16, 10, 200),
        pytest.param(0.003, 120, 16, 3, 200, marks=pytest.mark.long),
        (0.01, 577, 16, 91, 3.3),
    ],
)
def test_short_delays_and_low_rates_are_within_the_stated_error(loss, window, quantum, headroom, rounds):
    """Where late fractions follow from the first packets, each of which matters."""
    path = Path(sender="classic", loss=loss, rtt=0.1, timeout_ratio=4, max_window=window)
    video = Video(packet_rate=throughput(path) / headroom, duration=0.1 * rounds)
    exact, coarse = stored(path, video, quantum=1), stored(path, video, quantum=quantum)
    delays = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 3])
    expected = exact.late_fraction(delays)
    seen = expected > 1e-6
    np.testing.assert_allclose(coarse.late_fraction(delays)[seen], expected[seen], rtol=coarse.quantum_error)
    some = delays[seen][::4]
    late = 1 - exact.no_late_probability(some)
    np.testing.assert_allclose(1 - coarse.no_late_probability(some), late, rtol=coarse.quantum_error)
    _, arrived = exact.buffer_quantiles(0.1, [0.1, 0.5])
    _, arrived_coarse = coarse.buffer_quantiles(0.1, [0.1, 0.5])
    np.testing.assert_allclose(arrived_coarse, arrived, atol=quantum + 1e-9)


@pytest.mark.long
def test_a_path_without_losses_is_late_as_a_whole():
    """Two in three videos of this rate see no loss in the first quarter, and all of those are late by a few packets."""
    path = Path(sender="classic", loss=9.5e-5, rtt=0.1, timeout_ratio=7, max_window=64, rounds_per_increase=2)
    video = Video(packet_rate=560, duration=25.33)
    exact, coarse = stored(path, video, quantum=1), stored(path, video, quantum=16)
    delays = [5.0, 5.49466, 6.0, 9.0]
    late = 1 - exact.no_late_probability(delays)
    assert late[1] == pytest.approx(1)
    assert late[-1] < 0.5
    np.testing.assert_allclose(1 - coarse.no_late_probability(delays), late, rtol=coarse.quantum_error)


def test_a_large_window_is_solved_coarsely_and_says_so():
    path, video = (
        Path(sender="classic", loss=1e-4, rtt=0.05, timeout_ratio=4, max_window=1024),
        Video(packet_rate=2000, duration=10),
    )
    for result in (stored(path, video), stored(path, video, quantum=128)):
        assert result.quantum > 1
        assert result.to_dict([5])["quantum_error"] == result.quantum_error > 0
    assert result.quantum == 128


def test_small_windows_are_solved_coarsely_where_they_would_be_refused():
    """An hour at 1 Mbit/s over 50 ms with p = .01: 30 GiB of rows packet by packet."""
    path, video = Path(sender="classic", loss=0.01, rtt=0.05), Video(bitrate=1e6, duration=3600)
    with pytest.raises(
        AccuracyError,
        match=r"would take about \d.* GiB of memory, more than the limit of 8: take a shorter duration or a",
    ):
        stored(path, video, quantum=1)
    assert stored(path, video).quantum > 1
    assert stored(path, video).relative_error(1.0) < 0.02
    assert stored(path, Video(bitrate=1e6, duration=60)).quantum == 1


def test_small_windows_are_exact():
    chain = reno(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2))
    assert affordable(chain, 1e4, 1e4) == 1
    assert forecast(chain, 100, 1000, 1).cells > 0


def test_what_would_take_too_long_is_refused_before_it_starts():
    path = Path(sender="classic", loss=1e-4, rtt=0.05, timeout_ratio=4, max_window=2048)
    with pytest.raises(AccuracyError, match=r"would take about \d+ minutes, more than the limit of \d.* GiB of memory"):
        stored(path, Video(packet_rate=2000, duration=300), quantum=1)
    with pytest.raises(AccuracyError, match="minutes"):
        check(reno(path), 1e6, 1e6, 1)


def test_timers_of_very_many_round_trips_are_refused():
    """A capture of one machine, with a round trip of 2 us and a timer of 200 ms, was followed without end."""
    usual = {"sender": "classic", "loss": 0.1, "rto": 0.2, "max_window": 20}
    with pytest.raises(AccuracyError, match=r"backs off to 6\.4e\+06 round trips"):
        stored(Path(rtt=2e-6, **usual), Video(packet_rate=85, duration=0.1))
    assert stored(Path(rtt=1e-3, **usual), Video(packet_rate=85, duration=0.1)).late_fraction(0) > 0


@pytest.mark.parametrize("quantum", [0, -1, 1.5, "a"])
def test_bad_quantum(quantum):
    with pytest.raises(InputError, match="quantum"):
        stored(
            Path(sender="classic", loss=0.01, rtt=0.1, timeout_ratio=2),
            Video(packet_rate=20, duration=20),
            quantum=quantum,
        )

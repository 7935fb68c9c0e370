"""Live streaming against the explicit chain, Monte Carlo and properties."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import monte_carlo
from strategies import RTT, paths
from tcpstream import AccuracyError, InputError, NoFiniteDelayError, Path, Video, live, throughput
from tcpstream.answers.live import EndlessLive
from tcpstream.explicit import explicit_live, explicit_live_finite
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.solve import solve
from tcpstream.tcp import chain_of, reno
from tcpstream.transient.finite_backlog import FiniteBacklog

RTOL, ATOL = 1e-6, 1e-12


@settings(max_examples=4, suppress_health_check=[HealthCheck.filter_too_much])  # deep backlogs are left out
@given(path=paths(largest_loss=0.1, largest_window=6, largest_ratio=2.0), data=st.data())
def test_agrees_with_the_explicit_chain(path, data):
    possible = [
        due for due in (0.25, 1 / 3, 0.5, 0.75, 1, 4 / 3, 1.5, 2, 2.5, 3) if due / RTT < 0.65 * throughput(path)
    ]
    assume(possible)
    packets_due = data.draw(st.sampled_from(possible))
    video = Video(packet_rate=packets_due / RTT)
    ours = live(path, video)
    (backlog,) = ours.backlogs
    depth = (len(backlog.pmf) - 1) / backlog.lattice.steps_per_packet
    assume(len(backlog.pmf) < 1200)
    twin = explicit_live(path, video, 1.0, depth=depth)
    delays = np.array([0, 0.1, 0.3, 1, 3, 10, 30])
    f = ours.late_fraction(delays)
    delays, f = delays[f > 1e-8], f[f > 1e-8]
    reference = twin.stationary(accuracy=1e-13)
    late = np.maximum(twin.backlog - video.packet_rate * delays[:, np.newaxis], 0)
    expected = np.minimum(late, packets_due) @ reference / packets_due
    np.testing.assert_allclose(f, expected, RTOL, ATOL)


@settings(max_examples=4)
@given(
    path=paths(largest_window=6, largest_ratio=2.5),
    packets_due=st.sampled_from([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5]),
    rounds=st.integers(2, 8),
    delays=st.lists(st.floats(0, 15).map(lambda x: x * RTT), min_size=2, max_size=2),
)
def test_finite_agrees_with_the_explicit_chain(path, packets_due, rounds, delays):
    video = Video(packet_rate=packets_due / RTT, duration=rounds * RTT)
    ours = live(path, video)
    for delay in delays:
        expected = explicit_live_finite(path, video, delay).late_fraction
        np.testing.assert_allclose(ours.late_fraction(delay), expected, RTOL, ATOL)
    assert ours.error_bound < 1e-12


@pytest.mark.parametrize(
    ("path", "rate"),
    [
        (Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=4, max_window=20, rounds_per_increase=2), 30),
        (Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, halving="ceil"), 25),
        (Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=2.5, backoff="paper"), 7.5),
        (Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1.5, max_window=1), 2.5),
    ],
)
def test_agrees_with_monte_carlo(path, rate):
    rng = np.random.default_rng(5)
    delays = [0.0, 0.5, 2.0, 5.0]
    result = live(path, Video(packet_rate=rate))
    seen = monte_carlo.live(path, Video(packet_rate=rate), delays, 4_000_000, rng)
    f = result.late_fraction(delays)
    assert (result.lattice_error(delays) == 0).all()
    assert (f >= 1e-4).sum() >= 2
    for k in range(4):
        if f[k] >= 1e-4:
            assert abs(seen.f[k] - f[k]) < 4 * seen.f_se[k]


def test_off_the_lattice_within_the_stated_error_of_monte_carlo():
    path, video = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2.3), Video(packet_rate=31.37)
    result = live(path, video)
    assert result.lattice_error(0.5) > 0
    seen = monte_carlo.live(path, video, [0.0, 0.5, 2.0], 4_000_000, np.random.default_rng(6))
    f = result.late_fraction([0.0, 0.5, 2.0])
    assert (np.abs(seen.f - f) < 4 * seen.f_se + result.lattice_error([0.0, 0.5, 2.0]) * f).all()


def test_a_long_live_video_comes_near_the_stationary_law():
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=4)
    endless = live(path, Video(packet_rate=10))
    lengths = [live(path, Video(packet_rate=10, duration=T)).late_fraction(1.0) for T in (5, 10, 160)]
    assert lengths[0] < lengths[1] < lengths[2] < endless.late_fraction(1.0)
    assert lengths[2] == pytest.approx(endless.late_fraction(1.0), rel=0.01)


def test_a_rate_that_tcp_cannot_sustain_has_no_finite_delay():
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2)
    T = throughput(path)
    with pytest.raises(NoFiniteDelayError, match="no finite startup delay") as caught:
        live(path, Video(packet_rate=T))
    assert caught.value.throughput == T
    assert f"{T:.4g}" in str(caught.value)
    # of finite length it has an answer
    faster = 10 * math.ceil(0.12 * T)  # whole packets in a round
    assert 0 < live(path, Video(packet_rate=faster, duration=10)).late_fraction(1.0) < 1


@settings(max_examples=3)
@given(path=paths(largest_loss=0.15, largest_window=6), load=st.floats(0.2, 0.75))
def test_what_must_hold(path, load):
    packets_due = load * throughput(path) * RTT
    result = live(path, Video(packet_rate=packets_due / RTT), accuracy="exact")
    f = result.late_fraction(np.linspace(0, 10, 30))
    assert (np.diff(f) <= result.error_bound).all()
    assert ((f >= 0) & (f <= 1)).all()
    assert all(one.pmf.sum() == pytest.approx(1, abs=1e-12) for one in result.backlogs)
    assert result.error_bound < 1e-9


def test_the_error_bound_holds():
    """A solve made worse on purpose is off by no more than it says."""
    path, video = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=40)
    good = live(path, video)
    delays = np.linspace(0, 20, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tcpstream.stationary.solve.WANTED", 1e-4)
        patch.setattr("tcpstream.stationary.solve.ACCEPTED", 1.0)
        rough = live(path, video)
    assert rough.error_bound > 100 * good.error_bound
    assert np.abs(rough.late_fraction(delays) - good.late_fraction(delays)).max() <= rough.error_bound


def test_an_accuracy_that_is_not_reached_is_an_exception(monkeypatch):
    monkeypatch.setattr("tcpstream.stationary.solve.ACCEPTED", 1e-30)
    with pytest.raises(AccuracyError, match="error bound"):
        live(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2), Video(packet_rate=20))


def test_a_state_that_is_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("tcpstream.stationary.solve.LARGEST", 1000)
    with pytest.raises(AccuracyError, match="TCP states"):
        live(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2), Video(packet_rate=20))


def test_a_stream_too_long_to_follow_is_refused(monkeypatch):
    monkeypatch.setattr("tcpstream.answers.answer.MOST_ROUNDS", 50)
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2)
    with pytest.raises(AccuracyError, match="51 round trips and 102 packets is too long to follow"):
        live(path, Video(packet_rate=20, duration=5.1))
    assert live(path, Video(packet_rate=20, duration=5.0)).error_bound < 1e-12


def test_a_rate_off_the_lattice_is_answered_by_its_neighbours():
    """Between them ln f is linear; the error leads to the farther one, and a hundredth on (docs/decisions/0023)."""
    path, video = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2, max_window=6), Video(packet_rate=11.37)
    result = live(path, video, accuracy="exact")
    below, above = result.backlogs
    share = (1.137 - below.lattice.packets_due) / (above.lattice.packets_due - below.lattice.packets_due)
    for tau in (0.0, 0.7):
        f = below.late_fraction(tau / 0.1), above.late_fraction(tau / 0.1)
        assert result.late_fraction(tau) == pytest.approx(f[0] ** (1 - share) * f[1] ** share, rel=1e-9)
        error = (f[1] / f[0]) ** max(share, 1 - share) - 1 + 0.01
        assert result.lattice_error(tau) == pytest.approx(error, rel=1e-9)


def test_the_error_bound_is_the_larger_one():
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=6)
    endless, finite = live(path, Video(packet_rate=20)), live(path, Video(packet_rate=20, duration=1))
    (law,) = endless.backlogs
    two = replace(law, error_bound=1e-11), replace(law, error_bound=3e-11)
    assert EndlessLive(path, endless.video, two).error_bound == 3e-11
    finite._backlogs = [SimpleNamespace(error_bound=3e-11), SimpleNamespace(error_bound=1e-11)]
    assert finite.error_bound == 3e-11


def test_decay_rates():
    """The asymptotic rate is seen far out, the visible one is steeper; about -ln(1-(1-p)^2)/(64 m T_O) per packet."""
    path, rate = Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=6), 10
    result = live(path, Video(packet_rate=rate))
    rates = result.decay_rates
    assert rates["visible"] > rates["asymptotic"]
    # the tail steps by one long back-off of 64 T_O rounds: compare over many of them
    f = result.late_fraction([12.8, 25.6])
    assert math.log(f[0] / f[1]) / 12.8 == pytest.approx(rates["asymptotic"], rel=0.05)
    assert rates["asymptotic"] == pytest.approx(-math.log(1 - 0.9**2) / (64 * 0.1), rel=0.05)


def test_the_visible_decay_is_that_between_a_late_fraction_of_1e_4_and_of_1e_8():
    result = live(Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=1, max_window=20), Video(packet_rate=50))
    seen = math.log(1e4) / (result.required_delay(1e-8) - result.required_delay(1e-4))
    assert result.decay_rates["visible"] == pytest.approx(seen, rel=0.1)
    assert result.decay_rates["asymptotic"] < 0.6 * seen


def test_residual_and_truncation_are_stated():
    solved = solve(reno(Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2)), Lattice(2, 1))
    assert 0 <= solved.residual < 1e-12
    assert 0 <= solved.overflow < 1e-12
    assert solved.error_bound > solved.residual


def test_input_errors():
    path = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2)
    with pytest.raises(InputError, match="playback curve"):
        live(path, Video(curve=([0, 1], [0, 10])))
    with pytest.raises(InputError, match="at least one round trip"):
        live(path, Video(packet_rate=10, duration=0.05))
    assert 0 < live(path, Video(packet_rate=10, duration=0.1)).late_fraction(0.0) <= 1
    with pytest.raises(InputError, match="startup delay must not be negative, got -1 s"):
        live(path, Video(packet_rate=10)).late_fraction(-1)


def test_a_rate_far_below_throughput():
    """As mu goes to 0 packets are late only while TCP is silent: f has a limit, reached within 0.2% at T/400."""
    path = Path(sender="classic", loss=0.04, rtt=0.3, timeout_ratio=4)
    far, farther = (live(path, Video(packet_rate=throughput(path) / ratio)) for ratio in (400, 850))
    np.testing.assert_allclose(farther.late_fraction([0, 1, 5]), far.late_fraction([0, 1, 5]), rtol=2e-3)


OFF_LATTICE = [  # path, packets per second, length [s], startup delays [s]
    pytest.param(
        Path(sender="classic", loss=0.02, rtt=0.101, timeout_ratio=3), 64e3 / 12e3, 60, [0.05, 0.1, 0.5],
        marks=pytest.mark.long,
    ),
    pytest.param(
        Path(sender="classic", loss=0.02, rtt=1.0, timeout_ratio=3, max_window=8), 0.14142, 500, [0.0, 1.0, 6.0],
        marks=pytest.mark.long,
    ),
    (
        Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=2),
        10.27,
        10.37,
        [0.0, 0.1, 0.3],
    ),  # D falls to m - 1/37
    (
        Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=2, max_window=6),
        33.33,
        1.53,
        [0.0, 0.1, 0.3],
    ),  # faster than TCP
]  # fmt: skip


@pytest.mark.parametrize(("path", "rate", "duration", "delays"), OFF_LATTICE)
def test_finite_off_the_lattice_against_fluid_playback(path, rate, duration, delays):
    """Generation is a fluid, as playback is: G = mu t to the end, also of a part of a round."""
    video = Video(packet_rate=rate, duration=duration)
    seen = monte_carlo.live_finite(path, video, delays, 20_000, np.random.default_rng(8))
    result = live(path, video)
    f, error = result.late_fraction(delays), result.lattice_error(delays)
    assert (error > 0).all()
    assert (np.abs(seen.f - f) < 4 * seen.f_se + error * f).all()


@pytest.mark.parametrize("delay", [0.09, 0.1, 0.11])
def test_off_the_lattice_around_one_round_trip(delay):
    """After a pause the backlog is m: f has a kink at tau = R that no smoothing may hide."""
    path, video = Path(sender="classic", loss=0.005, rtt=0.1, timeout_ratio=2, max_window=16), Video(packet_rate=7.0711)
    seen = monte_carlo.live(path, video, [delay], 8_000_000, np.random.default_rng(9))
    for accuracy, most in (("exact", 0.05), ("fine", 0.12)):
        result = live(path, video, accuracy=accuracy)
        f, error = result.late_fraction(delay), result.lattice_error(delay)
        assert error < most
        assert abs(seen.f[0] - f) < 4 * seen.f_se[0] + error * f


def test_a_stream_that_ends_within_a_round_is_judged_to_its_end():
    """On a lattice too: 2 packets a round for 10.3 rounds are 20.6."""
    path, video = (
        Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=6),
        Video(packet_rate=20, duration=1.03),
    )
    seen = monte_carlo.live_finite(path, video, [0.0, 0.15], 40_000, np.random.default_rng(10))
    f = live(path, video).late_fraction([0.0, 0.15])
    assert (np.abs(seen.f - f) < 4 * seen.f_se).all()


@pytest.mark.parametrize(
    ("ratio", "tcp"),
    [
        *((1, "reno-sack"), (2.5, "reno")),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((1, "reno"), (2.5, "reno-sack"))),
    ],
)
def test_just_above_a_rate_is_the_limit_from_above(tcp, ratio):
    """Late fractions at two rates a little higher, on lattices of their own, lead straight to f just above."""
    chain = chain_of(Path(sender="classic", loss=0.05, rtt=1, timeout_ratio=ratio, max_window=3, tcp=tcp))
    rates = Lattice(1, 2, trace=1), Lattice(26, 51), Lattice(14, 27)
    steps = [one.packets_due - 0.5 for one in rates]
    for length, delays in ((8, [0.0, 1.5]), (8.6, [3.0])):
        backlogs = [FiniteBacklog(chain, one, length) for one in rates]
        for x in delays:
            near, first, second = (one.late_fraction(x) for one in backlogs)
            assert near == pytest.approx(first - (second - first) * steps[1] / (steps[2] - steps[1]), rel=2e-3)
    near, at = (FiniteBacklog(chain, Lattice(2, 1, trace), 12).late_fraction(0.5) for trace in (1, 0))
    assert abs(near / at - 1) > 4e-3  # windows of two packets empty the backlog at 2 packets a round, not above


def test_just_above_a_rate_without_end():
    chain = chain_of(Path(sender="classic", loss=0.05, rtt=1, timeout_ratio=2.5, max_window=3))
    near, first, second = (solve(chain, one) for one in (Lattice(1, 2, trace=1), Lattice(26, 51), Lattice(14, 27)))
    for x in (0.0, 1.5, 3.0):
        f = first.late_fraction(x), second.late_fraction(x)
        assert near.late_fraction(x) == pytest.approx(f[0] - (f[1] - f[0]) * 27 / 24, rel=2e-3)


@pytest.mark.parametrize("tcp", ["reno", "reno-sack"])
@pytest.mark.parametrize("change", [1e-6, -1e-6, -1e-8])
def test_a_stream_shorter_than_its_waits_is_continuous_in_the_round_trip_time(tcp, change):
    """A third of a second at .2 packets/s: what waits from the first round on may lie a step below all that sends."""
    path = {"loss": 0.39, "timeout_ratio": 10, "max_window": 2, "tcp": tcp}
    video = Video(packet_rate=0.2, duration=0.33)
    exact = live(Path(rtt=0.1, **({"sender": "classic"} | path)), video).late_fraction([0, 0.1])
    near = live(Path(rtt=0.1 * (1 + change), **({"sender": "classic"} | path)), video).late_fraction([0, 0.1])
    np.testing.assert_allclose(near, exact, rtol=1e-5)

"""Stored media against the explicit chain, Monte Carlo, the paper and properties."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import monte_carlo
from strategies import RTT, paths
from tcpstream import AccuracyError, InputError, Path, Video, stored, throughput
from tcpstream.answers.arrivals import Arrivals
from tcpstream.answers.timeline import Timeline
from tcpstream.explicit import explicit_stored
from tcpstream.stationary.decay import decay_rate, safe_lead
from tcpstream.tcp import chain_of, reno
from tcpstream.transient.boundary import Boundary
from tcpstream.transient.burst import BackloggedBurst

#: Agreement asked of twins: relative, and absolute where values are tiny.
RTOL, ATOL = 1e-6, 1e-12

SETTING_4 = dict(sender="classic", loss=0.014, rtt=0.11, timeout_ratio=3, max_window=24, backoff="paper")


@settings(max_examples=12)
@given(
    path=paths(),
    packets_due=st.one_of(st.sampled_from([0.25, 0.5, 1, 2, 3, 1.5]), st.floats(0.2, 6)),
    rounds=st.floats(3, 25),
    delays=st.lists(st.floats(0, 20).map(lambda x: x * RTT), min_size=2, max_size=3),
    horizon=st.sampled_from(["end", "paper"]),
)
def test_agrees_with_the_explicit_chain(path, packets_due, rounds, delays, horizon):
    video = Video(packet_rate=packets_due / RTT, duration=rounds * RTT)
    assume(video.packets > 1)
    ours = stored(path, video, horizon=horizon)
    twin = explicit_stored(path, video)
    for delay in delays:
        judged = twin.judge(delay, horizon=horizon)
        np.testing.assert_allclose(ours.late_fraction(delay), judged.late_fraction, RTOL, ATOL)
        np.testing.assert_allclose(ours.late_probability_per_round(delay), judged.late_probabilities, RTOL, ATOL)
        np.testing.assert_allclose(ours.no_late_probability(delay), judged.no_late_probability, RTOL, ATOL)
        np.testing.assert_allclose(ours.no_late_lower_bound(delay), judged.no_late_bound, RTOL, ATOL)


def test_agrees_with_the_explicit_chain_on_a_playback_curve():
    path = Path(sender="classic", loss=0.08, rtt=0.1, timeout_ratio=1.6, max_window=8)
    video = Video(curve=([0, 0.5, 0.9, 2.0, 3.0], [0, 10, 10, 31.5, 40]))
    ours, twin = stored(path, video), explicit_stored(path, video)
    for delay in (0.0, 0.33, 1.0):
        judged = twin.judge(delay)
        np.testing.assert_allclose(ours.late_fraction(delay), judged.late_fraction, RTOL, ATOL)
        np.testing.assert_allclose(ours.no_late_probability(delay), judged.no_late_probability, RTOL, ATOL)


@pytest.mark.parametrize(
    ("path", "video", "horizon"),
    [
        (Path(**SETTING_4), Video(packet_rate=60, duration=40), "end"),
        (
            Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2.4, halving="ceil"),
            Video(packet_rate=33.7, duration=20),
            "end",
        ),
        (
            Path(sender="classic", loss=0.03, rtt=0.2, timeout_ratio=1, rounds_per_increase=2),
            Video(packet_rate=15, duration=60),
            "paper",
        ),
        (
            Path(sender="classic", loss=0.2, rtt=0.1, timeout_ratio=1.5, max_window=1),
            Video(packet_rate=5, duration=30),
            "end",
        ),
    ],
)
def test_agrees_with_monte_carlo(path, video, horizon):
    rng = np.random.default_rng(17)
    delays = [1.0, 3.0, 6.0]
    seen = monte_carlo.stored(path, video, delays, 40_000, rng, horizon)
    ours = stored(path, video, horizon=horizon)
    f, alpha = ours.late_fraction(delays), ours.no_late_probability(delays)
    assert (f > 1e-4).any()
    for k in range(3):
        if f[k] >= 1e-4:
            assert abs(seen.f[k] - f[k]) < 4 * seen.f_se[k]
            assert abs(seen.alpha[k] - alpha[k]) < 4 * seen.alpha_se[k]


# The same chain solved by two programs other than this one gave these digits (docs/paper-numbers.md).
@pytest.mark.parametrize(
    ("rate", "delay", "f", "bound", "peak", "at", "alpha"),
    [
        (51, 4, 1.936e-3, 0.2268, 5.57e-3, 164, 0.97542),
        pytest.param(51, 6, 2.962e-4, 0.7971, 7.24e-4, 241, 0.99617, marks=pytest.mark.long),
        pytest.param(55, 6, 1.956e-3, 0.2273, 3.48e-3, 301, 0.98290, marks=pytest.mark.long),
        (60, 6, 1.433e-2, 0.0000, 2.16e-2, 487, 0.918),
    ],
)
def test_setting_4_of_the_paper(rate, delay, f, bound, peak, at, alpha):
    result = stored(Path(**SETTING_4), Video(packet_rate=rate, duration=80), horizon="paper")
    per_round = result.late_probability_per_round(delay)
    assert len(per_round) == 727
    assert result.late_fraction(delay) == pytest.approx(f, rel=5e-4)
    assert result.no_late_lower_bound(delay) == pytest.approx(bound, abs=5e-5)
    assert per_round.max() == pytest.approx(peak, rel=2e-3)
    assert per_round.argmax() + 1 == at
    assert result.no_late_probability(delay) == pytest.approx(alpha, abs=1e-3 if rate == 60 else 5e-6)


def test_mass_is_conserved_over_thousands_of_rounds():
    transient = BackloggedBurst(
        reno(Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=4, backoff="paper")), 10**9
    )
    for _ in range(3_000):
        transient.step()
    assert transient.account.residual < 1e-12
    assert transient.unaccounted < 1e-12


@settings(max_examples=15)
@given(path=paths(largest_loss=0.2), packets_due=st.floats(0.5, 4), delay=st.floats(0, 3))
def test_what_must_hold(path, packets_due, delay):
    result = stored(path, Video(packet_rate=packets_due / RTT, duration=5))
    delays = delay + np.array([0.0, 0.1, 0.5, 2.0])
    f, alpha = result.late_fraction(delays), result.no_late_probability(delays)
    assert (np.diff(f) <= 1e-12).all()
    assert (np.diff(alpha) >= -1e-12).all()
    assert (result.no_late_lower_bound(delays) <= alpha + 1e-12).all()  # Theorem 1
    assert ((f >= 0) & (f <= 1)).all()
    judged = result.late_probability_per_round(delay)
    assert 1 - alpha[0] >= judged.max() - 1e-12
    assert result.error_bound < 1e-12


def test_required_delay_is_the_smallest_that_meets_the_target():
    result = stored(Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=30, duration=30))
    for target in (1e-2, 1e-4, 1e-7):
        delay = result.required_delay(target)
        assert result.late_fraction(delay) <= target
        assert result.late_at_worst(delay - 1e-6) > target
    delay = result.required_delay(no_late=0.95)
    assert result.no_late_probability(delay) >= 0.95
    assert result.no_late_probability(delay - 0.0011) < 0.95


def test_a_delay_of_zero_suffices_where_every_packet_is_in_time():
    result = stored(Path(sender="classic", loss=0.01, rtt=0.1, timeout_ratio=2), Video(packet_rate=0.1, duration=30))
    assert result.required_delay(0.9) == 0.0
    assert result.required_delay(no_late=0.001) == 0.0


def test_a_long_video_is_followed_until_it_is_safe(monkeypatch):
    """The same answers with and without the lead from which nothing is late any more."""
    path, video = (
        Path(sender="classic", loss=0.04, rtt=0.1, timeout_ratio=1, max_window=5, backoff="paper"),
        Video(packet_rate=12, duration=250),
    )
    short_cut = stored(path, video)
    assert short_cut.late_fraction([0, 1, 4])[0] > 0
    monkeypatch.setattr("tcpstream.answers.plan.LONG", 10**9)
    whole = stored(path, video)
    np.testing.assert_allclose(short_cut.late_fraction([0, 1, 4]), whole.late_fraction([0, 1, 4]), RTOL, 1e-15)
    assert short_cut.no_late_probability(1.0) == pytest.approx(whole.no_late_probability(1.0), abs=1e-13)
    assert short_cut._arrivals.record.rounds < whole._arrivals.record.rounds


def test_a_long_video_that_tcp_cannot_keep_up_with_is_never_safe():
    path = Path(sender="classic", loss=0.04, rtt=0.1, timeout_ratio=1, max_window=5, backoff="paper")
    late = stored(path, Video(packet_rate=1.05 * throughput(path), duration=250)).late_fraction([0.0, 5.0])
    assert 0.5 < late[1] < late[0] < 1


def test_the_risk_beyond_the_safe_lead_is_as_small_as_it_says():
    """With a risk that Monte Carlo can see: from the lead on, at most that share of runs is ever late."""
    path, packets_due, risk = (
        Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=1, max_window=6, backoff="paper"),
        1.0,
        0.05,
    )
    lead = int(np.ceil(safe_lead(reno(path), packets_due, risk)))
    head_start = Video(curve=([0, 1, 4000], [0, 0, 3999]))
    transient = BackloggedBurst(reno(path), 10**9)
    for needed in np.ceil(head_start.due(np.arange(1, 4001))) - lead:
        transient.step(Boundary(max(0, int(needed))))
    assert 0 < 1 - transient.survivors() < risk


def test_one_pass_serves_every_round_trip_and_rate():
    """The distribution of the arrivals counts rounds: the same video in rounds has the same answers at any R."""
    slow = stored(Path(sender="classic", loss=0.03, rtt=0.2, timeout_ratio=2), Video(packet_rate=20, duration=20))
    fast = stored(Path(sender="classic", loss=0.03, rtt=0.05, timeout_ratio=2), Video(packet_rate=80, duration=5))
    assert slow.late_fraction(2.0) == pytest.approx(fast.late_fraction(0.5), rel=1e-9)


def test_a_target_finer_than_the_accuracy_is_refused():
    result = stored(Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=30, duration=10))
    with pytest.raises(AccuracyError, match="error bound"):
        result.required_delay(1e-15)
    with pytest.raises(InputError, match="not both"):
        result.required_delay(1e-4, no_late=0.9)


def test_a_probability_of_a_late_packet_is_ten_times_the_error_bound_at_least(monkeypatch):
    result = stored(Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=30, duration=10))
    monkeypatch.setattr(type(result), "error_bound", 1 / 64)
    with pytest.raises(AccuracyError, match=r"1\.5e-01 is finer than ten times the error bound of 1\.6e-02"):
        result.required_delay(no_late=0.85)
    least = 1 - 10 / 64  # exact, and not below the limit
    assert result.no_late_probability(result.required_delay(no_late=least)) >= least


def test_an_answer_that_has_lost_more_than_the_error_bound_is_refused(monkeypatch):
    result = stored(Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=30, duration=10))
    monkeypatch.setattr(type(result), "error_bound", -1.0)
    for answer in (result.late_fraction, result.late_probability_per_round, result.no_late_probability):
        with pytest.raises(AccuracyError, match=r"startup delay 1 s: .* of the probability was lost"):
            answer(1.0)


def test_one_round_trip_is_long_enough():
    path = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2)
    assert 0 < stored(path, Video(packet_rate=30, duration=0.1)).late_fraction(0.0) <= 1
    with pytest.raises(InputError, match=r"at least one round trip time of 0\.1 s, got 0\.099 s"):
        stored(path, Video(packet_rate=30, duration=0.099))


def test_rows_that_take_too_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr("tcpstream.answers.arrivals.MEMORY_LIMIT", 10_000)
    with pytest.raises(AccuracyError, match="GiB"):
        stored(
            Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2), Video(packet_rate=30, duration=30)
        ).late_fraction(1)


def test_rows_are_the_expected_shortfall():
    """E[(y - A)+] by its definition, from the law that the transient gives."""
    path = Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=2, max_window=6)
    arrivals = Arrivals(path, [Timeline.of(path, Video(curve=([0, 0.1, 6], [0, 60, 60])))])
    transient = BackloggedBurst(reno(path), 60)
    for _ in range(12):
        transient.step()
    law = transient.distribution()
    due = np.zeros(12)
    due[-1] = 37.3
    a = law.origin + np.arange(len(law.mass))
    assert arrivals.missing(np.zeros(12), due)[-1] == pytest.approx(
        (law.mass * np.maximum(37.3 - a, 0)).sum(), rel=1e-12
    )


def test_no_decay_where_tcp_is_no_faster_than_what_is_due():
    chain = chain_of(Path(loss=0.02, rtt=0.1, rto=0.3, sender="classic"))
    with pytest.raises(InputError, match="20 packets a round are due"):
        decay_rate(chain, 20)


def test_windows_that_take_all_memory_are_refused():
    """The window for p = 1e-9 is 235,079 packets."""
    result = stored(Path(loss=1e-9, rtt=0.05, sender="classic"), Video(packet_rate=40, duration=10))
    with pytest.raises(AccuracyError, match=r"GiB of memory at once, more than the limit of 32: give a smaller max"):
        result.late_fraction(2.0)

"""Regimes fitted to a capture are those of the emulated path; what the next video needs is a mixture."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tcpstream
from tcpstream import InputError, Video, fit_regimes, next_delay, stored
from tcpstream.fits.fitted_regimes import FAR
from tcpstream.fits.next_video import END
from tcpstream.fits.search import _means
from tcpstream.traces import Limitation

CAPTURE = Path(__file__).parents[2] / "examples" / "linux-varying.pcap.gz"
VIDEO = Video(packet_rate=33, duration=8)


@pytest.fixture(scope="module")
def estimate():
    return tcpstream.estimate(CAPTURE)


@pytest.fixture(scope="module")
def fit(estimate):
    return fit_regimes(estimate, regimes=2)


def test_the_path_is_found_again(estimate, fit):
    """validation/linux/switched_example.py: 25 and 60 packets/s, stays of 4 and 6 s, R of .1 s, 12 packets wait."""
    slow, fast = fit.regimes
    assert slow.throughput / 12e3 == pytest.approx(25, rel=0.1)
    assert fast.throughput / 12e3 == pytest.approx(60, rel=0.02)
    for one, stay in zip(fit.regimes, (4, 6)):
        assert abs(one.mean_stay - stay) < 3 * one.stay_error
    path = fit.varying.regimes[0]
    assert 0.1 < path.rtt < 0.1 + 2 / 25  # and the time that a packet takes on the link
    assert path.buffer == pytest.approx(12, abs=3)
    assert path.rto == pytest.approx(estimate.rto.value)
    assert path.tcp == "reno-sack"
    assert tcpstream.throughput(fit.varying) == pytest.approx(estimate.throughput_pps.value, rel=0.05)


def test_what_is_given_replaces_what_is_seen(estimate):
    path = fit_regimes(estimate, regimes=2, rtt=0.12, buffer=7, loss=1e-3, rto=0.4).varying.regimes[0]
    assert (path.rtt, path.buffer, path.loss, path.rto) == (0.12, 7, 1e-3, 0.4)


def test_a_sender_that_waits_shows_no_path(estimate):
    held = tuple(second % 10 == 0 for second in range(len(estimate.series.held_back)))
    with pytest.raises(InputError, match=r"in \d+ of \d+ seconds the sender waited"):
        fit_regimes(replace(estimate, series=replace(estimate.series, held_back=held)))


def test_what_else_limits_a_flow_shows_no_path(estimate):
    limited = Limitation("application", "The sender had nothing to send 70% of the time.", "")
    with pytest.raises(InputError, match=r"not the path limited this flow \(application\): The sender had nothing"):
        fit_regimes(replace(estimate, limitation=limited))


def test_without_a_busy_link_there_is_a_warning(estimate):
    flat = tuple([0.1] * len(estimate.series.shortest))
    found = fit_regimes(replace(estimate, series=replace(estimate.series, shortest=flat, longest=flat)), regimes=2)
    assert "shows no link that the flow kept busy" in found.warnings[0]


def test_a_regime_that_is_no_bottleneck_has_ends(estimate):
    """Two packets in a round trip make a bottleneck: with a shorter one the slow regime has a loss rate instead."""
    found = fit_regimes(estimate, regimes=2, rtt=0.05)
    slow, fast = found.varying.regimes
    assert slow.bottleneck is None
    assert fast.bottleneck is not None
    assert [end.regimes for end in found.ends()] == [found.varying.regimes] * 2


def test_a_proposed_initial_window_fits_the_regimes(estimate):
    found = fit_regimes(estimate, regimes=2, buffer=3)
    least = int(found.varying.regimes[0].bottleneck * found.varying.rtt) + 3
    assert {one.initial_window for one in found.varying.regimes} == {least}
    assert f"slow start begins with {least} packets instead of 10" in found.warnings[-1]
    with pytest.raises(InputError, match="initial window must be at most the largest window"):
        fit_regimes(estimate, regimes=2, buffer=3, initial_window=10)


def test_a_trace_needs_a_round_trip():
    with pytest.raises(InputError, match="give rtt"):
        fit_regimes("examples/mobile.csv")


def test_seconds_in_which_a_regime_changes_do_not_count():
    """Four seconds of 10, one half and half, and so on: the means are 10 and 30, not pulled together."""
    rates = np.tile([10.0] * 4 + [20.0] + [30.0] * 4 + [20.0], 4)
    weights = np.where((rates <= 20)[:, np.newaxis], [1.0, 0.0], [0.0, 1.0])
    assert _means(rates, weights) == pytest.approx([10, 30])
    few = _means(rates[:10], weights[:10])  # too few are left to leave any out
    assert few == pytest.approx([(40 + 40) / 6, 30])


def test_ends(fit):
    best, worst = fit.ends()
    slow, fast = (one.stay_error / one.mean_stay * FAR / np.sqrt(2) for one in fit.regimes)
    stays = np.array([one.mean_stay for one in fit.regimes])
    assert np.log(np.array(worst.mean_stay) / stays) == pytest.approx([slow, -fast])
    assert np.log(np.array(best.mean_stay) / stays) == pytest.approx([-slow, fast])
    assert tcpstream.throughput(worst) < tcpstream.throughput(fit.varying) < tcpstream.throughput(best)


def test_a_stay_without_an_error_has_that_of_as_many_exponential_times(fit):
    slow, fast = fit.regimes
    unknown = replace(fit, regimes=(replace(slow, stay_error=None), fast))
    visits = slow.share * len(fit.series.throughput) / slow.mean_stay
    found = np.log(unknown.ends()[1].mean_stay[0] / slow.mean_stay)
    assert found == pytest.approx(FAR / np.sqrt(2 * visits))


def test_the_next_video_needs_the_mixture(fit):
    """Beside alpha of the three paths, weighted here; the weights have the variance of a normal error."""
    assert pytest.approx(1) == 2 * END * FAR**2
    found = next_delay(fit, VIDEO)
    laws = [stored(path, VIDEO) for path in (fit.varying, *fit.ends())]

    def suffices(tau):
        return np.dot([1 - 2 * END, END, END], [law.no_late_probability(tau) for law in laws])

    step = max(0.02 * found.high, 0.2 * laws[0].path.rtt)
    assert suffices(found.value) >= 0.5 > suffices(found.value - step) or found.value == 0
    assert suffices(found.high) >= 0.95  # beyond the stated error
    assert suffices(max(found.low - step, 0)) <= 0.05 or found.low == 0
    assert found.low <= found.value < found.high


def test_the_next_video_over_a_constant_path():
    """The median of a path that is known exactly lies between those of the ends of its interval."""
    found = tcpstream.estimate(CAPTURE.with_name("linux-reno.pcap"))
    video = Video(packet_rate=60, duration=10)
    wait = next_delay(found, video)
    best, worst = (stored(path, video).required_delay(no_late=0.5) for path in found.ends())
    assert best <= wait.value <= worst
    assert wait.low <= wait.value <= wait.high


@pytest.mark.parametrize(
    ("measured", "video", "words"),
    [
        ("file.pcap", VIDEO, "a fit of regimes or the estimate of a capture"),
        (None, Video(packet_rate=10), "give it a duration"),
        (None, "video", "video must be a Video"),
    ],
)
def test_bad_input(fit, measured, video, words):
    with pytest.raises(InputError, match=words):
        next_delay(fit if measured is None else measured, video)

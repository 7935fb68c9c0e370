"""Regimes that are known are found again in traces that are drawn from them; what has no fit is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

import tcpstream
from tcpstream import AccuracyError, InputError, Varying, fit_regimes
from tcpstream.answers import from_throughput
from tcpstream.fits.generator import rates_of, stay_errors, stays_of
from tcpstream.fits.regime_paths import regime_paths
from tcpstream.fits.search import _judged
from tcpstream.fits.switching_regression import hidden_states
from tcpstream.traces import ThroughputTrace

SENDER = {"sender": "linux", "tcp": "reno-sack", "rtt": 0.05}


def drawn(rates, levels, seconds, seed, spread=0.15):
    """Throughput [bit/s] of each second: the regime lasts as exponential clocks say, and is seen at each second."""
    rng = np.random.default_rng(seed)
    found, regime, left = [], 0, 0.0
    for _ in range(seconds):
        while left < 1:  # the regime of a second is that at its end
            out = np.array(rates[regime], dtype=float)
            out[regime] = 0
            regime = int(rng.choice(len(levels), p=out / out.sum()))
            left += rng.exponential(1 / -rates[regime][regime])
        left -= 1
        found.append(levels[regime] * np.exp(spread * rng.standard_normal()))
    return found


RATES = [[-1 / 20, 1 / 25, 1 / 100], [1 / 30, -1 / 15, 1 / 30], [1 / 120, 1 / 40, -1 / 30]]
LEVELS = [1e6, 2.5e6, 6e6]


def fitted(seconds):
    trace = ThroughputTrace(np.arange(seconds + 1), drawn(RATES, LEVELS, seconds, 5))
    return fit_regimes(trace, regimes=3, **SENDER)


@pytest.fixture(scope="module")
def three():
    return fitted(1500)


@pytest.mark.long
def test_three_regimes_are_found_again():
    three = fitted(3000)
    assert [one.name for one in three.regimes] == ["slow", "medium", "fast"]
    for one, level, stay in zip(three.regimes, LEVELS, (20, 15, 30)):
        mean = level * np.exp(0.15**2 / 2)  # of a lognormal value
        assert abs(one.throughput - mean) < 4 * one.throughput_error
        assert abs(one.mean_stay - stay) < 4 * one.stay_error
        assert 0.05 * stay < one.stay_error < 0.3 * stay  # some fifty stays each
    assert three.rounding < 0.01
    assert three.between > 0.8
    shares = np.array([one.share for one in three.regimes])
    assert abs(shares @ np.array(RATES)).max() < 0.01  # those of the long run, roughly


def test_regimes_are_bottlenecks(three):
    for path, one in zip(three.varying.regimes, three.regimes):
        assert path.bottleneck == pytest.approx(one.throughput / 12000)
        assert (path.loss, path.buffer) == (1e-6, three.varying.regimes[0].buffer)
    assert three.varying.regimes[0].buffer == np.ceil(three.regimes[2].throughput / 12000 * 0.05)
    carried = sum(one.share * one.throughput for one in three.regimes)
    assert carried == pytest.approx(three.series.throughput.mean(), rel=0.05)


def test_the_file_is_the_path(three, tmp_path):
    three.save(tmp_path / "regimes.toml")
    assert Varying.from_toml(tmp_path / "regimes.toml") == three.varying


def test_series_drawn_from_the_fit_are_like_the_trace(three):
    again = three.draw(20_000, np.random.default_rng(2))
    trace = three.series.throughput
    assert again.mean() == pytest.approx(trace.mean(), rel=0.1)
    assert np.quantile(again, [0.1, 0.9]) == pytest.approx(np.quantile(trace, [0.1, 0.9]), rel=0.15)


def test_plot(three):
    import matplotlib as mpl

    mpl.use("agg")
    axes = three.plot()
    assert len(axes) == 4
    assert axes[0].lines[0].get_ydata().tolist() == (three.series.throughput / 1e6).tolist()
    assert axes[3].lines[0].get_ydata()[0] == pytest.approx(1)
    mpl.pyplot.close("all")


def test_bic_tells_two_regimes_from_one():
    rng = np.random.default_rng(3)
    alone = fit_regimes(ThroughputTrace(np.arange(61), 1e6 * np.exp(0.2 * rng.standard_normal(60))), **SENDER)
    assert len(alone.regimes) == 1
    assert any(words in text for text in alone.warnings for words in ("one regime has the least BIC", "no fit of 2"))
    values = drawn([[-1 / 15, 1 / 15], [1 / 10, -1 / 10]], [1e6, 3e6], 80, 4)
    found = fit_regimes(ThroughputTrace(np.arange(81), values), **SENDER)
    assert len(found.regimes) == 2
    assert [one.regimes for one in found.candidates] == [1, 2, 3, 4]
    assert any("mean stays long" in text for text in found.warnings)


def test_regimes_that_change_within_an_interval_are_not_compared():
    found = fit_regimes(ThroughputTrace(np.arange(61), np.tile([2e6, 0], 30)), **SENDER)
    assert len(found.regimes) == 1
    assert all(one.reason for one in found.candidates[1:])
    assert "there is no fit of 2, 3 and 4 regimes to compare with" in found.warnings


def test_outages_have_a_regime():
    values = drawn([[-1 / 5, 1 / 5], [1 / 20, -1 / 20]], [0.0, 3e6], 600, 6)
    found = fit_regimes(ThroughputTrace(np.arange(601), values), regimes=2, **SENDER)
    slow, fast = found.varying.regimes
    assert found.regimes[0].throughput < 100
    assert (slow.bottleneck, slow.loss) == (None, 0.999)
    assert fast.bottleneck == pytest.approx(3e6 * np.exp(0.15**2 / 2) / 12000, rel=0.02)
    assert any("taken for an outage" in text for text in found.warnings)


def regimes_of(throughputs, stays, **sender):
    shared = SENDER | {"losses": "independent"} | sender
    return regime_paths(["slow", "fast"], throughputs, stays, 1e-6, None, 1500, shared)


def test_a_regime_too_slow_for_a_bottleneck_has_a_loss_rate():
    made = regimes_of([120e3, 3e6], [5, 5])
    assert tcpstream.throughput(made.paths[0]) == pytest.approx(10, rel=1e-5)
    assert "less than 2 packets in a round trip" in made.notes[0]


def test_where_the_windows_of_the_search_are_too_small_all_are_taken(monkeypatch):
    searched: list[int] = []

    def loss_rate(path, *wanted):
        searched.append(path(0.1).max_window)
        return from_throughput.loss_rate(path, *wanted)

    monkeypatch.setattr("tcpstream.fits.regime_paths.loss_rate", loss_rate)
    monkeypatch.setattr("tcpstream.fits.regime_paths.WINDOW", 3)
    made = regimes_of([250e3, 470e3], [5, 5], max_window=40)
    assert searched == [3, 40, 3, 40]
    assert [tcpstream.throughput(one) for one in made.paths] == pytest.approx([250 / 12, 470 / 12], rel=1e-5)


def test_a_trace_of_some_kbits_has_no_outages():
    """5 and 40 kbit/s are 0.42 and 3.3 packets/s: the first takes a loss rate above 0.5."""
    slow, fast = regimes_of([5e3, 40e3], [20, 20]).paths
    assert (slow.bottleneck, fast.bottleneck) == (None, None)
    assert 0.5 < slow.loss < 0.6
    assert [tcpstream.throughput(one) for one in (slow, fast)] == pytest.approx([5 / 12, 40 / 12], rel=1e-5)


def test_an_outage_is_less_than_a_packet_in_a_mean_stay():
    few, none = regimes_of([1e3, 3e6], [13, 9]), regimes_of([1e3, 3e6], [11, 9])  # a packet has 12 kbit
    assert tcpstream.throughput(few.paths[0]) == pytest.approx(1 / 12, rel=1e-5)
    assert none.paths[0].loss == 0.999
    assert "with less than one in its mean stay of 11 s it is taken for an outage" in none.notes[0]
    never = regimes_of([0.1, 3e6], [1e6, 9])
    assert never.paths[0].loss == 0.999
    assert "with 8.3e-06 packets/s it is taken for an outage" in never.notes[0]


def test_windows_that_cannot_be_so_fast_are_no_outage():
    with pytest.raises(InputError, match="a throughput of 30 packets/s is not what this path can have"):
        regimes_of([360e3, 3e6], [9, 9], max_window=1)


@pytest.mark.parametrize("step", [0.5, 2.0])
def test_stays_are_those_of_continuous_time(step):
    P = expm(np.array(RATES) * step)
    rates, error = rates_of(P, step)
    assert rates == pytest.approx(np.array(RATES), rel=1e-9)
    assert error < 1e-12
    assert stays_of(P, step) == pytest.approx([20, 15, 30])


def test_errors_of_stays_of_two_regimes():
    """By hand: the rates of P = [[1-a, a], [b, 1-b]] are a s and b s, with s = -log(1-a-b) / (a+b)."""
    a, b, h = 0.1, 0.2, 1e-6

    def stay(a, b):
        return (a + b) / (a * -np.log(1 - a - b))

    covariance = np.zeros((4, 4))
    covariance[1, 1], covariance[2, 2] = 1e-4, 4e-4
    da, db = (stay(a + h, b) - stay(a - h, b)) / (2 * h), (stay(a, b + h) - stay(a, b - h)) / (2 * h)
    found = stay_errors(np.array([[1 - a, a], [b, 1 - b]]), covariance, 1.0)
    assert found[0] == pytest.approx(np.sqrt(1e-4 * da**2 + 4e-4 * db**2), rel=1e-4)


def test_changes_within_an_interval_have_no_stays():
    with pytest.raises(AccuracyError, match="change within intervals of 1 s"):
        rates_of(np.array([[0.3, 0.7], [0.6, 0.4]]), 1.0)


def test_log_likelihood_is_that_of_the_series():
    """Beside the forward recursion, written out."""
    y = np.log(drawn([[-1 / 15, 1 / 15], [1 / 10, -1 / 10]], [1e6, 3e6], 200, 8))
    found = hidden_states(y, 2, np.random.default_rng(1))
    P = found.transitions
    mass = np.array([P[1, 0], P[0, 1]]) / (P[1, 0] + P[0, 1])
    total = 0.0
    for value in y:
        density = np.exp(-(((value - found.means) / found.deviations) ** 2) / 2) / found.deviations / np.sqrt(2 * np.pi)
        joint = mass * density
        total += np.log(joint.sum())
        mass = joint / joint.sum() @ P
    assert found.log_likelihood == pytest.approx(total, abs=1e-6)
    assert found.bic == pytest.approx(6 * np.log(200) - 2 * total, abs=1e-5)
    assert found.covariance is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"regimes": 5}, "regimes must be at most 4"),
        ({"regimes": 0}, "regimes must be a whole number of at least 1"),
        ({"interval": 0.5}, "interval must not be shorter than those of trace, 1 s in the median, got 0.5 s"),
        ({"interval": 30}, "50 to 20000 intervals are fitted, the trace of 300 s has 10 of 30 s"),
        ({"rtt": -1}, "round trip time must be greater than 0 s"),
        ({"loss": 2}, "loss rate must lie between 1e-09 and 0.999"),
        ({"buffer": -1}, "buffer must be a whole number of at least 0"),
        ({"losses": "bursts"}, "losses is that of the regimes, not of the sender"),
        ({"sender": tcpstream.Sender()}, "sender is named, as 'linux'"),
        ({"packet_size": 0}, "packet size must be greater than 0 bytes"),
        ({"tcp": "reno"}, "regimes have independent losses, for tcp = reno-sack, cubic, got 'reno'"),
        ({"tcp": "bbr"}, "got 'bbr'"),
    ],
)
def test_bad_input(change, words):
    trace = ThroughputTrace(np.arange(301), drawn([[-1 / 15, 1 / 15], [1 / 10, -1 / 10]], [1e6, 3e6], 300, 4))
    with pytest.raises(InputError) as caught:
        fit_regimes(trace, **({"regimes": 2} | SENDER | change))
    assert words in str(caught.value)


def test_traces_without_a_fit():
    with pytest.raises(InputError, match="nothing arrives in the whole trace"):
        fit_regimes(ThroughputTrace(np.arange(301), np.zeros(300)), regimes=2, **SENDER)
    with pytest.raises(AccuracyError, match="a regime does not end within the trace"):
        _judged(SimpleNamespace(means=[1, 2], transitions=np.array([[1 - 1e-9, 1e-9], [0.1, 0.9]])), 1.0, 300.0)
    with pytest.raises(AccuracyError, match="no fit of 2 regimes"):  # one of them would have three intervals
        fit_regimes(ThroughputTrace(np.arange(201), [1e6] * 100 + [9e9] * 3 + [1e6] * 97), regimes=2, **SENDER)

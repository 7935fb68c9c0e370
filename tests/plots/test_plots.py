"""Plots show the numbers that they are given, and tell curves apart without colour."""

import matplotlib as mpl
import numpy as np
import pytest

import tcpstream
from tcpstream import plots
from tcpstream.plots.style import COLORS, LINES, MARKERS, line, marked

mpl.use("agg")

CURVES = {"a": ([1, 2], [3.0, 4.0]), "b": ([1, 2], [0.0, 5.0])}


@pytest.fixture(autouse=True)
def close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_curves_differ_in_colour_and_in_style():
    assert len(set(COLORS)) == len(COLORS) == len(set(LINES))
    assert len(set(MARKERS)) == len(MARKERS)
    for styles in ([line(k) for k in range(7)], [marked(k, 5) for k in range(7)]):
        assert len({one["color"] for one in styles}) == len({one["linestyle"] for one in styles}) == 7


def test_curves():
    axes = plots.curves(CURVES, xlabel="x (s)", ylabel="y (s)")
    assert [found.get_ydata().tolist() for found in axes.lines] == [[3, 4], [0, 5]]
    assert labels(axes) == ["a", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("x (s)", "y (s)", "linear")
    assert axes.get_ylim()[0] == 0


def test_a_logarithmic_axis_has_no_zeros():
    axes = plots.curves(CURVES, xlabel="x", ylabel="y", least=0.1)
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] == pytest.approx(0.1)
    assert np.isnan(axes.lines[1].get_ydata()).tolist() == [True, False]


def test_required_delay_marks_ten_seconds():
    axes = plots.required_delay(CURVES)
    assert labels(axes) == ["10 s", "a", "b"]
    assert set(axes.lines[0].get_ydata()) == {10}


def test_required_delay_map():
    loss, rtt = np.array([0.01, 0.02, 0.04]), np.array([0.05, 0.1])
    delays = np.array([[1.0, 2, 4], [2, 4, np.nan]])
    axes = plots.required_delay_map(loss, rtt, delays)
    assert axes.get_xlim() == pytest.approx((0.01, 0.04))
    assert axes.get_ylim() == pytest.approx((50, 100))
    assert labels(axes) == ["no finite delay"]
    assert "2 s" in {text.get_text() for text in axes.texts}
    assert plots.required_delay_map(loss, rtt, np.nan_to_num(delays, nan=9)).get_legend() is None


def test_late_probability_of_several_delays():
    axes = plots.late_probability(0.5, [0.1, 0.0, 0.2], label="1 s")
    assert plots.late_probability(0.5, [0.01, 0.02], label="2 s", ax=axes) is axes
    first, second = axes.lines
    assert first.get_xdata().tolist() == [0.5, 1.0, 1.5]
    assert first.get_linestyle() != second.get_linestyle()
    assert labels(axes) == ["1 s", "2 s"]


def test_buffer():
    path = tcpstream.Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=8)
    result = tcpstream.stored(path, tcpstream.Video(packet_rate=20, duration=5))
    axes = plots.buffer(result, 1.0)
    times, N = result.buffer_quantiles(1.0)
    assert axes.lines[0].get_ydata().tolist() == N[2].tolist()
    wide = axes.collections[0].get_paths()[0].vertices
    assert (wide[:, 1].min(), wide[:, 1].max()) == (N[0].min(), N[4].max())
    assert axes.get_xlim()[1] == times[-1]
    assert labels(axes) == ["5% to 95%", "25% to 75%", "median", "playback starts: 1 s"]


def test_runs_stop_at_what_is_seen():
    axes = plots.beside_runs([0, 1, 2], [0.5, 0.1, 0], [0.4, -0.1, 0], [0.6, 0.3, 0], {"model": [0.5, 0.2, 0]})
    assert axes.lines[0].get_xdata().tolist() == [0, 1]
    assert axes.get_ylim()[0] == pytest.approx(0.1 / 3)
    intervals = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    assert intervals == [pytest.approx([0.4, 0.6]), pytest.approx([0.1 / 9, 0.3])]


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_save(tmp_path, ending, start):
    from matplotlib import pyplot

    file = tmp_path / f"plot.{ending}"
    plots.save(plots.required_delay(CURVES), file)
    assert file.read_bytes().startswith(start)
    assert pyplot.get_fignums() == []


class Seen:
    """Playback that begins after one round trip of 1 s with probability 0.7, and after two of them otherwise."""

    def join_time_cdf(self, t):
        return 0.7 * (np.asarray(t) >= 1) + 0.3 * (np.asarray(t) >= 2)

    def join_time_quantile(self, u):
        return 1.0 if u <= 0.7 else 2.0


def test_join_time():
    axes = plots.join_time(Seen(), label="2 s")
    (curve,) = axes.lines
    assert set(curve.get_ydata().tolist()) == {0, 0.7, 1}
    assert axes.get_xlim() == pytest.approx((0, 2.2))
    assert labels(axes) == ["2 s"]
    assert len(plots.join_time(Seen(), ax=axes).lines) == 2


class Holding:
    """Two sessions that hold 1 and 3 s of media all the time."""

    join_time, total_rebuffer, length = np.array([1.0, 2.0]), np.array([0.0, 1.0]), 8.0

    def __len__(self):
        return 2

    def buffer(self, t):
        return np.array([1.0, 3.0])[:, np.newaxis] * np.ones(len(t))


def test_held():
    axes = plots.held(Holding())
    assert set(axes.lines[0].get_ydata().tolist()) == {2}
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((1.1, 2.9))
    assert axes.get_xlim() == pytest.approx((0, 10))  # half of the sessions are over
    assert plots.held(Holding(), until=4).get_xlim()[1] == 4
    assert labels(axes) == ["5% to 95%", "median of 2 sessions"]


def test_what_viewers_see():
    path = tcpstream.Path(sender="classic", loss=0.05, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=12)
    video = tcpstream.Video(packet_rate=40, duration=10)
    live = tcpstream.play(path, video, tcpstream.Player(start=1), live=True)
    assert live.plot().lines[0].get_ydata()[0] == live.stall_probability
    buffered = tcpstream.play(path, video, tcpstream.Player(start_buffer=1, resume_buffer=1))
    (curve,) = buffered.plot().lines
    assert curve.get_ydata().tolist() == buffered.join_time_cdf(curve.get_xdata()).tolist()
    assert curve.get_ydata()[-1] > 0.999
    assert len(buffered.sessions(5, np.random.default_rng(1)).plot().lines) == 1


def test_skipped():
    path = tcpstream.Path(sender="classic", loss=0.05, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=12)
    stream = tcpstream.Video(packet_rate=20)
    skips = tcpstream.play(path, stream, tcpstream.Player(start=1, on_stall="skip"), live=True)
    curve, marker = skips.plot().lines
    x, y = curve.get_data()
    assert np.interp(1, x, np.log(y)) == pytest.approx(np.log(skips.skipped_fraction), rel=0.01)
    assert (marker.get_xdata()[0], marker.get_ydata()[0]) == (1, skips.skipped_fraction)
    assert labels(marker.axes) == ["without a resume buffer", "1 s behind"]

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
    path = tcpstream.Path(loss=0.1, rtt=0.1, timeout_ratio=1, max_window=8)
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

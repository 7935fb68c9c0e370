"""What results offer beside numbers: tables, text, plots."""

import json
import sys

import matplotlib as mpl
import numpy as np
import pytest

from tcpstream import AccuracyError, MissingExtraError, Path, Video, live, stored
from tcpstream.answers.answer import SCHEMA, at_most

mpl.use("Agg")

PATH = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=2, max_window=8)
RESULTS = [
    stored(PATH, Video(packet_rate=15, duration=10)),
    live(PATH, Video(packet_rate=15)),
    live(PATH, Video(packet_rate=15, duration=10)),
]


@pytest.mark.parametrize("result", RESULTS, ids=["stored", "live", "finite"])
class TestResult:
    def test_to_dict_is_json(self, result):
        data = json.loads(json.dumps(result.to_dict([0.5, 1])))
        assert data["schema"] == SCHEMA
        assert data["startup_delay_s"] == [0.5, 1]
        assert data["late_fraction"] == pytest.approx(list(result.late_fraction([0.5, 1])))
        assert data["load"] == pytest.approx(15 / data["throughput_pps"])
        assert 0 < data["error_bound"] < 1e-9
        assert data["parameters"]["loss"] == 0.05

    def test_to_pandas(self, result):
        table = result.to_pandas([0.5, 1.0])
        assert list(table.index) == [0.5, 1.0]
        assert table["late_fraction"].iloc[0] == result.late_fraction(0.5)

    def test_summary_names_the_delay(self, result):
        assert f"{result.required_delay():.3f} s" in result.summary()
        assert result.kind in repr(result).lower()

    def test_plot(self, result):
        axes = result.plot()
        assert axes.get_yscale() == "log"
        assert axes.get_xlabel() == "startup delay (s)"
        x, y = axes.lines[0].get_data()
        np.testing.assert_allclose(y, result.late_fraction(x))
        assert result.plot(ax=axes, delays=[0, 1]) is axes

    def test_shapes(self, result):
        assert isinstance(result.late_fraction(1), float)
        assert result.late_fraction([[0, 1], [2, 3]]).shape == (2, 2)

    def test_a_target_is_ten_times_the_error_bound_at_least(self, result, monkeypatch):
        monkeypatch.setattr(type(result), "error_bound", 1e-3)
        with pytest.raises(AccuracyError, match=r"0\.0099 is finer than ten times the error bound of 1\.0e-03"):
            result.required_delay(0.0099)
        assert result.late_fraction(result.required_delay(10 * 1e-3)) <= 0.01

    def test_extras_that_are_missing_are_named(self, result, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'tcpstream\[tables\]'"):
            result.to_pandas([1])
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'tcpstream\[plot\]'"):
            result.plot()


def test_late_probability_plot():
    from tcpstream import plots

    P = RESULTS[0].late_probability_per_round(0.5)
    axes = plots.late_probability(0.1, P, label="tau = 0.5 s")
    assert axes.lines[0].get_xdata()[-1] == pytest.approx(0.1 * len(P))


def test_error_bounds_for_people():
    assert at_most(3e-15) == "below 1e-12"
    assert at_most(2e-11) == "below 1e-10"
    assert at_most(0.0) == "below 1e-12"

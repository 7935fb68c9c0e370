"""The figures of the paper: their parameters are the paper's, their numbers those of single solves."""

import csv
from functools import cache

import numpy as np
import pytest

import tcpstream
from tcpstream import Path, Video
from tcpstream.cli.figure import NUMBERS
from tcpstream.paper import FIGURES, Curve, Figure, study_figures
from tcpstream.paper.record import figure_8, recorded
from tcpstream.paper.study_figures import model_by_length

SMALL = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=8)


@pytest.fixture(scope="module")
def made():
    """Make a figure, each once."""
    return cache(lambda number, **tcp: FIGURES[number](**tcp))


def column(curve, name):
    return np.asarray(curve.columns[name], dtype=float)


def test_the_command_draws_them_all():
    assert tuple(FIGURES) == NUMBERS


@pytest.mark.parametrize(("number", "name"), [pytest.param("4", "live 2", marks=pytest.mark.long), ("5", "stored 4")])
def test_figures_4_and_5_show_the_record_and_the_printed_path(made, number, name):
    setting = next(one for one in recorded() if one.setting.name == name)
    runs, *_, printed = made(number).curves
    assert runs.y.tolist() == [point.simulated for point in setting.points]
    # Tables II to V: p = 0.019, R = 210 ms, T_O = 2, mu = 25 (live 2); 0.014, 110 ms, 3, 65 and 80 s (stored 4)
    if number == "4":
        path = Path(sender="classic", loss=0.019, rtt=0.21, timeout_ratio=2, max_window=64)
        expected = tcpstream.live(path, Video(packet_rate=25), accuracy="exact").late_fraction(printed.x)
    else:
        path = Path(sender="classic", loss=0.014, rtt=0.11, timeout_ratio=3, max_window=64)
        expected = tcpstream.stored(path, Video(packet_rate=65, duration=80)).late_fraction(printed.x)
    assert printed.y == pytest.approx(expected, rel=1e-9)


def test_figure_8b_has_the_peak_of_the_papers_text(made):
    """Section 6.1: low at the beginning, a maximum, a decrease; the runs' peak is where the model's is."""
    runs, seen, printed = made("8b").curves
    assert runs.x.tolist() == figure_8()["8b"]["time_s"]
    for curve in (seen, printed):
        assert 10 < curve.x[curve.y.argmax()] < 25
        assert curve.y[0] == 0
    assert 8 < runs.x[runs.y.argmax()] < 25
    assert seen.y.max() == pytest.approx(runs.y.max(), rel=0.5)


def test_what_a_start_saves_is_the_same_in_every_longer_live_video(monkeypatch):
    """Windows of eight packets have forgotten it after 50 s."""
    monkeypatch.setattr(study_figures, "SETTLED", 50.0)
    lengths = np.array([55.0, 80.0])
    videos = [Video(packet_rate=20, duration=L) for L in lengths]
    direct = [tcpstream.live(SMALL, video, accuracy="exact").late_fraction(6.0) for video in videos]
    assert direct[0] < 0.99 * tcpstream.live(SMALL, Video(packet_rate=20)).late_fraction(6.0)
    assert model_by_length(SMALL, 20, lengths) == pytest.approx(direct, rel=1e-3)


@pytest.mark.long
def test_figure_9b_is_of_the_papers_path(made):
    path = Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=4)
    for curve, ratio in zip(made("9b").curves, (1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4)):
        mu = column(curve, "packet_rate_pps")[0]
        assert tcpstream.throughput(path) / mu == pytest.approx(ratio, rel=1e-12)
        if ratio == 2.0:
            expected = tcpstream.live(path, Video(packet_rate=mu), accuracy="exact").late_fraction(curve.x)
            assert curve.y == pytest.approx(expected)


def test_live_delays_are_proportional_to_the_round_trip_time(made):
    """At given p, T_O and T/mu the packets due per round, and so the law of the backlog, do not depend on R."""
    for curve in made("10b").curves:
        assert curve.x.tolist() == [50, 100, 200, 300]
        assert curve.y / curve.x == pytest.approx(np.full(4, curve.y[0] / curve.x[0]), rel=1e-6)


def test_figure_11a_has_the_load_that_it_says(made):
    assert [column(curve, "loss")[0] for curve in made("11a").curves] == [0.004, 0.02, 0.04]
    for curve in made("11a").curves:
        assert curve.x == pytest.approx(np.arange(12, 21) / 10)
        for ratio, rtt in zip(curve.x, column(curve, "rtt_s")):
            path = Path(sender="classic", loss=column(curve, "loss")[0], rtt=rtt, timeout_ratio=4)
            assert tcpstream.throughput(path) / 25 == pytest.approx(ratio, rel=1e-12)


def test_stored_delays_just_meet_the_target(made):
    for k, timer in enumerate((1, 2, 3, 4)):
        curve = made("11b", max_window=16).curves[k]
        path = Path(sender="classic", loss=0.04, rtt=0.2, timeout_ratio=timer, max_window=16)
        mu = column(curve, "packet_rate_pps")[2]
        assert tcpstream.throughput(path) / mu == pytest.approx(2, rel=1e-12)
        result = tcpstream.stored(path, Video(packet_rate=mu, duration=80))
        assert result.late_fraction(curve.y[2]) <= 1e-4 < result.late_fraction(curve.y[2] - 0.01)


FIGURE = Figure(
    "0",
    "title",
    "x (s)",
    "y",
    (
        Curve("simulation", {"x_s": [1, 2], "y": [0.5, 0.1], "low_95": [0.4, 0.05], "high_95": [0.6, 0.2]}),
        Curve("$T/\\mu$ = 2", {"x_s": [1, 3], "y": [0.25, 1 / 3], "rtt_s": [0.1, 0.1]}),
    ),
    least=1e-3,
)


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_figure_is_a_drawing_and_its_numbers(tmp_path, form):
    drawn, numbers = FIGURE.write(tmp_path, form)
    assert drawn.name == f"figure-0.{form}"
    assert drawn.stat().st_size > 1000
    rows = list(csv.DictReader(numbers.read_text().splitlines()))
    assert list(rows[0]) == ["curve", "x_s", "y", "low_95", "high_95", "rtt_s"]
    assert [row["curve"] for row in rows] == ["simulation"] * 2 + ["T/mu = 2"] * 2
    assert float(rows[3]["y"]) == 1 / 3
    assert (rows[0]["rtt_s"], rows[3]["low_95"]) == ("", "")


def test_runs_are_points_and_the_model_lines():
    axes = FIGURE.draw()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["$T/\\mu$ = 2", "simulation"]
    assert axes.get_title() == "Figure 0: title"
    assert axes.get_ylim()[0] == pytest.approx(1e-3)

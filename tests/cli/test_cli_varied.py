"""``tcpstream delay --capture`` of a link whose rate varied: regimes are fitted, and the answer is for them."""

from pathlib import Path

import pytest

import tcpstream

CAPTURE = Path(__file__).parents[2] / "examples" / "linux-varying.pcap.gz"
LINE = f"delay --capture {CAPTURE} --rate 30pps --duration 4s --target 1%"


@pytest.fixture(scope="module")
def fit():
    return tcpstream.fit_regimes(tcpstream.estimate(CAPTURE))


@pytest.fixture
def fitted(monkeypatch, fit):
    """The fit is made once."""
    monkeypatch.setattr("tcpstream.fits.fit_regimes", lambda *_, **__: fit)


@pytest.mark.usefixtures("fitted")
def test_json_beside_python(run, fit):
    done = run(f"{LINE} --json")
    assert done.status == 0
    video = tcpstream.Video(packet_rate=30, duration=4)
    answer, path = done.answer, tcpstream.stored(fit.varying, video)
    assert answer["required_startup_delay_s"] == pytest.approx(path.required_delay(0.01))
    wait = tcpstream.next_delay(fit, video)
    assert answer["next_video_needs_s"] == {"median": wait.value, "low": wait.low, "high": wait.high}
    assert [one["name"] for one in answer["fitted_regimes"]] == ["slow", "fast"]
    assert answer["capture"]["flow"] == "10.9.0.1:10000 > 10.9.0.2:5001"
    assert "a link was busy in" in answer["path_varied"]
    best, worst = (tcpstream.stored(end, video).required_delay(0.01) for end in fit.ends())
    assert answer["required_startup_delay_interval_s"] == pytest.approx([best, worst])
    low, high = answer["required_startup_delay_90_interval_s"]
    assert best < low < answer["required_startup_delay_s"] < high < worst


@pytest.mark.usefixtures("fitted")
def test_table(run, fit):
    done = run(LINE)
    assert done.status == 0
    for words in (
        "The next such video needs",
        "in the median (90% interval",
        "The path of the capture varied: a link was busy in",
        "So 2 regimes were fitted",
        "regime slow",
        "measured in the capture",
    ):
        assert words in done.out
    for warning in fit.warnings:
        assert warning in done.err
    assert "constant path" not in done.err


@pytest.mark.usefixtures("fitted")
def test_without_an_answer_for_the_next_video_there_is_still_one(run, monkeypatch):
    def refused(*_, **__):
        raise tcpstream.AccuracyError("it does not converge")

    monkeypatch.setattr("tcpstream.fits.next_delay", refused)
    done = run(LINE)
    assert done.status == 0
    assert done.out.startswith("Wait ")
    assert "What the next such video needs is not known: it does not converge." in done.out


@pytest.mark.usefixtures("fitted")
def test_play(run, fit):
    line = f"play --capture {CAPTURE} --rate 30pps --duration 4s --start 500ms --json"
    done = run(line)
    assert done.status == 0
    video, answer = tcpstream.Video(packet_rate=30, duration=4), done.answer
    best, seen, worst = (
        tcpstream.play(path, video, tcpstream.Player(start=0.5)).stall_probability
        for path in (fit.ends()[0], fit.varying, fit.ends()[1])
    )
    assert answer["stall_probability"] == pytest.approx(seen)
    assert answer["stall_probability_interval"] == pytest.approx([best, worst])
    assert "a link was busy in" in answer["path_varied"]
    assert len(answer["fitted_regimes"]) == 2
    other = run(f"{line} --pace 2")  # of a path that does not vary
    assert other.status == 0
    assert "path_varied" not in other.answer
    assert any("the path was not constant" in text for text in other.answer["warnings"])


def test_a_bottleneck_that_is_given_is_constant(run):
    done = run(f"{LINE} --bottleneck 40pps --buffer 20 --json")
    assert done.status == 0
    assert "next_video_needs_s" not in done.answer


def test_a_live_stream_is_warned_of(run):
    done = run(f"delay --capture {CAPTURE} --rate 10pps --live --target 1%")
    assert done.status == 0
    assert "the path was not constant: a link was busy in" in done.err


def test_without_a_fit_the_path_is_constant(run, monkeypatch):
    def missing(*_, **__):
        raise tcpstream.MissingExtraError("a fit of regimes", "statsmodels", "fit")

    monkeypatch.setattr("tcpstream.fits.fit_regimes", missing)
    done = run(f"{LINE} --json")
    assert done.status == 0
    assert "next_video_needs_s" not in done.answer
    assert any("is likely to be too short" in text for text in done.answer["warnings"])
    assert any("as no regimes are fitted: a fit of regimes needs statsmodels" in one for one in done.answer["warnings"])

"""How constant a path was: dispersion ratios and drift of flows over paths that are constant, and of others."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from synthetic import Sender, VaryingSender, capture, simulate

import tcpstream
from tcpstream import InputError
from tcpstream.answers.constancy import CLEARLY, compared
from tcpstream.cli import main
from tcpstream.playout.drawn_flows import drawn_flows
from tcpstream.tcp import chain_of
from tcpstream.traces import Limitation

EXAMPLE = Path(__file__).parents[2] / "examples" / "linux-reno.pcap"
PATH = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.01, rtt=0.1)
SECONDS = 400


READ = tcpstream.estimate


@cache
def known(name):
    return READ(name)


def estimate(file):
    """What a capture shows, of whichever test asked first."""
    return known(str(file))


@pytest.fixture(scope="module")
def drawn():
    return drawn_flows(chain_of(PATH), PATH.rtt, SECONDS, 400, np.random.default_rng(1))


@pytest.fixture(scope="module")
def flow():
    return drawn_flows(chain_of(PATH), PATH.rtt, SECONDS, 1, np.random.default_rng(5))[:, 0]


@pytest.fixture(scope="module")
def varying(tmp_path_factory):
    run = simulate(0.0, 0.1, 170, window=44, kind=VaryingSender, seed=3)
    return capture(tmp_path_factory.mktemp("varying"), run)


@pytest.fixture(scope="module")
def varied(varying):
    return tcpstream.constancy(estimate(varying))


@pytest.fixture
def estimated_once(monkeypatch):
    """Commands estimate no capture that another test of this module has estimated."""
    monkeypatch.setattr("tcpstream.traces.estimate", estimate)


def told(packets, drawn, usable=None):
    return compared(packets, drawn, np.ones(len(packets), dtype=bool) if usable is None else usable, PATH.rtt)


def test_a_flow_of_the_chain_is_constant(flow, drawn):
    found = told(flow, drawn)
    assert [one.windows for one in found.dispersion] == [400, 133, 40, 13]
    for one in found.dispersion:
        assert one.ratio.low < 1 < one.ratio.high
        assert one.ratio.low < one.ratio.value < one.ratio.high
    assert found.drift.low < 0 < found.drift.high
    assert found.varied is None


def test_the_ratio_is_that_of_variances_whatever_the_mean(flow, drawn):
    """Twice the deviations are four times the variance; twice the packets are none more."""
    mean = flow.mean()
    doubled = told(mean + 2 * (flow - mean), drawn)
    for one, two, faster in zip(*(each.dispersion for each in (told(flow, drawn), doubled, told(2 * flow, drawn)))):
        assert two.ratio.value / one.ratio.value == pytest.approx(4, rel=0.1)
        assert two.ratio.low / two.ratio.value == pytest.approx(one.ratio.low / one.ratio.value)
        assert faster.ratio.value == pytest.approx(one.ratio.value)


def test_bad_times_show_most_over_windows_as_long_as_they_last(flow, drawn):
    bad = (np.arange(SECONDS) // 10) % 4 == 0
    found = told(np.where(bad, flow / 2, flow), drawn)
    ratios = {one.window: one.ratio for one in found.dispersion}
    assert ratios[1].value < ratios[3].value < ratios[10].value
    assert ratios[10].low > 2
    assert found.varied.ratio.low == max(one.low for one in ratios.values()) > CLEARLY


@pytest.mark.parametrize("rise", [-0.6, 0.6])
def test_drift(flow, drawn, rise):
    found = told(flow * (1 + rise * np.linspace(-0.5, 0.5, SECONDS)), drawn)
    assert found.drift.value == pytest.approx(told(flow, drawn).drift.value + rise, abs=0.1)
    assert found.drift.low < rise < found.drift.high
    assert np.sign(found.drift.low) == np.sign(found.drift.high)
    assert "in means" in found.drift.how


def test_seconds_that_do_not_count_are_in_no_window(flow, drawn):
    usable = np.ones(SECONDS, dtype=bool)
    usable[50:60] = usable[100] = False
    spoilt = np.where(usable, flow, 0.0)
    found = told(spoilt, drawn, usable)
    assert [one.windows for one in found.dispersion] == [389, 16 + 13 + 99, 5 + 4 + 29, 1 + 1 + 9]
    assert found.seconds == 389
    assert found.varied is None
    assert told(spoilt, drawn).varied is not None


def test_what_is_not_known_has_a_reason(flow, drawn):
    short = told(flow[:40], drawn[:40])
    assert [one.reason for one in short.dispersion] == ["", "", *["fewer than 5 windows"] * 2]
    slow = compared(flow, drawn, np.ones(SECONDS, dtype=bool), 0.8)
    assert [one.reason for one in slow.dispersion] == ["less than 4 round trips"] * 2 + [""] * 2
    none = told(np.zeros(SECONDS), drawn)
    assert {one.reason for one in none.dispersion} == {"nothing was delivered, or the chain does not vary"}
    assert none.drift is None
    assert none.to_dict()["varied"] is None


@pytest.mark.parametrize("cause", ["application", "receive-window", "bbr"])
def test_what_the_path_does_not_limit_says_nothing_of_it(cause):
    found = replace(estimate(EXAMPLE), limitation=Limitation(cause, "Seen.", "Ask."))
    told = tcpstream.constancy(found)
    assert told.reason == f"not the path limited this flow ({cause}): Seen."
    assert {one.reason for one in told.dispersion} == {told.reason}
    assert (told.drift, told.varied, told.seconds) == (None, None, 0)


def test_a_queue_belongs_to_the_path():
    found = replace(estimate(EXAMPLE), limitation=Limitation("bottleneck", "Seen.", "Ask."))
    assert tcpstream.constancy(found).reason == ""


def test_other_flows_without_a_chain():
    found = estimate(EXAMPLE)
    lossless = replace(found, loss_event_rate=replace(found.loss_event_rate, value=0.0))
    assert tcpstream.constancy(lossless).reason == "no loss was seen, and so there is no chain to compare with"
    series = replace(found.series, opening=27)
    assert tcpstream.constancy(replace(found, series=series)).reason.startswith("2 of 29 seconds follow the opening")
    assert tcpstream.constancy(replace(found, duration_s=1e6)).reason == "the flow lasts 1000000 s, longer than 36000 s"
    near = replace(found, rtt=replace(found.rtt, value=1e-4), rto=replace(found.rto, value=0.2))
    assert tcpstream.constancy(near).reason.startswith("flows with a round trip of 0.0001 s are not drawn")


def test_the_same_answer_each_time():
    found = estimate(EXAMPLE)
    once, again = tcpstream.constancy(found), tcpstream.constancy(found, np.random.default_rng(1))
    assert once == again
    other = tcpstream.constancy(found, np.random.default_rng(2))
    assert other.dispersion[0].ratio.value == pytest.approx(once.dispersion[0].ratio.value, rel=0.05)
    assert other.dispersion[0].ratio.high == pytest.approx(once.dispersion[0].ratio.high, rel=0.2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (lambda _: tcpstream.constancy("a.pcap"), "estimate must be a PathEstimate"),
        (lambda found: tcpstream.constancy(found, 3), "rng must be a numpy.random.Generator"),
        (lambda found: tcpstream.constancy(found, loss=2), "loss rate must lie between 1e-09 and 0.999"),
    ],
)
def test_bad_input(line, message):
    with pytest.raises(tcpstream.InputError, match=message):
        line(estimate(EXAMPLE))


def test_a_capture_of_a_constant_path(tmp_path):
    found = tcpstream.constancy(tcpstream.estimate(capture(tmp_path, simulate(0.02, 0.2, 160, window=200))))
    assert found.varied is None
    assert all(one.ratio.low < 1 and one.ratio.value < 1.2 for one in found.dispersion)


def test_a_capture_of_a_path_that_varies(varied):
    assert varied.varied is not None
    assert varied.varied.ratio.value > 2
    for ratio in (one.ratio for one in varied.dispersion[1:3]):
        assert ratio.low > 1.25


@pytest.mark.parametrize(
    "command",
    [
        "estimate {}",
        "delay --capture {} --rate 20pps --duration 4s",
        pytest.param("play --capture {} --rate 10pps --duration 4s", marks=pytest.mark.long),
        pytest.param("rate --capture {} --duration 4s --delay 2s --target 1e-2", marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("estimated_once")
def test_answers_warn_where_the_path_varied(varying, varied, capsys, command):
    assert main([*command.format(varying).split(), "--json"]) == 0
    out, err = capsys.readouterr()
    (warning,) = [text for text in json.loads(out)["warnings"] if "not constant" in text]
    one = varied.varied
    assert warning.startswith(
        f"the path was not constant: over windows of {one.window} s the variance of its throughput was "
        f"{one.ratio.value:.3g} times that of a constant path (95% interval {one.ratio.low:.3g} to "
    )
    assert "is likely to be too short, and the interval of the loss rate is " in warning
    assert f"{np.sqrt(one.ratio.value):.2g} times as wide as on a constant path; tcpstream fit finds" in warning
    assert f"tcpstream: warning: {warning}" in err


@pytest.mark.usefixtures("estimated_once")
def test_the_interval_of_the_loss_rate_is_wider_where_the_path_varied(varying, varied, capsys):
    measured, found = estimate(varying), varied
    assert found.widening == pytest.approx(np.sqrt(found.varied.ratio.value))
    near, far = measured.ends(), measured.ends(widening=found.widening)
    odds = [np.log(p / (1 - p)) for p in (near[0].loss, measured.path().loss, near[1].loss)]
    for one, other in zip((far[0], far[1]), (odds[0], odds[2])):
        assert np.log(one.loss / (1 - one.loss)) == pytest.approx(odds[1] + found.widening * (other - odds[1]))
        assert one.rtt in (near[0].rtt, near[1].rtt)
    assert main([*f"delay --capture {varying} --rate 60pps --duration 5s --target 1e-2 --json".split()]) == 0
    answer = json.loads(capsys.readouterr().out)
    worst = tcpstream.stored(far[1], tcpstream.Video(packet_rate=60, duration=5)).required_delay(1e-2)
    assert answer["required_startup_delay_interval_s"][1] == pytest.approx(worst)


def test_a_widening_below_one_is_refused(varying):
    with pytest.raises(InputError, match="widening must lie between 1 and"):
        estimate(varying).ends(widening=0.5)


@pytest.mark.parametrize("command", ["throughput --capture {}", "transfer --capture {} --size 100kB"])
@pytest.mark.usefixtures("estimated_once")
def test_means_are_not_warned_of(varying, capsys, command):
    assert main(command.format(varying).split()) == 0
    assert "not constant" not in capsys.readouterr().err


def test_the_example_is_constant_and_says_so(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10000")
    assert main(["estimate", str(EXAMPLE)]) == 0
    out, err = capsys.readouterr()
    found = tcpstream.constancy(estimate(EXAMPLE))
    ratio = found.dispersion[0].ratio
    rows = [line.split() for line in out.splitlines()]
    assert ["1", "s", "27", f"{ratio.value:.3g}", f"{ratio.low:.3g}", "to", f"{ratio.high:.3g}"] in rows
    assert ["30", "s", "0", "not", "known", "fewer", "than", "5", "windows"] in rows
    assert f"Drift: {found.drift.value:+.0%} of the mean throughput" in out
    assert err == ""


def test_json_of_the_estimate(capsys):
    assert main(["estimate", str(EXAMPLE), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["constancy"] == tcpstream.constancy(estimate(EXAMPLE)).to_dict()
    assert answer["constancy"]["varied"] is False


class Pauses(Sender):
    """Writes in two of every ten seconds what takes some seconds more."""

    def write(self, time):
        self.written -= 1
        if time % 10 < 2:
            self.written += 4
        super().write(time)


def test_seconds_without_data_to_send_are_held_back(tmp_path):
    found = tcpstream.estimate(capture(tmp_path, simulate(0.02, 0.05, 60, app_gap=0.01, kind=Pauses, window=200)))
    series = found.series
    assert len(series.packets) == int(found.duration_s)
    paused = [packets == 0 for packets in series.packets]
    assert 10 < sum(paused) < 40
    assert all(held for held, pause in zip(series.held_back, paused) if pause)
    assert not all(series.held_back)


def test_the_series_counts_each_packet_once(tmp_path):
    found = tcpstream.estimate(capture(tmp_path, simulate(0.03, 0.1, 40)))
    most = found.throughput_pps.value * found.duration_s
    assert most - 100 < sum(found.series.packets) <= most + 1
    assert not any(found.series.held_back[1:])
    assert 0 < found.series.opening < 6
    assert not found.series.governed_by_losses[: found.series.opening].any()


def test_without_the_start_there_is_no_opening(tmp_path):
    found = tcpstream.estimate(capture(tmp_path, simulate(0.03, 0.1, 40), handshake=False))
    assert found.series.opening == 0

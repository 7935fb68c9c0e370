"""Which chain is proposed, from what a capture shows and from what a report says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import capture, simulate

from tcpstream.errors import InputError
from tcpstream.traces import estimate, estimate_report
from tcpstream.traces.proposal import propose
from tcpstream.variants import VARIANTS

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("losses", ["round", "independent", "neither", "undecided", None])
@pytest.mark.parametrize("sack", [True, False])
def test_every_losses_beside_sack(losses, sack):
    found = propose(losses, sack=sack, control="reno")
    assert found.tcp == ("reno-sack" if losses == "independent" and sack else "reno")
    assert found == propose(losses, sack=sack, control=None)
    assert "that fits" not in found.reason
    other = propose(losses, sack=sack, control="bbr")
    assert other.tcp == found.tcp
    assert other.reason == f"{found.reason}; the sender's congestion control, bbr, has no chain that fits"


@pytest.mark.parametrize("chains", [("reno", "reno-sack"), ("reno", "reno-sack", "cubic")])
def test_cubic_is_proposed_as_soon_as_there_is_a_chain(monkeypatch, chains):
    monkeypatch.setattr("tcpstream.traces.proposal.VARIANTS", {name: VARIANTS[name] for name in chains})
    found = estimate(EXAMPLES / "linux-cubic.pcap").proposal
    assert found.tcp == ("cubic" if "cubic" in chains else "reno-sack")
    assert ("no chain that fits" in found.reason) == ("cubic" not in chains)
    assert estimate(EXAMPLES / "linux-reno.pcap").proposal.tcp == "reno-sack"


@pytest.mark.parametrize(
    ("losses", "tcp"), [("round", "reno"), ("neither", "reno"), ("undecided", "reno"), (None, "cubic")]
)
def test_cubic_is_for_independent_losses(losses, tcp):
    """A report does not show how losses come; what it counts is every loss, as that chain's p does."""
    assert propose(losses, sack=True, control="cubic").tcp == tcp


@pytest.mark.parametrize(
    ("conditions", "tcp", "words"),
    [
        ({"process": "round"}, "reno", "takes the rest of its round"),
        ({}, "reno-sack", "independent"),
        ({"sack": False}, "reno", "no SACK is seen"),
    ],
)
def test_from_captures(tmp_path, conditions, tcp, words):
    found = estimate(capture(tmp_path, simulate(0.02, seed=2, **conditions)))
    assert found.proposal.tcp == tcp == found.path().tcp
    assert words in found.proposal.reason
    assert found.path().loss == (found.loss if tcp == "reno-sack" else found.loss_event_rate).value
    assert f"chain {tcp}: " in found.summary()


@pytest.fixture(scope="module")
def reno():
    return estimate(EXAMPLES / "linux-reno.pcap")


def test_the_path_has_what_is_proposed_unless_it_is_given(reno):
    assert (reno.proposal.initial_window, reno.proposal.detection) == (10, "rack")
    for path in (reno.path(), *reno.ends()):
        assert (path.initial_window, path.detection) == (10, "rack")
    for path in (reno.path(initial_window=3, detection="duplicates"), *reno.ends(initial_window=3)):
        assert path.initial_window == 3
    assert reno.path(detection="duplicates").detection == "duplicates"
    assert reno.path(initial_window=None).initial_window is None


def test_the_largest_window_limits_the_proposed_initial_one(reno):
    assert reno.path(max_window=6).initial_window == 6
    assert reno.path(max_window=60).initial_window == reno.path(max_window=None).initial_window == 10
    assert reno.path(max_window=6, initial_window=None).initial_window is None
    with pytest.raises(InputError, match="largest window must be a whole number"):
        reno.path(max_window=4.5)
    with pytest.raises(InputError, match="initial window must be at most the largest window of 6"):
        reno.path(max_window=6, initial_window=10)


def test_every_chain_gets_slow_start():
    found = estimate(EXAMPLES / "linux-cubic.pcap")
    assert (found.proposal.tcp, found.path().tcp, found.path().initial_window) == ("cubic", "cubic", 10)


def test_what_a_report_does_not_show_is_not_proposed():
    found = estimate_report(EXAMPLES / "linux-reno-ss.txt")
    assert (found.proposal.initial_window, found.proposal.detection) == (None, "duplicates")
    assert (found.path(loss=0.02).initial_window, found.path(loss=0.02).detection) == (None, "duplicates")


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_reports_name_the_congestion_control(tmp_path, monkeypatch, control):
    few = {name: VARIANTS[name] for name in ("reno", "reno-sack")}
    monkeypatch.setattr("tcpstream.traces.proposal.VARIANTS", few)
    ss, iperf3 = ((EXAMPLES / f"linux-reno-{name}").read_text() for name in ("ss.txt", "iperf3.json"))
    files = {"ss": ss.replace("\t reno wscale", f"\t ts sack {control} wscale"), "iperf3": iperf3}
    files["iperf3"] = iperf3.replace('"sender_tcp_congestion":\t"reno"', f'"sender_tcp_congestion":\t"{control}"')
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        found = estimate_report(tmp_path / name)
        assert found.control == control == found.to_dict()["congestion_control"]
        assert found.path(loss=0.02).tcp == found.proposal.tcp == "reno"
        assert ("no chain that fits" in found.proposal.reason) == (control == "cubic")


def test_reports_without_a_congestion_control(tmp_path):
    report = json.loads((EXAMPLES / "linux-reno-iperf3.json").read_text())
    for end in ({}, {"sender_tcp_congestion": 7}, None):
        file = tmp_path / "report"
        file.write_text(json.dumps(report | {"end": end}))
        assert estimate_report(file).control is None

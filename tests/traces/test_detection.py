"""How a sender sees losses, against senders that are known to see them so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic import MSS, Run, Seen, capture, simulate

from tcpstream.traces import estimate
from tcpstream.traces.detection import detection, repairs
from tcpstream.traces.estimate import connections_of
from tcpstream.traces.fates import follow
from tcpstream.traces.flow import read_flow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("rtt", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("known", ["duplicates", "rack"])
def test_a_known_sender_is_told(tmp_path, known, rtt):
    run = simulate(0.04, rtt, seconds=20 + 500 * rtt, process="round", detection=known, seed=6)
    found = estimate(capture(tmp_path, run))
    assert found.detection.fits == known == found.proposal.detection == found.path().detection
    assert (found.detection.sooner.value == 0) == (known == "duplicates")
    assert found.detection.sooner.low <= found.detection.sooner.value <= found.detection.sooner.high


@pytest.mark.parametrize("process", ["independent", "round"])
def test_without_rack_no_repair_comes_sooner_than_the_timer(tmp_path, process):
    for seed in range(5):
        run = simulate(0.08, 0.05, 30, process=process, detection="duplicates", seed=seed)
        sooner = estimate(capture(tmp_path, run)).detection.sooner
        assert sooner is None or sooner.value == 0


def test_rack_is_told_among_independent_losses(tmp_path):
    run = simulate(0.05, 0.05, 40, detection="rack", seed=8)
    assert estimate(capture(tmp_path, run)).detection.fits == "rack"


def test_linux_has_rack():
    """By default since Linux 4.18; the other example is of 16 s, and few of its losses show it."""
    reno, cubic = (estimate(EXAMPLES / f"linux-{name}.pcap").detection for name in ("reno", "cubic"))
    assert (reno.fits, reno.sooner.value) == ("rack", 1)
    assert (cubic.fits, cubic.sooner.value) == ("undecided", 1)
    assert cubic.reason.endswith("too few to tell")


@pytest.mark.parametrize(
    ("conditions", "vantage", "fits", "words"),
    [
        ({"sack": False}, "sender", "duplicates", "no SACK is seen"),
        ({"detection": "rack"}, "receiver", "undecided", "away from the sender"),
        ({"detection": "rack"}, 0.5, "undecided", "away from the sender"),
        ({"detection": "rack", "rtt": 0.9}, "sender", "undecided", "no sooner than the timer"),
        ({"p": 0.0}, "sender", "duplicates", "no SACK is seen"),
    ],
)
def test_where_it_is_not_told_it_is_duplicates(tmp_path, conditions, vantage, fits, words):
    run = simulate(**({"p": 0.04, "process": "round"} | conditions))
    found = estimate(capture(tmp_path, run, vantage))
    assert (found.detection.fits, found.detection.sooner) == (fits, None)
    assert words in found.detection.reason == found.proposal.detection_reason
    assert found.proposal.detection == "duplicates"
    assert found.to_dict()["detection"] == {
        **{"fits": fits, "sooner": None, "sooner_interval": None},
        "reason": found.detection.reason,
    }


@pytest.mark.parametrize(
    ("early", "count", "fits"),
    [(5, 5, "rack"), (4, 4, "undecided"), (0, 12, "duplicates"), (0, 11, "undecided"), (4, 12, "undecided")],
)
def test_few_repairs_tell_nothing(early, count, fits):
    """Wilson score intervals, z = 1.96: of none in n up to z^2 / (n + z^2), 0.242 of 12 and 0.259 of 11."""
    soonest = 0.1 + 0.2 - 0.004
    waits = np.where(np.arange(count) < early, soonest - 1e-6, soonest)
    found = detection(waits, "sender", sack=True, round_trip=0.1)
    assert found.fits == fits
    assert found.reason.startswith(f"{early} of {count} retransmissions")


def by_hand(seen, later, cut=False):
    """Return twelve packets, the sixth lost; it is sent again `later` [s] after what is before it is acknowledged.

    Meanwhile `seen` of the packets after it are reported; in a capture that is `cut` the last one alone each time.
    """
    base, packets = 10_000, []

    def data(time, number, lost=False):
        packets.append(Seen(time, time + 0.05, True, base + number * MSS, 1, MSS, lost=lost))

    def ack(time, number, *blocks):
        edges = tuple((base + a * MSS, base + b * MSS) for a, b in blocks)
        packets.append(Seen(time, time - 0.05, False, 1, base + number * MSS, 0, sack=edges))

    for number in range(12):
        data(0.001 * number, number, lost=number == 5)
    for number in range(1, 6):
        ack(0.1 + 0.001 * number, number)
    for more in range(1, seen + 1):
        ack(0.105 + 0.001 * more, 5, (5 + more if cut else 6, 6 + more))
    data(0.105 + later, 5)
    ack(0.205 + later, 12)
    return Run(packets)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("seen", "repaired"), [(0, True), (1, True), (2, True), (3, False), (6, False)])
def test_a_repair_by_hand(tmp_path, seen, repaired, cut):
    """The timer runs since the last acknowledgement of new data."""
    flow = read_flow(connections_of(capture(tmp_path, by_hand(seen, 0.04, cut)), "it", [])[0], "it", [])
    assert repairs(flow, follow(flow, 0.003)) == pytest.approx([0.04] if repaired else [], abs=2e-6)

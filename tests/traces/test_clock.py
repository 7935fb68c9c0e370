"""Captures whose clock is coarse: fine enough for the round trip, worth a warning, or of no use."""

from __future__ import annotations

import pytest
from synthetic import frames, pcap_bytes, simulate

from tcpstream.errors import CaptureError
from tcpstream.traces import estimate
from tcpstream.traces.capture import read_segments
from tcpstream.traces.connections import connections
from tcpstream.traces.fates import follow
from tcpstream.traces.flow import read_flow

ROWS = frames(simulate(0.02, seconds=20))


def ticking(tmp_path, tick):
    """Return a capture of a flow with a round trip of 102 ms whose clock has steps of so many seconds."""
    file = tmp_path / "coarse.pcap"
    file.write_bytes(pcap_bytes([(time // tick * tick + 1e-7, data) for time, data in ROWS]))
    return file


@pytest.mark.parametrize("tick", [0.001, 0.01, 0.05])
def test_a_fine_clock_needs_no_mention(tmp_path, tick):
    found, fine = estimate(ticking(tmp_path, tick)), estimate(ticking(tmp_path, 1e-6))
    assert found.warnings == ()
    assert (found.packets, found.loss.value) == (fine.packets, fine.loss.value)
    assert found.rtt.value == pytest.approx(fine.rtt.value, rel=0.02)


def test_a_clock_of_about_a_round_trip(tmp_path):
    (warning,) = estimate(ticking(tmp_path, 0.1)).warnings
    assert warning.startswith("the capture's clock has steps of 0.1 s, and a round trip takes 0.10")


@pytest.mark.parametrize("tick", [0.25, 0.5, 1])
def test_a_clock_coarser_than_round_trips_measures_nothing(tmp_path, tick):
    with pytest.raises(CaptureError, match=f"coarse.pcap has times in steps of {tick} s, longer than a round trip"):
        estimate(ticking(tmp_path, tick))


def test_packets_of_the_same_time_are_not_the_same_packet(tmp_path):
    """One that is sent again within a step of the clock has a timestamp of its own."""
    flow = read_flow(connections(read_segments(ticking(tmp_path, 1), []))[0], "x", [])
    assert follow(flow, 0.003).twice == 0

"""Captures that lack acknowledgements say so."""

from __future__ import annotations

import pytest
from synthetic import SENDER, frames, pcap_bytes, simulate

from tcpstream.traces import estimate


def thinned(tmp_path, every, **options):
    """Return a capture with one of so many acknowledgements of a flow with a round trip of 102 ms."""
    rows = frames(simulate(0.01, seconds=20, **options))
    file = tmp_path / "thinned.pcap"
    file.write_bytes(pcap_bytes([row for i, row in enumerate(rows) if row[1][12:16] == SENDER[0] or i % every == 0]))
    return file


@pytest.mark.parametrize("every", [2, 10, 40])
def test_timestamps_that_no_acknowledgement_has(tmp_path, every):
    found = estimate(thinned(tmp_path, every))
    assert found.rtt.value > 0.105
    assert found.warnings[0].startswith("the capture lacks acknowledgements, and its round trip and timer are too long")
    assert found.limitation is None or found.limitation.evidence.startswith("The capture lacks acknowledgements")


def test_a_whole_capture_lacks_none(tmp_path):
    assert estimate(thinned(tmp_path, 1)).warnings == ()
    assert estimate(thinned(tmp_path, 1, timestamps=False)).warnings == ()


def test_more_packets_an_acknowledgement_than_receivers_merge(tmp_path):
    """Without timestamps that alone tells."""
    found = estimate(thinned(tmp_path, 150, timestamps=False))
    assert found.packets_per_ack.value > 45
    assert "receivers merge at most 65536 bytes before they acknowledge, 45 packets" in found.warnings[0]

"""The first flight of a connection: its initial window."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from synthetic import capture, simulate

from tcpstream.traces import estimate, estimate_segments

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("window", [1, 3, 10, 16])
@pytest.mark.parametrize("vantage", ["sender", 0.4, "receiver"])
@pytest.mark.parametrize("timestamps", [True, False])
def test_the_initial_window_is_seen_anywhere(tmp_path, window, vantage, timestamps):
    run = simulate(0.02, seconds=20, seed=3, initial_window=window, timestamps=timestamps)
    found = estimate(capture(tmp_path, run, vantage))
    assert found.first_flight == window == found.proposal.initial_window
    assert f"{window} packet" in found.proposal.initial_window_reason
    assert found.to_dict()["first_flight"] == window


@pytest.mark.parametrize(("window", "lost"), [(10, (0,)), (10, (1, 2)), (10, (0, 1, 2)), (10, (9,)), (1, (0,))])
def test_losses_of_the_first_flight_count_once(tmp_path, window, lost):
    """At the sender all of them are seen."""
    assert estimate(capture(tmp_path, losing(window, lost))).first_flight == window


def test_a_capture_that_ends_before_anything_is_acknowledged_in_order(tmp_path):
    """The first packet is lost, and the capture ends before it is sent again: acknowledgements are selective only."""
    run = losing(16, (0,))
    again = [i for i, packet in enumerate(run.packets) if packet.payload and packet.seq == run.packets[3].seq][1]
    del run.packets[again:]
    assert estimate(capture(tmp_path, run)).first_flight == 16


def losing(window, lost):
    """Return the first simulation in which the first flight loses these packets."""
    runs = (simulate(0.2, seconds=1, seed=seed, initial_window=window) for seed in itertools.count())
    found = (tuple(i for i in range(window) if run.packets[3 + i].lost) == lost for run in runs)
    return simulate(0.2, seconds=20, seed=next(i for i, same in enumerate(found) if same), initial_window=window)


@pytest.mark.parametrize("name", ["reno", "cubic"])
def test_linux_begins_with_ten(name):
    """RFC 6928, Linux's default."""
    assert estimate(EXAMPLES / f"linux-{name}.pcap").first_flight == 10


def test_only_the_start_of_a_connection_shows_it(tmp_path):
    run = simulate(0.02, seconds=20, initial_window=10)
    without = estimate(capture(tmp_path, run, handshake=False))
    assert without.first_flight is without.proposal.initial_window is without.path().initial_window is None
    assert "was not seen" in without.proposal.initial_window_reason
    segments = estimate_segments(capture(tmp_path, run), 5)
    assert [part.estimate.first_flight for part in segments if part.estimate] == [10, None, None, None]


def test_data_missing_after_the_handshake(tmp_path):
    run = simulate(0.02, seconds=20, initial_window=10)
    del run.packets[3:5]
    assert estimate(capture(tmp_path, run)).first_flight is None

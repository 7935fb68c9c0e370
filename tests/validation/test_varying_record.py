"""The record of paths that vary: whole, of the cases as they are drawn now, and without a disagreement."""

import pytest

import tcpstream
from tcpstream.system.log import read
from varying import RESULTS, SIGMAS, drawn, summary

ROWS = read(RESULTS)


def test_cases_are_recorded_once():
    assert [row["case"] for row in ROWS] == list(range(len(ROWS)))
    assert len(ROWS) >= 40


@pytest.mark.parametrize("row", ROWS[::10], ids=lambda row: str(row["case"]))
def test_cases_are_drawn_as_recorded(row):
    varying, video, delays = drawn(row["case"])
    assert (varying.tcp, len(varying.regimes), varying.start) == (row["tcp"], row["regimes"], row["start"])
    assert (video.packet_rate, delays) == (row["packet_rate_pps"], row["delays_s"])
    assert tcpstream.throughput(varying) / video.packet_rate == pytest.approx(row["T_over_mu"], rel=1e-9)


def test_no_metric_differs():
    z = [one["z"] for row in ROWS for one in row.get("metrics", {}).values() if one["z"] is not None]
    assert len(z) > 100
    assert max(map(abs, z)) < SIGMAS
    assert summary(ROWS).startswith(f"{len(ROWS)} cases: ")

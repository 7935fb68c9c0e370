"""The records of paths that vary: whole, of the cases as they are drawn now, and without a disagreement."""

import pytest

import dispersion
import tcpstream
import varying_players
from tcpstream.system.log import read
from varying import RESULTS, SIGMAS, drawn, summary

ROWS, PLAYERS = read(RESULTS), read(varying_players.RESULTS)
DISPERSION = read(dispersion.RESULTS)


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


def test_players_are_those_of_the_same_paths():
    assert [row["case"] for row in PLAYERS] == list(range(varying_players.CASES))
    for row in PLAYERS[::5]:
        varying, video, _ = drawn(row["case"])
        player = varying_players.buffers(row["case"])
        assert (varying.tcp, video.packet_rate) == (row["tcp"], row["packet_rate_pps"])
        assert (player.start_buffer, player.resume_buffer) == (row["start_buffer_s"], row["resume_buffer_s"])


def test_no_player_differs():
    z = [one["z"] for row in PLAYERS for one in row.get("metrics", {}).values() if one["z"] is not None]
    assert len(z) > 100
    assert max(map(abs, z)) < SIGMAS


def test_more_dispersion_takes_a_lower_rate():
    assert len(DISPERSION) == len(dispersion.SWINGS) * len(dispersion.DELAYS)
    for delay in dispersion.DELAYS:
        mine = sorted(
            (row["dispersion_ratio"], row["T_over_mu"]) for row in DISPERSION if row["startup_delay_s"] == delay
        )
        assert [need for _, need in mine] == sorted(need for _, need in mine)


def test_the_table_of_the_page_is_of_the_record():
    page = (RESULTS.parents[2] / "docs" / "varying.md").read_text("utf-8")
    rows = dispersion.table(DISPERSION).splitlines()[2:]
    assert len(rows) == len(dispersion.SWINGS)
    assert [line for line in rows if line not in page] == []

"""Sweeps give what single solves give, whatever is solved together."""

from functools import cache

import pandas as pd
import pytest

from tcpstream import (
    Path,
    PausingPlayer,
    Player,
    SegmentPlayer,
    Video,
    explore,
    live,
    play,
    stored,
    throughput,
)

SMALL = {"sender": "classic", "max_window": 12, "timeout_ratio": 2}


def test_stored_points_are_single_solves():
    points = explore.grid(
        loss=[0.03, 0.06], rtt=[0.1, 0.2], packet_rate=[20, 24], duration=[10, 20], delay=[0, 2], **SMALL
    )
    table = explore.sweep(points, "stored", alpha=True)
    assert len(table) == 32
    assert (table["error"] == "").all()
    for row in table.itertuples():
        path, video = (
            Path(loss=row.loss, rtt=row.rtt, **SMALL),
            Video(packet_rate=row.packet_rate, duration=row.duration),
        )
        alone = stored(path, video)
        assert row.late_fraction == pytest.approx(alone.late_fraction(row.delay), rel=1e-9, abs=1e-14)
        assert row.no_late_lower_bound == pytest.approx(alone.no_late_lower_bound(row.delay), rel=1e-7, abs=1e-14)
        assert row.no_late_probability == pytest.approx(alone.no_late_probability(row.delay), abs=1e-13)
        assert row.throughput == throughput(path)
        assert row.T_over_mu == throughput(path) / row.packet_rate
        assert row.quantum == 1
        assert row.error_bound >= alone.error_bound / 10


def test_what_viewers_see_is_that_of_single_players():
    points = explore.grid(loss=[0.01, 0.02], rtt=0.1, packet_rate=20, duration=2, start=[0.5, 1.0], **SMALL)
    table = explore.sweep(points, "stored")
    assert (table["error"] == "").all()
    for row in table.itertuples():
        path = Path(loss=row.loss, rtt=0.1, **SMALL)
        alone = play(path, Video(packet_rate=20, duration=2), Player(row.start))
        for name in ("stall_probability", "mean_total_rebuffer", "rebuffering_ratio"):
            assert getattr(row, name) == getattr(alone, name)
            assert getattr(row, f"{name}_error") == alone.errors[name]
    assert table.attrs["units"]["mean_total_rebuffer"] == "s"
    wrong = explore.sweep(points.iloc[:2].assign(start=[None, -1.0]), "stored")["error"].tolist()
    assert wrong == ["give start", "start must not be negative, got -1 s"]


def test_viewers_of_live_streams_are_those_of_single_players():
    points = explore.grid(loss=0.05, rtt=0.1, packet_rate=20, duration=10, start=[0.5, 1.0], **SMALL)
    for row in explore.sweep(points, "live").itertuples():
        path = Path(loss=row.loss, rtt=0.1, **SMALL)
        alone = play(path, Video(packet_rate=20, duration=10), Player(row.start), live=True)
        assert (row.stall_probability, row.rebuffering_ratio) == (alone.stall_probability, alone.rebuffering_ratio)


def test_players_with_buffers_are_single_ones():
    common = dict(loss=0.05, rtt=0.1, packet_rate=20, duration=4, tcp="reno-sack", initial_window=4, **SMALL)
    players = pd.DataFrame(
        [
            dict(start_buffer=1.0, resume_buffer=0.5),
            dict(start_buffer=1.0),
            dict(start_buffer=2.0, segment=2.0, client_buffer=6.0),
            dict(segment=2.0),
            dict(start_buffer=1.0, client_buffer=2.0),
            dict(resume_buffer=1.0),
            dict(start_buffer=9.0, segment=2.0, client_buffer=6.0),
        ]
    )
    table = explore.sweep(players.assign(**common), "stored")
    path, video = (
        Path(loss=0.05, rtt=0.1, tcp="reno-sack", initial_window=4, **SMALL),
        Video(packet_rate=20, duration=4),
    )
    given = [
        Player(start_buffer=1, resume_buffer=0.5),
        Player(start_buffer=1),
        SegmentPlayer(2, 6, 2),
        SegmentPlayer(2),
        PausingPlayer(start_buffer=1, client_buffer=2),
    ]
    for i, player in enumerate(given):
        alone, row = play(path, video, player), table.loc[i]
        assert row["error"] == ""
        for name in ("stall_probability", "mean_total_rebuffer", "rebuffering_ratio", "mean_join_time"):
            assert row[name] == getattr(alone, name)
    assert table["error"][5] == "give start_buffer"
    assert "start buffer must lie between 0 and 6 s" in table["error"][6]
    assert table.attrs["units"]["mean_join_time"] == "s"


def test_a_timer_that_is_not_given_is_that_of_linux():
    points = pd.DataFrame(
        [dict(sender="classic", loss=0.05, rtt=0.1, max_window=6, packet_rate=20, duration=5, delay=0.5)]
    )
    table = explore.sweep(pd.concat([points, points.assign(rto=0.3)], ignore_index=True), "stored")
    assert table["late_fraction"].notna().all()
    assert table["late_fraction"].nunique() == 1


def test_live_points_are_single_solves():
    few = SMALL | {"max_window": 4}
    points = explore.grid(loss=0.05, rtt=[0.1, 0.2], T_over_mu=2, delay=[0, 1, 3], **few)
    table = explore.sweep(points, "live")

    @cache
    def single(rtt, T_over_mu):
        path = Path(loss=0.05, rtt=rtt, **few)
        return live(path, Video(packet_rate=throughput(path) / T_over_mu))

    for row in table.itertuples():
        alone = single(row.rtt, row.T_over_mu)
        assert row.packet_rate == alone.video.packet_rate
        assert row.late_fraction == pytest.approx(alone.late_fraction(row.delay), rel=1e-9, abs=1e-14)
        assert row.lattice_error == pytest.approx(alone.lattice_error(row.delay))


def test_live_of_finite_length():
    points = explore.grid(loss=0.05, rtt=0.1, packet_rate=20, duration=[2, 4], delay=1, **SMALL)
    alone = [
        live(Path(loss=0.05, rtt=0.1, **SMALL), Video(packet_rate=20, duration=d)).late_fraction(1) for d in (2, 4)
    ]
    assert explore.sweep(points, "live")["late_fraction"].tolist() == alone


def test_required_delays():
    given = dict(loss=0.05, rtt=0.1, packet_rate=20, duration=20, **SMALL)
    alone = stored(Path(loss=0.05, rtt=0.1, **SMALL), Video(packet_rate=20, duration=20))
    late = explore.sweep(explore.grid(target=[1e-2, 1e-4], **given), "stored")
    assert late["required_delay"].tolist() == [alone.required_delay(1e-2), alone.required_delay(1e-4)]
    none = explore.sweep(explore.grid(no_late=[0.5, 0.99], **given), "stored")
    assert none["required_delay"].tolist() == [alone.required_delay(no_late=0.5), alone.required_delay(no_late=0.99)]


def test_round_trip_time_for_a_rate():
    """Section 6.2 varies T/mu by the round trip time as well."""
    points = explore.grid(loss=0.05, packet_rate=20, T_over_mu=[1.5, 3], delay=1, duration=2, **SMALL)
    table = explore.sweep(points, "stored")
    for row in table.itertuples():
        assert throughput(Path(loss=0.05, rtt=row.rtt, **SMALL)) / 20 == pytest.approx(row.T_over_mu, rel=1e-12)


def test_a_stored_point_that_fails_spoils_no_other():
    points = explore.grid(loss=0.05, rtt=[0.1, 3], packet_rate=20, duration=2.5, delay=1, **SMALL)
    table = explore.sweep(points, "stored")
    assert "duration must be at least one round trip time of 3 s" in table["error"][1]
    alone = stored(Path(loss=0.05, rtt=0.1, **SMALL), Video(packet_rate=20, duration=2.5))
    assert (table["error"][0], table["late_fraction"][0]) == ("", alone.late_fraction(1))


def test_a_common_solve_that_fails_in_an_unforeseen_way_leaves_each_point_to_its_own(monkeypatch):
    def fails(_cases):
        raise IndexError("out of bounds")

    monkeypatch.setattr("tcpstream.explore.chunk.stored_many", fails)
    points = explore.grid(
        sender="classic", loss=[0.05, 0.1], rtt=0.1, timeout_ratio=2, max_window=6, packet_rate=5, duration=5, delay=1
    )
    assert (explore.sweep(points, "stored")["error"] == "").all()

"""P(no late packet) of stored media on coarse lattices: paths that are hard on it, against exact answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcpstream import (
    AccuracyError,
    Path,
    Video,
    stored,
    throughput,
)
from tcpstream.answers import coarse_stored
from tcpstream.answers.coarse_stored import CoarseStored


@pytest.mark.long
def test_alpha_holds_its_stated_error_where_few_packets_are_due_in_a_round() -> None:
    """Case 167 of `validation/coarse.py`: five packets a round; leads that lay .3 rounds apart gave 9% at 8 rounds."""
    path = Path(loss=0.00942, rtt=0.0891, rto=0.354, sender="classic", losses="independent")
    video = Video(bitrate=673e3, duration=37.0)
    exact, fine = stored(path, video, accuracy="exact"), stored(path, video, accuracy="fine")
    delays = np.array([0.7517202900623523, 1.2361819398959497, 1.7243459371330716, 2.8253730897494913])
    truth = 1 - exact.no_late_probability(delays)
    off = np.abs(1 - fine.no_late_probability(delays) - truth) / truth
    assert (off <= np.minimum(fine.no_late_error(delays), 0.07)).all()


@pytest.mark.parametrize(
    ("tcp", "most", "error"),
    [
        ("reno", 8, 0.5),
        pytest.param("reno-sack", 8, 0.5, marks=pytest.mark.long),
        pytest.param("reno-sack", 16, 1.2, marks=pytest.mark.long),
    ],
)
def test_lost_first_packets_of_small_windows_are_seen(tcp: str, most: int, error: float) -> None:
    """Losses are rare: what is late is so by those of the first rounds, and windows soon tell nothing of them."""
    path = Path(loss=5e-4, rtt=0.1, rto=0.3, max_window=most, tcp=tcp, sender="classic")
    video = Video(packet_rate=most / 0.2, duration=30)
    exact, fine = stored(path, video, accuracy="exact"), stored(path, video, accuracy="fine")
    delays = np.arange(0.3, 1.0, 0.1)
    late, off = fine.stalled(delays)
    truth = 1 - exact.no_late_probability(delays)
    assert (np.abs(late - truth) <= off).all()
    assert truth[delays < 0.45].min() > 3e-4  # the first packet is lost with 5e-4
    between, stated = fine.stalled(np.arange(0.3, 1.0, 0.03))
    assert np.median(stated / between) < error


@pytest.mark.long
def test_lost_first_packets_are_seen_where_most_paths_get_far_ahead() -> None:
    path = Path(loss=0.0146, rtt=0.0377, rto=0.26, sender="classic", initial_window=10, detection="rack")
    video = Video(packet_rate=40, duration=25)  # a fifth of T
    exact, fine = stored(path, video, accuracy="exact"), stored(path, video, accuracy="fine")
    delays = np.array([0.13, 0.37, 0.5, 0.86, 1.0, 1.5])
    late, off = fine.stalled(delays)
    truth = 1 - exact.no_late_probability(delays)
    assert (np.abs(late - truth) <= off).all()
    assert np.median(off / late) < 0.3


def test_what_does_not_converge_is_solved_exactly_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of three packets: leads diverge on coarse lattices, and alpha, 0 here, came out as 1."""
    path = Path(
        sender="classic", loss=0.016, rtt=0.2, rto=0.4, tcp="reno-sack", bottleneck=15, buffer=0, initial_window=2
    )
    video = Video(packet_rate=10, duration=400)
    assert stored(path, video, accuracy="fine").no_late_probability(2.0) == 0  # the last round is late
    monkeypatch.setattr(CoarseStored, "_ends_late", lambda *_: False)
    assert 0 < stored(path, video, accuracy="fine").no_late_probability(2.0) < 1e-10
    monkeypatch.setattr(coarse_stored, "QUICK", 0.0)
    with pytest.raises(AccuracyError, match=r"does not converge here .* give accuracy=exact"):
        stored(path, video, accuracy="fine").no_late_probability(2.0)


def test_alpha_at_the_shortest_delays_lies_between_bounds_where_an_exact_solve_takes_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.35, tcp="reno-sack", initial_window=10)
    video = Video(packet_rate=30, duration=20)
    delays = [0.0, 0.02, 0.05, 0.1]
    exact = stored(path, video, accuracy="exact").no_late_probability(delays)

    def refused(*_: Any) -> None:
        raise AccuracyError("too much")

    monkeypatch.setattr(coarse_stored, "plan", refused)
    result = stored(path, video, accuracy="fine")
    alpha, late = result.no_late_probability(delays), 1 - exact
    assert np.all((alpha > 0) & (alpha < 1))
    off = (1 - alpha) * result.no_late_error(delays)
    assert np.all(np.abs(alpha - exact) <= off)
    assert np.all(off < 1 - result.no_late_lower_bound(delays))
    found, apart = result.stalled(np.array(delays))
    assert np.all(np.abs(found - late) <= apart)
    assert result.to_pandas().index[0] == 0


@pytest.mark.parametrize(
    ("given", "ratio", "duration", "trips"),
    [
        ({"loss": 0.0064, "rtt": 0.11, "sender": "linux", "tcp": "reno-sack"}, 1.24, 20.0, (10, 16)),
        ({"loss": 0.0146, "rtt": 0.066, "rto": 0.266, "sender": "classic"}, 1.78, 20.0, (6, 13)),
    ],
    ids=["rounds that miss a packet or two", "moves that are wide"],
)
def test_a_lead_of_zero_counts_where_it_lies_between_positions(
    given: dict[str, Any], ratio: float, duration: float, trips: tuple[int, int]
) -> None:
    """1 - alpha was off by 2.8 and 1.6% where that was not counted by what lies between positions."""
    path = Path(**given)
    video = Video(packet_rate=throughput(path) / ratio, duration=duration)
    delays = [trip * path.rtt for trip in trips]
    fine, exact = (stored(path, video, accuracy=accuracy) for accuracy in ("fine", "exact"))
    late, known = (1 - np.asarray(one.no_late_probability(delays)) for one in (fine, exact))
    np.testing.assert_allclose(late, known, rtol=5e-3)


@pytest.mark.parametrize(
    ("given", "due"),
    [({"tcp": "reno-sack", "loss": 0.01}, 6), pytest.param({"loss": 0.03}, 4, marks=pytest.mark.long)],
    ids=["reno-sack", "cubic"],
)
def test_whole_packets_in_a_round_are_told_from_others(given: dict[str, Any], due: int) -> None:
    """Where a round plays a whole number of packets, leads are whole numbers: 1 - alpha was off by 5 to 7%."""
    path = Path(rtt=0.1, rto=0.3, sender="linux", **given)
    video = Video(packet_rate=due / path.rtt, duration=15)
    fine, exact = (stored(path, video, accuracy=accuracy) for accuracy in ("fine", "exact"))
    for trips in (6, 9.02):  # a whole lead, and a little more
        late, known = (1 - one.no_late_probability(trips * path.rtt) for one in (fine, exact))
        assert late == pytest.approx(known, rel=6e-3)


@pytest.mark.long
def test_what_two_resolutions_do_not_show_of_the_lattice_of_leads_is_stated() -> None:
    """Where long steps are off in one direction, and quanta in the other: 2.8% where 2.8% was stated."""
    path = Path(sender="linux", tcp="reno-sack", loss=0.00641, rtt=0.1095)
    video = Video(packet_rate=throughput(path) / 1.24, duration=30.6)
    exact, fine = (stored(path, video, accuracy=one) for one in ("exact", "fine"))
    for rounds in (6, 12, 16, 24):
        tau = rounds * path.rtt
        late = 1 - exact.no_late_probability(tau)
        assert abs(1 - fine.no_late_probability(tau) - late) < 0.7 * fine.no_late_error(tau) * late


def test_a_packet_of_the_first_rounds_is_surely_late() -> None:
    result = stored(Path(sender="classic", loss=1e-4, rtt=0.03, rto=0.23), Video(bitrate=25e6, duration=300))
    assert result.no_late_probability(0.0) == 0
    assert result.no_late_error(0.0) == 0
    assert 0.1 < result.no_late_error(0.05) < 1


@pytest.mark.long
def test_the_error_of_alpha_holds_at_delays_longer_than_the_video() -> None:
    path, video = (
        Path(sender="classic", loss=0.119, rtt=0.165, rto=0.427, tcp="cubic"),
        Video(bitrate=80700, duration=17),
    )
    exact, fine = stored(path, video, accuracy="exact"), stored(path, video, accuracy="fine")
    for delay in (48.4, 80.1):
        late = 1 - exact.no_late_probability(delay)
        assert abs(1 - fine.no_late_probability(delay) - late) <= fine.no_late_error(delay) * late < late / 4


def test_a_round_trip_may_be_enough_where_an_exact_solve_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    path, video = Path(sender="classic", loss=0.005, rtt=0.1, tcp="reno-sack"), Video(packet_rate=40, duration=60)
    known = stored(path, video, accuracy="exact").required_delay(no_late=0.9)
    found = stored(path, video, accuracy="fine")
    assert isinstance(found, CoarseStored)

    monkeypatch.setattr("tcpstream.answers.coarse_stored.QUICK", 0.0)
    monkeypatch.setattr(found, "_exact", None)
    monkeypatch.setattr(found, "_exact_rounds", 1.0)
    tau = found.required_delay(no_late=0.9)
    assert known <= tau < 3 * path.rtt
    assert found.stalled_at_worst(tau) <= 0.1


def test_a_short_video_far_below_what_the_path_carries_has_moves_wider_than_all_leads():
    """A window of hundreds of packets, leads of a few of its rounds: hardly anything is late."""
    path = Path(loss=1e-3, rtt=0.05, tcp="reno-sack")
    video = Video(packet_rate=throughput(path) / 6, duration=8)
    exact, fine = (stored(path, video, accuracy=accuracy).no_late_probability(0.25) for accuracy in ("exact", "fine"))
    assert 0 < 1 - exact < 1e-6
    assert fine == pytest.approx(exact, abs=1e-6)

"""Live streams on coarse lattices, against exact answers: the stated errors hold."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tcpstream import AccuracyError, InputError, NoFiniteDelayError, Path, Video, live, live_many
from tcpstream.answers.coarse_live import CoarseLive
from tcpstream.answers.live import EndlessLive
from tcpstream.answers.plan import is_coarse_live
from tcpstream.coarse.resolution import FINE_BACKLOG

ROUNDS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0])

CASES: dict[str, tuple[dict[str, Any], float]] = {
    "reno": ({"loss": 0.01}, 6.0),
    "reno, classic": ({"loss": 0.02, "sender": "classic"}, 4.0),
    "reno, delayed ACKs": ({"loss": 0.02, "sender": "classic", "rounds_per_increase": 2}, 3.0),
    "reno-sack, RACK": ({"loss": 0.005, "tcp": "reno-sack", "initial_window": 10, "detection": "rack"}, 11.0),
    "reno-sack, what is due is sent": (
        {"loss": 0.014, "tcp": "reno-sack", "initial_window": 10, "detection": "rack", "max_window": 20},
        3.0,
    ),
    "reno-sack, windows up to 300": ({"loss": 0.04, "tcp": "reno-sack", "sender": "linux", "max_window": 300}, 3.0),
    "cubic": ({"loss": 0.04, "tcp": "cubic", "initial_window": 4, "max_window": 9}, 3.0),
    "long timer": ({"loss": 0.02, "timeout_ratio": 40.0}, 1.5),
    "near capacity": ({"loss": 0.02}, 5.0),
    "cubic, few packets a round": (
        {"loss": 0.01923, "sender": "linux", "timeout_ratio": 3.25, "max_window": 12},
        4.0,
    ),
}

STEPS = ("reno", "cubic, few packets a round")
"""Cases for steps of two rounds; of the second, where most is late within steps, f is a tenth too low."""


LONG = ("reno-sack, RACK", "reno-sack, windows up to 300", "long timer")


def chosen(name: str, *given: str) -> Any:
    """Return a case as parameters."""
    return pytest.param(name, *given, marks=[pytest.mark.long] * (name in LONG))


def case(name: str) -> tuple[Path, Video]:
    """Return the path and the endless stream of a case, with so many packets per round."""
    given, due = CASES[name]
    given = {"timeout_ratio": 3.5} | given
    return Path(rtt=0.1, **({"sender": "classic"} | given)), Video(packet_rate=due / 0.1)


@pytest.mark.parametrize(
    ("name", "accuracy"), [chosen(name, "fine") for name in CASES] + [(name, "fast") for name in STEPS]
)
def test_the_stated_errors_hold(name: str, accuracy: str) -> None:
    path, video = case(name)
    exact, coarse = live(path, video, accuracy="exact"), live(path, video, accuracy=accuracy)
    assert isinstance(exact, EndlessLive)
    assert isinstance(coarse, CoarseLive)
    rounds = ROUNDS[exact.late_fraction(ROUNDS * path.rtt) > 1e-8]
    delays = rounds * path.rtt
    assert len(delays) > 4
    f, got, stated = exact.late_fraction(delays), coarse.late_fraction(delays), coarse.relative_error(delays)
    assert (np.abs(got - f) <= (stated + exact.lattice_error(delays)) * f).all()
    if accuracy == "fine":
        assert (stated[rounds >= 1] < 0.05).all()
        assert (np.abs(got - f)[rounds >= 1] < 0.01 * f[rounds >= 1]).all()


@pytest.mark.long
@pytest.mark.parametrize("due", [8.0, 8.5])
def test_timeouts_and_several_losses_decide_where_tcp_is_fast(due: float) -> None:
    """At T/mu above 3 what is late follows several losses: exact where the lattice has single packets."""
    path = Path(
        sender="classic", loss=0.002, rtt=0.025, rto=0.247, tcp="reno-sack", initial_window=10, detection="rack",
        max_window=48,
    )  # fmt: skip
    video, delays = Video(packet_rate=due / path.rtt), np.array([1.5, 2.0, 4.0, 8.0, 12.0]) * path.rtt
    exact, fine = live(path, video, accuracy="exact"), live(path, video, accuracy="fine")
    assert exact.lattice_error(delays).max() == 0
    np.testing.assert_allclose(fine.late_fraction(delays), exact.late_fraction(delays), rtol=3e-3)


def test_packets_are_whole_quanta_where_they_can_be() -> None:
    for due, quanta in ((8.0, 64), (8.5, 68), (20.25, 81), (8.37, 64), (100.0, 100)):
        assert FINE_BACKLOG.quantum(due) == pytest.approx(due / quanta, rel=1e-12)
    assert 0.05 / FINE_BACKLOG.quantum(0.05) == pytest.approx(4)


def test_required_delay() -> None:
    path, video = case("reno")
    exact, fine = live(path, video, accuracy="exact"), live(path, video, accuracy="fine")
    for target in (1e-2, 1e-6):
        assert fine.required_delay(target) == pytest.approx(exact.required_delay(target), rel=0.02)


@pytest.mark.parametrize("name", [chosen("reno"), chosen("reno-sack, RACK")])
def test_a_stream_of_finite_length(name: str) -> None:
    path, video = case(name)
    video = Video(packet_rate=video.packet_rate, duration=30)
    exact, fine = live(path, video, accuracy="exact"), live(path, video, accuracy="fine")
    delays = np.array([0.05, 0.2, 0.5, 1.0, 2.0])
    f, stated = exact.late_fraction(delays), fine.relative_error(delays) + exact.relative_error(delays)
    assert (np.abs(fine.late_fraction(delays) - f) <= stated * f).all()
    endless = live(path, Video(packet_rate=video.packet_rate), accuracy="fine").late_fraction(delays)
    wrong = fine.late_fraction(delays) / f - 1
    assert (np.abs(endless / f - 1) > 2 * np.abs(wrong))[1:].all()  # its start does matter
    exact = live(path, Video(packet_rate=video.packet_rate), accuracy="exact")
    np.testing.assert_allclose(wrong, endless / exact.late_fraction(delays) - 1, atol=2e-3)  # and is right


def test_a_day() -> None:
    path = Path(sender="classic", loss=0.002, rtt=0.08, rto=0.28)
    day, endless = (live(path, Video(bitrate=2e6, duration=length)) for length in (86400.0, None))
    assert isinstance(day, CoarseLive)
    assert isinstance(endless, CoarseLive)
    assert day.late_fraction(5) == pytest.approx(float(endless.late_fraction(5)), rel=1e-3)


def test_a_stream_too_short_for_its_long_run() -> None:
    path = Path(loss=0.01, rtt=0.1, rto=0.3, sender="classic")
    video = Video(bitrate=1e6, duration=120)
    with pytest.raises(AccuracyError, match=r"too short to come near its long run .* give accuracy=exact"):
        live(path, video, accuracy="fine").late_fraction(6.4)


def test_what_is_coarse() -> None:
    assert not is_coarse_live(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3), Video(packet_rate=25), None)
    fast = Path(sender="classic", loss=1e-5, rtt=0.02, rto=0.22, tcp="reno-sack"), Video(bitrate=80e6)
    assert is_coarse_live(*fast, None)
    assert not is_coarse_live(*fast, "exact")
    assert is_coarse_live(*case("reno"), "fine")


def test_a_stream_without_end_whose_rate_fits_no_lattice_is_coarse() -> None:
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    assert is_coarse_live(path, Video(packet_rate=20.5), None)
    assert not is_coarse_live(path, Video(packet_rate=20.5), "exact")
    assert not is_coarse_live(path, Video(packet_rate=20.5, duration=5), None)
    delays = [live(path, Video(packet_rate=rate)).required_delay(1e-3) for rate in (20, 20.5, 21, 21.5)]
    assert delays == sorted(delays)  # neighbours made those of 20.5 and 21.5 longer than the next


@pytest.mark.parametrize(
    ("loss", "window", "packets_due", "timeout_ratio"),
    [(0.0275, 4, 1.0, 1), (0.095, 8, 0.5, 1), (0.08, 19, 1 / 3, 1.1)],
)
def test_few_packets_a_round_are_within_what_is_stated(
    loss: float, window: int, packets_due: float, timeout_ratio: float
) -> None:
    """Up to 9% off at less than a round trip, 4% at one of one packet, 1.4% where f is 1e-6."""
    path = Path(sender="classic", loss=loss, rtt=0.3, timeout_ratio=timeout_ratio, max_window=window)
    exact, ours = (live(path, Video(packet_rate=packets_due / 0.3), accuracy=one) for one in ("exact", "fine"))
    delays = [0.09, 0.3, 0.5, *(exact.required_delay(target) for target in (1e-2, 1e-4, 1e-6))]
    f, error = ours.late_fraction(delays), ours.relative_error(delays)
    assert np.all(np.abs(f - exact.late_fraction(delays)) <= error * f)
    assert np.max(error) < 0.15


def test_what_was_not_answered() -> None:
    result = live(Path(sender="classic", loss=1e-3, rtt=1e-3, rto=0.2), Video(bitrate=50e6))
    assert isinstance(result, CoarseLive)
    assert 0.5 < result.required_delay() < 1.0  # about four timers: 200, 400 ms
    assert result.relative_error(result.required_delay()) < 0.05


def test_values() -> None:
    cases = [case("reno"), case("reno, classic")]
    first, second = live_many(cases, accuracy="fast")
    delays = np.array([0.2, 1.0])
    expected = first.late_fraction(delays)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).late_fraction(delays), expected)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(first.late_fraction, [delays] * 8):
            np.testing.assert_array_equal(found, expected)
    assert second.late_fraction(0.2) != expected[0]
    twice = Path(sender="classic", rtt=0.2, loss=0.01, timeout_ratio=3.5)  # the same in rounds
    many = live_many([cases[0], (twice, Video(packet_rate=30.0))], accuracy="fast")
    np.testing.assert_array_equal(many[1].late_fraction(2 * delays), many[0].late_fraction(delays))


def test_json_has_no_infinity() -> None:
    path, video = case("reno-sack, RACK")
    found = live(path, video, accuracy="fast").to_dict([1.0, 50.0])
    assert found["lattice_error"][0] < 1
    assert found["lattice_error"][1] is None
    json.dumps(found, allow_nan=False)


def test_refusals() -> None:
    path, video = case("reno")
    with pytest.raises(InputError, match="accuracy must be one of exact, fine, fast"):
        live(path, video, accuracy="best")
    with pytest.raises(NoFiniteDelayError):
        live(path, Video(packet_rate=1000), accuracy="fine")


@pytest.mark.parametrize("accuracy", [None, "fine"])
def test_hours_with_less_than_is_generated_are_refused(accuracy: str | None) -> None:
    path = Path(sender="classic", loss=0.0473, rtt=2.74e-3, rto=0.293, tcp="cubic")
    with pytest.raises(AccuracyError, match=r"10800 s at T/mu 0\.86 has an exact answer only, .* CPU minutes"):
        live(path, Video(bitrate=9.32e6, duration=10800), accuracy=accuracy)


def test_a_short_stream_with_less_than_is_generated_is_exact() -> None:
    path = Path(sender="classic", loss=0.136, rtt=0.181, rto=0.401, initial_window=10, detection="rack", max_window=24)
    assert live(path, Video(packet_rate=1.5 / path.rtt, duration=4), accuracy="fine").late_fraction(1.0) > 0.1

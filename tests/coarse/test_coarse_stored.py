"""Stored media on coarse lattices, against exact answers: the stated errors hold."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest

from tcpstream import (
    InputError,
    Path,
    TimeLimitError,
    Video,
    stored,
    stored_many,
    time_limit,
)
from tcpstream.answers import coarse_stored
from tcpstream.answers.coarse_stored import CoarseStored
from tcpstream.answers.plan import is_coarse
from tcpstream.answers.stored_streaming import StoredStreaming
from tcpstream.tcp import chain_of

DELAYS = np.array([0.3, 1.0, 2.0, 4.0, 8.0])

CASES: dict[str, tuple[dict[str, Any], float, float]] = {
    "reno": ({"loss": 0.02, "sender": "classic"}, 1.3, 20.0),
    "reno, delayed ACKs": ({"loss": 0.02, "sender": "classic", "rounds_per_increase": 2}, 1.2, 20.0),
    "reno-sack": ({"loss": 0.02, "tcp": "reno-sack"}, 1.2, 14.0),
    "reno-sack, slow start": ({"loss": 0.008, "tcp": "reno-sack", "initial_window": 10}, 1.2, 30.0),
    "cubic, RACK": ({"loss": 0.03, "sender": "linux", "max_window": 20}, 1.1, 6.0),
    "more than TCP delivers": ({"loss": 0.01, "sender": "classic"}, 0.9, 20.0),
    "large windows": ({"loss": 0.002, "sender": "classic"}, 1.1, 8.0),
}


LONG = ("reno-sack, slow start",)


def chosen(name: str) -> Any:
    """Return a case as a parameter."""
    return pytest.param(name, marks=[pytest.mark.long] * (name in LONG))


def case(name: str) -> tuple[Path, Video]:
    """Return the path and the video of a case, which plays at T over its ratio."""
    given, ratio, duration = CASES[name]
    path = Path(rtt=0.1, rto=0.35, **({"sender": "classic"} | given))
    return path, Video(packet_rate=chain_of(path).packets_per_round / path.rtt / ratio, duration=duration)


@cache
def exactly(name: str) -> StoredStreaming:
    """Return the exact answer to a case, which several tests compare with."""
    return stored(*case(name), accuracy="exact")


@cache
def finely(name: str) -> StoredStreaming:
    """Return the fine answer to a case."""
    return stored(*case(name), accuracy="fine")


@pytest.mark.parametrize("name", [*map(chosen, CASES)])
def test_the_stated_errors_hold(name: str) -> None:
    exact, fine = exactly(name), finely(name)
    assert isinstance(fine, CoarseStored)
    assert exact.quantum == 1
    assert fine.quantum > 1
    for known, found, error in (
        (exact.late_fraction, fine.late_fraction, fine.relative_error),
        (
            lambda tau: 1 - exact.no_late_probability(tau),
            lambda tau: 1 - fine.no_late_probability(tau),
            fine.no_late_error,
        ),
    ):
        f = np.asarray(known(DELAYS))
        seen = f > 1e-8
        assert seen.any()
        delays, f = DELAYS[seen], f[seen]
        stated = np.asarray(error(delays))
        assert (np.abs(found(delays) - f) <= stated * f).all()
        assert (stated[f > 1e-6] < 0.1).all()


def test_required_delays() -> None:
    exact, fine = exactly("reno-sack"), finely("reno-sack")
    for target in (1e-2, 1e-4, 1e-6):
        assert fine.required_delay(target) == pytest.approx(exact.required_delay(target), rel=0.005)
    delay = exact.required_delay(no_late=0.99)
    assert delay <= fine.required_delay(no_late=0.99) <= 1.02 * delay  # met with the stated error on top


def test_rounds_and_quantiles() -> None:
    exact, fine = exactly("reno"), finely("reno")
    a, b = exact.late_probability_per_round(2.0), fine.late_probability_per_round(2.0)
    assert len(a) == len(b)
    assert np.abs(a - b).max() < 0.02 * a.max()
    (times, expected), (same, found) = exact.buffer_quantiles(2.0), fine.buffer_quantiles(2.0)
    np.testing.assert_array_equal(times, same)
    assert np.abs(found - expected).max() <= 2 + 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("name", [*map(chosen, ("reno", "reno-sack", "reno-sack, slow start", "cubic, RACK"))])
def test_alpha_is_exact_at_the_shortest_delays(name: str) -> None:
    exact, fine = exactly(name), finely(name)
    assert isinstance(fine, CoarseStored)
    for tau in (0.0, 0.07, 0.3):
        assert fine.no_late_probability(tau) == pytest.approx(exact.no_late_probability(tau), abs=1e-12)
        assert fine.no_late_error(tau) == 0
        assert fine.relative_error(tau) < 0.1
    alpha = float(exact.no_late_probability(0.3))
    assert fine.required_delay(no_late=alpha) == pytest.approx(exact.required_delay(no_late=alpha), abs=1e-9)


@pytest.mark.parametrize(
    "name", [*map(chosen, ("reno", "reno-sack", "reno-sack, slow start", "cubic, RACK", "large windows"))]
)
def test_the_error_of_alpha_after_a_round_trip_holds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse_stored, "QUICK", 0.0)  # as where an exact solve takes long
    path, video = case(name)
    exact, fine = exactly(name), stored(path, video, accuracy="fine")
    delays = path.rtt * np.array([1.01, 1.5, 1.99, 2.5, 2.99])
    late, found, stated = (
        1 - exact.no_late_probability(delays),
        1 - fine.no_late_probability(delays),
        fine.no_late_error(delays),
    )
    assert (stated > 0).all()
    assert (np.abs(found - late) <= stated * late).all()


def test_faster_is_within_its_own_error() -> None:
    path, video = case("large windows")
    exact, fast = exactly("large windows"), stored(path, video, accuracy="fast")
    delays = DELAYS[exact.late_fraction(DELAYS) > 1e-8]
    f = exact.late_fraction(delays)
    assert (np.abs(fast.late_fraction(delays) - f) <= fast.relative_error(delays) * f).all()


def test_a_short_exact_solve_stays_exact() -> None:
    path, video = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3), Video(packet_rate=25, duration=60)
    result = stored(path, video)
    assert not isinstance(result, CoarseStored)
    assert result.relative_error(1.0) == 0
    assert not is_coarse([(path, video)], None, None)


def test_what_was_refused_is_answered() -> None:
    path = Path(sender="classic", loss=1e-3, rtt=0.05, rto=0.25)
    result = stored(path, Video(bitrate=7e6, duration=3 * 3600))
    assert 0 < result.required_delay() < 10
    assert result.relative_error(result.required_delay()) < 0.02


def test_a_copy_answers_the_same_whatever_was_asked_before() -> None:
    path, video = case("reno-sack")
    one = stored(path, video, accuracy="fine")
    other = pickle.loads(pickle.dumps(one))
    one.no_late_probability([0.5, 6.0])
    one.late_fraction(7.0)
    for answer in ("late_fraction", "no_late_probability", "relative_error"):
        np.testing.assert_array_equal(getattr(one, answer)(DELAYS[1:3]), getattr(other, answer)(DELAYS[1:3]))


def test_threads_get_the_same() -> None:
    path, video = case("reno")
    alone = stored(path, video, accuracy="fine").late_fraction(DELAYS)
    shared = stored(path, video, accuracy="fine")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(shared.late_fraction, [float(tau) for tau in DELAYS[::-1]]))
    np.testing.assert_array_equal(found[::-1], alone)


def test_a_time_limit_leaves_the_answers_unharmed() -> None:
    path, video = case("large windows")
    whole, stopped = stored(path, video, accuracy="fine"), stored(path, video, accuracy="fine")
    with pytest.raises(TimeLimitError), time_limit(1e-3):
        stopped.no_late_probability(4.0)
    assert stopped.no_late_probability(4.0) == whole.no_late_probability(4.0)


def test_many_rates_share_one_law() -> None:
    path, video = case("reno")
    cases = [(path, Video(packet_rate=rate, duration=40)) for rate in (video.packet_rate, 0.8 * video.packet_rate)]
    together = stored_many(cases, accuracy="fine")
    assert together[0]._arrivals.coarser() is together[1]._arrivals.coarser()
    for (one, film), result in zip(cases, together):
        assert result.late_fraction(2.0) == pytest.approx(
            stored(one, film, accuracy="fine").late_fraction(2.0), rel=1e-3
        )


def test_bad_accuracy_is_named() -> None:
    path, video = case("reno")
    with pytest.raises(InputError, match="accuracy must be"):
        stored(path, video, accuracy="good")
    with pytest.raises(InputError, match="not both"):
        stored(path, video, accuracy="fine", quantum=4)

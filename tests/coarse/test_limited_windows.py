"""Paths whose largest window limits TCP: little is random there, and few losses decide."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tcpstream import AccuracyError, Path, Video, stored
from tcpstream.answers import coarse_stored, plan
from tcpstream.answers.coarse_stored import CoarseStored
from tcpstream.answers.stored_streaming import StoredStreaming
from tcpstream.coarse.resolution import Scale
from tcpstream.tcp import chain_of

CASES: dict[str, tuple[dict[str, Any], Video, tuple[float, ...]]] = {
    "as fast as the video": (
        {"loss": 1.7e-4, "rtt": 0.14, "max_window": 24, "tcp": "reno", "losses": "bursts"},
        Video(packet_rate=166, duration=120),
        (0.5, 0.6, 1.6),
    ),
    "slower": ({"loss": 1.1e-5, "rtt": 0.05, "max_window": 6}, Video(packet_rate=126, duration=40), (2.0, 2.9, 3.1)),
    "faster": ({"loss": 7e-4, "rtt": 0.14, "max_window": 7}, Video(packet_rate=45, duration=30), (0.0, 0.5, 2.0)),
    "a bottleneck": (
        {"loss": 3.3e-4, "rtt": 0.05, "tcp": "reno-sack", "bottleneck": 100, "buffer": 5},
        Video(packet_rate=111, duration=120),
        (1.0, 8.0),
    ),
}


@pytest.fixture
def never_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take coarse lattices however quick an exact solve is."""
    monkeypatch.setattr(plan, "QUICK", 0.0)


@cache
def solved(name: str) -> tuple[StoredStreaming, StoredStreaming]:
    """Return the fine and the exact answer to a case."""
    given, video, _ = CASES[name]
    fine, exact = (stored(Path(**given), video, accuracy=one) for one in ("fine", "exact"))
    return fine, exact


@pytest.mark.usefixtures("never_exact")
@pytest.mark.parametrize("name", [*list(CASES)[:3], pytest.param("a bottleneck", marks=pytest.mark.long)])
def test_the_stated_errors_hold(name: str) -> None:
    delays = CASES[name][2]
    fine, exact = solved(name)
    assert isinstance(fine, CoarseStored)
    for tau in delays:
        f, known = fine.late_fraction(tau), exact.late_fraction(tau)
        assert abs(f - known) <= fine.relative_error(tau) * f + 1e-11
    risks, off = fine.stalled(np.array(delays))
    known = 1 - exact.no_late_probability(np.array(delays))
    assert (np.abs(risks - known) <= off).all()
    assert off[-1] < 1 or name == "a bottleneck"


@pytest.mark.usefixtures("never_exact")
def test_late_fractions_are_near() -> None:
    fine, exact = solved("as fast as the video")
    delays = np.linspace(0.2, 2, 10)
    assert fine.late_fraction(delays) == pytest.approx(exact.late_fraction(delays), rel=0.01)


@pytest.mark.usefixtures("never_exact")
def test_a_stricter_target_needs_a_longer_delay() -> None:
    path = Path(loss=2e-4, rtt=0.14, max_window=3, tcp="reno-sack")
    answer = stored(path, Video(packet_rate=28, duration=60), accuracy="fine")
    delays = [answer.required_delay(target) for target in (1e-1, 1e-2, 1e-4)]
    assert delays == sorted(delays)
    risks = 1 - answer.no_late_probability(np.linspace(delays[0], delays[-1] + 2, 8))
    assert (np.diff(risks) <= 1e-12).all()


def test_quick_exact_answers_are_taken_for_fine_ones() -> None:
    path, video = Path(loss=1e-4, rtt=0.1, max_window=4), Video(packet_rate=40, duration=30)
    fine, exact = (stored(path, video, accuracy=one) for one in ("fine", "exact"))
    assert not isinstance(fine, CoarseStored)
    assert fine.late_fraction(0.5) == exact.late_fraction(0.5)


def test_windows_limited_by_losses_have_the_units_of_losses() -> None:
    """The variance of a sawtooth is that of its packets; W_max = 2172 is not reached at p = 0.001."""
    scale = Scale.of(chain_of(Path(loss=1e-3, rtt=0.05)))
    assert not scale.limited
    assert (scale.wide, scale.missing, scale.recovered) == (scale.packets, scale.packets, scale.rounds)
    scale = Scale.of(chain_of(Path(loss=1e-5, rtt=0.05, max_window=170)))
    assert scale.limited
    assert scale.recovered < scale.rounds / 5


@pytest.mark.usefixtures("never_exact")
def test_where_lattices_do_not_converge_an_exact_solve_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    given, video, _ = CASES["slower"]
    fine, exact = (stored(Path(**given), video, accuracy=one) for one in ("fine", "exact"))
    assert isinstance(fine, CoarseStored)
    monkeypatch.setattr(fine, "_exact_rounds", 1.0)  # or lattices would not be asked

    def fails(*_: object) -> None:
        raise AccuracyError("does not converge")

    monkeypatch.setattr(fine._coarser, "never_late", fails)
    delays = np.array([2.0, 2.9])
    late, off = fine.stalled(delays)
    np.testing.assert_allclose(1 - late, exact.no_late_probability(delays), rtol=1e-12)
    assert (off < 1e-6).all()
    other = stored(Path(**given), video, accuracy="fine")
    assert isinstance(other, CoarseStored)
    monkeypatch.setattr(other, "_exact_rounds", 1.0)
    monkeypatch.setattr(other._coarser, "never_late", fails)
    monkeypatch.setattr(coarse_stored, "QUICK", 0.0)
    with pytest.raises(AccuracyError, match="does not converge"):
        other.stalled(delays)

"""Live streams of application-limited senders, against drawn ones; and what is refused."""

from __future__ import annotations

import math
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from twins.limited_sessions import late_fractions

from tcpstream import InputError, LimitedLive, NoFiniteDelayError, Path, Video, live, throughput
from tcpstream.limited.rules import rules
from tcpstream.tcp import chain_of
from tcpstream.tcp.window_chain import WindowChain

CASES: dict[str, tuple[dict[str, Any], float]] = {
    "reno": ({"loss": 0.02, "tcp": "reno", "rtt": 0.1, "rto": 0.3, "max_window": 18}, 2.0),
    "reno, slow start": ({"loss": 0.01, "rtt": 0.05, "rto": 0.25, "initial_window": 4, "max_window": 40}, 1.3),
    "reno-sack": ({"loss": 0.02, "tcp": "reno-sack", "rtt": 0.1, "rto": 0.3, "max_window": 16}, 1.4),
    "reno-sack, RACK": (
        {"loss": 0.005, "tcp": "reno-sack", "rtt": 0.04, "rto": 0.24, "initial_window": 10, "detection": "rack",
         "max_window": 60}, 1.6,
    ),
    "cubic, RACK": (
        {"loss": 0.03, "tcp": "cubic", "rtt": 0.1, "rto": 0.3, "initial_window": 2, "detection": "rack",
         "max_window": 14}, 1.3,
    ),
}  # fmt: skip

ROUNDS = np.array([0.3, 0.7, 1.0, 2.0, 4.0, 8.0, 16.0])


def case(name: str) -> tuple[Path, Video]:
    given, ratio = CASES[name]
    path = Path(**({"sender": "classic"} | given))
    return path, Video(packet_rate=throughput(path) / ratio)


SLOW = ("reno, slow start", "cubic, RACK")


@cache
def limited(name: str) -> LimitedLive:
    found = live(*case(name), growth="limited")
    assert isinstance(found, LimitedLive)
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in CASES], ids=list(CASES)
)
def test_late_fractions_are_those_of_drawn_streams(name: str) -> None:
    path, video = case(name)
    found, chain = limited(name), chain_of(path)
    assert isinstance(chain, WindowChain)
    due = video.packet_rate * path.rtt
    known = rules(chain, due, path.initial_window or 10)
    timer, rack = math.ceil(path.timeout_ratio), path.detection == "rack"
    rng = np.random.default_rng(20)
    drawn, error = late_fractions(chain, known, due, timer, rack, ROUNDS, 200_000, rng)
    f = found.late_fraction(ROUNDS * path.rtt)
    seen = error < 0.2 * drawn
    assert seen.sum() >= 5
    off = np.abs(f - drawn) / (4 * error + found.lattice_error(ROUNDS * path.rtt) * f)
    assert (off[seen] < 1).all(), np.column_stack([f, drawn, error])


def test_unused_windows_make_streams_later() -> None:
    """Windows that grow on while nothing waits hide most losses."""
    path, video = case("reno-sack, RACK")
    delays = np.array([2.0, 4.0, 8.0]) * path.rtt
    other = live(path, video)
    assert (limited("reno-sack, RACK").late_fraction(delays) > 1.5 * other.late_fraction(delays)).all()


def test_an_unused_window_falls_to_the_mean_of_itself_and_what_was_used() -> None:
    chain = chain_of(case("reno")[0])
    known = rules(chain, 5.2, 10)
    for state in np.flatnonzero(known.stays).tolist():
        window, less = known.windows[state], known.windows[known.falls_to[state]]
        assert less == (math.ceil((window + 10) / 2) if window > 10 else window)
    less = known.falls_to[np.flatnonzero(known.windows == 18)[-1]]
    assert rules(chain, 15.5, 10).windows[rules(chain, 15.5, 10).falls_to[less]] in (18, known.windows[less])


def test_answers_pickle_and_say_how_near_they_are() -> None:
    found = limited("reno")
    again = pickle.loads(pickle.dumps(found))
    tau = found.required_delay(1e-3)
    assert again.late_fraction(tau) == found.late_fraction(tau)
    assert 0 < found.lattice_error(tau) < 0.1
    assert found.late_fraction(tau) * (1 + found.lattice_error(tau)) == pytest.approx(1e-3, rel=1e-3)
    assert found.error_bound < 1e-5


@pytest.mark.parametrize(
    ("path", "video", "how", "message"),
    [
        ({}, {"duration": 60.0}, {}, "growth = limited is solved for live streams without end"),
        ({"tcp": "reno-sack", "bottleneck": 500.0, "buffer": 20}, {}, {}, "not solved behind a bottleneck"),
        ({}, {}, {"accuracy": "exact"}, "accuracy must be fine or fast, got exact"),
        ({}, {}, {"growth": "none"}, "growth must be one of unlimited, limited, got 'none'"),
    ],
)
def test_what_is_refused(path: dict[str, Any], video: dict[str, Any], how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        live(
            Path(loss=0.02, rtt=0.1, **({"sender": "classic"} | path)),
            Video(packet_rate=20.0, **video),
            **({"growth": "limited"} | how),
        )


def test_more_than_tcp_delivers_is_refused() -> None:
    with pytest.raises(NoFiniteDelayError):
        live(Path(sender="classic", loss=0.02, rtt=0.1), Video(packet_rate=100.0), growth="limited")

"""Modes along a vertical line."""

import numpy as np
import pytest

from tcpstream import AccuracyError, Path
from tcpstream.coarse import along as module
from tcpstream.coarse.along import along
from tcpstream.coarse.modes import Modes
from tcpstream.coarse.resolution import FINE, coarser
from tcpstream.coarse.steps import Steps
from tcpstream.tcp import chain_of

PATHS = {
    "classic": Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3, max_window=30),
    "long waits": Path(sender="classic", loss=0.05, rtt=0.05, rto=0.3, max_window=20),
    "CUBIC": Path(loss=0.02, rtt=0.05),
}


@pytest.mark.parametrize("name", PATHS)
def test_modes_between_others_are_those_solved_for_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transform to 1e-5 of its largest value."""
    modes = Modes(Steps.of(chain_of(PATHS[name]), 2))
    begin, end = 700.0, 2800.0
    spread = np.sqrt(modes.variance * end / modes.rounds) + modes.longest
    monkeypatch.setattr(module, "OFF", 1e-3)  # so that some are not solved for
    line = along(modes, 3 / spread, 2 * np.pi / (12 * spread), begin, 1e-12)
    assert len(line.theta) > 20
    near, largest = None, 0.0
    for theta, value, factor in zip(line.theta.tolist(), line.value, line.factor):
        near = modes.at(theta, complex(value), near)
        told, solved = (c * v ** (begin / modes.rounds) for c, v in ((factor, value), (near.factor, near.value)))
        largest = max(largest, abs(solved))
        assert abs(told - solved) < 1e-5 * largest
    assert near is not None


def test_a_line_that_is_smooth_is_not_solved_for_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = Modes(Steps.of(chain_of(PATHS["classic"]), 2))
    solved, at = [], modes.at
    monkeypatch.setattr(modes, "at", lambda theta, *more: solved.append(theta) or at(theta, *more))
    monkeypatch.setattr(module, "OFF", 1e-3)
    spread = np.sqrt(modes.variance * 1400) + modes.longest
    line = along(modes, 3 / spread, 2 * np.pi / (12 * spread), 700.0, 1e-12)
    assert len(solved) < 0.7 * len(line.theta)


def test_a_line_where_a_normal_distribution_says_nothing_is_refused() -> None:
    modes = Modes(Steps.of(chain_of(PATHS["classic"]), 2))
    tilt = -np.sqrt(2000 / modes.variance)
    with pytest.raises(AccuracyError, match="far from a normal one"):
        along(modes, tilt, abs(tilt), 700.0, 1e-12)


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        (Path(loss=0.001, rtt=0.05), (2, 3)),  # CUBIC, 25 rounds a loss
        (Path(loss=0.0005, rtt=0.1, losses="bursts"), (4, 6)),  # a line of windows
        (Path(loss=0.02, rtt=0.1, sender="classic", rto=0.3), (1, 2)),  # few states: parts of the time between losses
    ],
)
def test_steps_are_short_where_states_are_many(path: Path, steps: tuple[int, int]) -> None:
    chain = chain_of(path)
    rounds = chain.packets_between_losses / chain.packets_per_round
    assert tuple(one.step(rounds, chain) for one in (FINE, coarser(FINE))) == steps

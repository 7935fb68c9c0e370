"""Players that resume with less than a round of playback: they may stall again before the next round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tcpstream
from tcpstream import Path, Player, Video
from tcpstream.answers import two_finenesses
from tcpstream.answers.two_finenesses import COUNTS
from tcpstream.kernels.buffer_state import Measures
from tcpstream.playout.measures import measures

Floats = NDArray[np.float64]

PATH = Path(loss=0.05, rtt=0.1, rto=0.3, max_window=16)
VIDEO = Video(packet_rate=25, duration=60)


def test_no_probability_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """E[f^S] is 1 for f = 1."""

    def with_ones(counts: int, factors: Floats, quanta: int, longest: int) -> Measures:
        return measures(counts, np.ones_like(factors), quanta, longest)

    monkeypatch.setattr(two_finenesses, "measures", with_ones)
    solver: Any = tcpstream.play(PATH, VIDEO, Player(start_buffer=1.0, resume_buffer=0.0))
    seen = solver._solver._pass(solver._solver._fine, [1.0], 60, 1).seen
    np.testing.assert_allclose(seen[..., COUNTS + 2 :], 1.0, atol=1e-9)


def test_ratio_is_that_of_drawn_sessions() -> None:
    found: Any = tcpstream.play(PATH, VIDEO, Player(start_buffer=1.0, resume_buffer=0.0))
    ratio = found.sessions(4000, np.random.default_rng(5)).rebuffering_ratio
    told = found.to_dict()
    allowed = 4 * float(ratio.std()) / len(ratio) ** 0.5 + told["error_bound"]["rebuffering_ratio"]
    assert told["rebuffering_ratio"] == pytest.approx(float(ratio.mean()), abs=allowed)

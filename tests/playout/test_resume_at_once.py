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

PATH = Path(
    sender="classic",
    loss=0.1,
    rtt=0.03,
    rto=0.23,
    max_window=12,
    tcp="reno-sack",
    losses="independent",
    initial_window=3,
)
VIDEO = Video(packet_rate=2.5 / 0.03, duration=1.5)


def test_no_probability_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """E[f^S] is 1 for f = 1."""

    def with_ones(counts: int, factors: Floats, quanta: int, longest: int) -> Measures:
        return measures(counts, np.ones_like(factors), quanta, longest)

    monkeypatch.setattr(two_finenesses, "measures", with_ones)
    solver: Any = tcpstream.play(PATH, VIDEO, Player(start_buffer=0.04, resume_buffer=0.0))
    seen = solver._solver._pass(solver._solver._fine, [0.04], 0.0, 60, 1).seen
    np.testing.assert_allclose(seen[..., COUNTS + 2 :], 1.0, atol=1e-9)

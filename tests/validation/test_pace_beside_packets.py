"""A server that paces, by packets: what it delivers where nothing is lost, and how near `play` is."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pytest

from pace_beside_packets import DURATION, PACES, RATE, RESULTS, WORLD, R, delivered, table
from tcpstream.system.log import read

ROWS = {(row["pace"], row["burst"]): row for row in read(RESULTS)}


@pytest.mark.parametrize(("pace", "burst"), [(1.25, 0.0), (1.1, 0.03)])
def test_without_losses_packets_come_as_they_fall_due(
    pace: float, burst: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In closed form: window and initial window are larger than what is under way."""
    monkeypatch.setitem(WORLD, "loss", None)
    times = delivered(pace, burst, np.random.default_rng(1)).times
    at_once = int(np.ceil(burst * RATE))
    due = np.maximum(np.arange(len(times)) - at_once + 1, 0) / (pace * RATE)
    assert len(times) == DURATION * RATE
    np.testing.assert_allclose(times, due + R / 2, atol=1e-6)


def test_the_record_is_whole_and_on_its_page() -> None:
    assert tuple(ROWS) == PACES
    page = (FilePath(__file__).parents[2] / "docs" / "stalls.md").read_text(encoding="utf-8")
    assert table(list(ROWS.values())) in page


def test_more_pace_means_fewer_stalls() -> None:
    paces = [ROWS[pace, 0.0] for pace in (1.1, 1.25, 1.5, 2.0)]
    for kind in ("simulated", "play"):
        shares = [row[kind]["stall_probability"][0] for row in paces]
        assert shares == sorted(shares, reverse=True)

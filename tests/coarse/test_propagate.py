"""Several rounds of a chain in moments, against every path of a small one."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tcpstream import Path
from tcpstream.coarse.outcomes import Outcomes, outcomes
from tcpstream.kernels.propagate import propagate
from tcpstream.tcp import chain_of

STEP, DUE = 3, 2.0


def every_path(found: Outcomes, start: int) -> dict[tuple[int, int], list[float]]:
    """Return probability, mean, second moment and least lead by state and time, path by path."""
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * 4)

    def follow(state: int, time: int, p: float, mean: float, variance: float, least: float) -> None:
        if time >= STEP:
            for i, value in enumerate((p, p * mean, p * (variance + mean**2), p * least)):
                sums[state, time][i] += value
            return
        for o in range(found.starts[state], found.starts[state + 1]):
            after, then = mean + found.mean[o], time + int(found.rounds[o])
            low = min(least, mean + found.ordered[o] - DUE * (time + 1), after - DUE * then)
            follow(int(found.to[o]), then, p * found.chance[o], after, variance + found.variance[o], low)

    follow(start, 0, 1.0, 0.0, 0.0, 0.0)
    return sums


@pytest.mark.parametrize("tcp", [{"sender": "classic"}, {"tcp": "reno-sack"}])
def test_as_every_path(tcp: dict[str, str]) -> None:
    found = outcomes(chain_of(Path(loss=0.1, rtt=0.1, rto=0.25, max_window=6, **({"sender": "classic"} | tcp))))
    start = 4
    arrays = (found.starts, found.to, found.rounds, found.chance, found.mean, found.variance, found.ordered)
    landed, moments, holding, held = propagate(
        *arrays, np.array([start]), np.zeros(1, dtype=np.int64), STEP, DUE, 0.0, 1, 1.0, 0
    )
    sums: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0] * 4)
    for (_, state, time), (p, mean, variance, least) in zip(landed.tolist(), moments.tolist()):
        for i, value in enumerate((p, p * mean, p * (variance + mean**2), p * least)):
            sums[state, time][i] += value
    expected = every_path(found, start)
    assert sums.keys() == expected.keys()
    for key, values in expected.items():
        assert sums[key][:3] == pytest.approx(values[:3], rel=1e-9, abs=1e-15)
        assert sums[key][3] == pytest.approx(values[3], rel=0.1, abs=1e-3)  # paths of a state have one least lead
    assert moments[:, 0].sum() == pytest.approx(1.0, abs=1e-12)
    assert (held[:, 3] > 0).all()
    assert (holding == 0).all()

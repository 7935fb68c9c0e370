"""The test bed of Nichols: nothing is lost unseen, and its cases are those of the text."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.testbeds.bed import Variant
from tcpstream.testbeds.nichols import CASES, SECONDS, Nichols, growing, scenario

BED = Nichols()


@pytest.mark.parametrize(
    "condition", ["340 over 725", "1128 over 250", "queue 20", "loss 20", "loss off 10", "scaled loss 3", "delay 1350"]
)
def test_packets_and_bytes_are_conserved(condition: str) -> None:
    rng = np.random.default_rng(3)
    run = sim.simulate(scenario(CASES[condition], BED.values(Variant()), rng), SECONDS, rng)
    for traffic in run.traffic:
        for count in (traffic.there, traffic.back):
            assert count.sent == count.received + count.dropped + count.under_way
            assert 0 <= count.under_way <= 200
            assert 0 <= count.sent_bytes - count.received_bytes - count.dropped_bytes <= 200 * 1514
        assert traffic.bins is not None
        for name in ("sent", "received", "dropped"):
            assert getattr(traffic.bins, name).sum() == getattr(traffic.there, f"{name}_bytes")


def test_sets_of_levels_grow_from_both_ends() -> None:
    assert [len(levels) for levels in growing("down")] == list(range(1, 11))
    assert growing("down")[1] == (764, 1128)
    assert growing("up")[1] == (28, 43)

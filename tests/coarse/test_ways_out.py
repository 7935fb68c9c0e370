"""No state that is followed is one that is never left."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.coarse.outcomes import Outcomes
from tcpstream.coarse.ways_out import with_ways_out
from tcpstream.playout.deliveries import deliveries
from tcpstream.tcp import chain_of


def line_of(usual):
    """Return states of which each leads to the next one, and the last to the first."""
    n = len(usual)
    ones = np.ones(n)
    return Outcomes(
        np.arange(n + 1), np.roll(np.arange(n), -1), np.ones(n, dtype=int), ones, ones, 0 * ones, ones, ones < 0
    )  # fmt: skip


def test_the_only_way_out_is_followed():
    usual = np.array([1.0, 1e-3, 1e-9, 1e-12, 0.5])
    np.testing.assert_array_equal(with_ways_out(line_of(usual), usual, 1e-8), [1.0, 1e-3, 1e-3, 1e-3, 0.5])


@settings(max_examples=40)
@given(loss=st.floats(1e-3, 0.2), initial_window=st.integers(1, 6), step=st.sampled_from([1, 2]))
@example(loss=0.01, initial_window=4, step=1)
def test_deliveries_lead_on(loss, initial_window, step):
    path = Path(
        sender="classic", tcp="reno-sack", loss=loss, rtt=0.1, rto=0.4, max_window=20, initial_window=initial_window
    )  # fmt: skip
    chain = chain_of(path)
    for further in (0.0, 0.25):
        found = deliveries(chain, step, 1.3, further)
        stays = np.bincount(found.source, found.chance * (found.target == found.source), found.states)
        assert stays.max() < 1 - 1e-9

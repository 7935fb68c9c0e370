"""The rounds that repair losses, and windows between two at a loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.tcp.sack_recovery import between, grid, repairing


@given(st.integers(2, 200), st.data())
def test_what_is_sent_is_the_mean_over_the_place_of_the_loss(w, data):
    """J packets before the loss let out as many; two more go out at the first signs; then left / w for each."""
    left = data.draw(st.integers(1, w))
    early, sent = [], []
    for j in range(w):
        behind = w - 1 - j
        early.append(j + min(behind, 2))
        sent.append(early[-1] + left / w * (w - early[-1]))
    packets, share = repairing(np.array([w]), np.array([left]))
    assert packets[0] == pytest.approx(np.mean(sent), abs=0.5 + 1e-9)
    assert share[0] == pytest.approx(min(np.mean(early) / packets[0], 1), rel=1e-12)
    assert packets[0] <= w


def test_by_hand():
    """Four packets, two left: 2, 3, 3 and 3 go out before the loss shows, 2.75 on average, and half of 1.25 after."""
    packets, share = repairing([4], [2])
    assert packets.tolist() == [3]
    assert share.tolist() == [2.75 / 3]


def test_grid():
    assert grid(1).tolist() == []
    assert grid(2).tolist() == [2]
    assert grid(27).tolist() == [*range(2, 21), 22, 24, 26, 27]


@given(st.integers(1, 400), st.sampled_from([lambda w: w // 2, lambda w: np.ceil(0.7 * w).astype(int), lambda w: w]))
def test_neighbours_keep_the_mean_of_the_reduced_window(largest, reduce):
    at_loss, w = grid(largest), np.arange(largest + 1)
    neighbours, shares = between(at_loss, reduce(w), w)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15)
    assert shares.min() >= 0
    if largest > 1:
        left = (shares * reduce(at_loss)[neighbours]).sum(axis=1)
        np.testing.assert_allclose(left[2:], reduce(w)[2:], rtol=1e-12)

"""Flows drawn second by second: what they deliver in the long run, however they are put together."""

from __future__ import annotations

import numpy as np
import pytest

import tcpstream
from tcpstream.coarse.in_moments import in_moments
from tcpstream.playout import drawn_flows as drawing
from tcpstream.playout.drawn_flows import drawn_flows
from tcpstream.tcp import chain_of

PATHS = {
    "reno": tcpstream.Path(sender="classic", tcp="reno", loss=0.02, rtt=0.1),
    "reno-sack": tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1),
    "cubic": tcpstream.Path(sender="classic", tcp="cubic", loss=0.02, rtt=0.07, max_window=40),
}


@pytest.mark.parametrize("tcp", PATHS)
def test_mean_and_variance_are_the_chains(tcp):
    """The variance of many seconds is what Poisson's equation gives for the chain."""
    path = PATHS[tcp]
    chain = chain_of(path)
    found = drawn_flows(chain, path.rtt, 120, 1000, np.random.default_rng(1))
    assert found.shape == (120, 1000)
    error = found.mean(axis=0).std() / np.sqrt(1000)
    assert found.mean() == pytest.approx(tcpstream.throughput(path), abs=4 * error)
    mean, variance = in_moments(chain).rates
    assert mean / path.rtt == pytest.approx(tcpstream.throughput(path))
    assert found.sum(axis=0).var() == pytest.approx(variance * 120 / path.rtt, rel=0.2)


def test_no_second_is_like_another_at_the_start():
    """The start is left out: the first second is as the last one."""
    path = tcpstream.Path(sender="linux", tcp="reno-sack", loss=0.001, rtt=0.1)
    found = drawn_flows(chain_of(path), path.rtt, 20, 2000, np.random.default_rng(1)).mean(axis=1)
    assert found[0] == pytest.approx(found[-1], rel=0.05)


def test_long_flows_are_put_together(monkeypatch):
    path = PATHS["reno-sack"]
    whole = drawn_flows(chain_of(path), path.rtt, 210, 400, np.random.default_rng(1))
    monkeypatch.setattr(drawing, "MOST_ROUNDS", 700)
    parts = drawn_flows(chain_of(path), path.rtt, 210, 400, np.random.default_rng(1))
    assert parts.shape == whole.shape
    np.testing.assert_array_equal(parts[:70], whole[:70])
    assert set(parts[70]) == set(parts[35])
    assert (parts[70] != parts[35]).any()
    assert not set(parts[70:105].sum(axis=0)) - set(parts[35:70].sum(axis=0))
    for window in (1, 10, 30):
        one, other = (flows.reshape(-1, window, 400).sum(axis=1).var(axis=0).mean() for flows in (whole, parts))
        assert other == pytest.approx(one, rel=0.1)


def test_packets_of_a_round_are_spread_over_it():
    path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=2.5, rto=3)
    found = drawn_flows(chain_of(path), path.rtt, 100, 50, np.random.default_rng(1))
    np.testing.assert_allclose(found[0], found[1])
    assert (found[2] != found[1]).any()


def test_round_trips_too_short():
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.0009, rto=0.2)
    with pytest.raises(tcpstream.AccuracyError, match="are not drawn: 4000 round trips last 3 s"):
        drawn_flows(chain_of(path), path.rtt, 60, 10, np.random.default_rng(1))
    assert drawn_flows(chain_of(path), path.rtt, 3, 10, np.random.default_rng(1)).shape == (3, 10)

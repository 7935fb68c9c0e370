"""The structured source against Table VI, row by row."""

from collections import defaultdict
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings

from strategies import paths
from tcpstream import AccuracyError, Path, throughput
from tcpstream.tcp.reno import reno
from tcpstream.tcp.table_vi import packets_per_round, states, transitions


def table(path):
    """Return (p, and the rest of the path) as `table_vi` wants them; p as the source has it."""
    return dict(
        p=reno(path).loss,
        max_window=path.max_window,
        timeout_ratio=path.timeout_ratio,
        rounds_per_increase=path.rounds_per_increase,
        backoff=path.backoff,
        halving=path.halving,
    )


@settings(max_examples=40)
@given(paths(largest_loss=0.95, smallest_loss=1e-4))
def test_explicit_is_table_vi(path):
    arrays = reno(path).expanded()
    ours = defaultdict(float)
    for s, t, p, S, d in zip(arrays.from_state, arrays.to_state, arrays.probability, arrays.received, arrays.rounds):
        ours[tuple(arrays.labels[s]), tuple(arrays.labels[t]), S, d] += p
    theirs = defaultdict(float)
    for state in states(path.max_window, path.rounds_per_increase):
        for move in transitions(state, **table(path)):
            theirs[tuple(state), tuple(move.target), move.packets, move.rounds] += move.probability
    assert ours.keys() == theirs.keys()
    for key, probability in theirs.items():
        assert ours[key] == pytest.approx(probability, rel=1e-12)


@settings(max_examples=40)
@given(paths(largest_loss=0.95, smallest_loss=1e-3))
def test_throughput_is_that_of_table_vi(path):
    assert throughput(path) * path.rtt == pytest.approx(packets_per_round(**table(path)), rel=1e-9)


@settings(max_examples=20)
@given(paths())
def test_tilted_matrix_is_the_sum_over_the_transitions(path):
    """Censoring the short rounds by hand: P exp(theta (m d - S)) through them, one after the other."""
    chain, theta, m = reno(path), 0.07, 1.3
    arrays = chain.expanded()
    n = len(arrays.labels)
    full = np.zeros((n, n))
    np.add.at(
        full,
        (arrays.from_state, arrays.to_state),
        arrays.probability * np.exp(theta * (m * arrays.rounds - arrays.received)),
    )
    short = np.array(arrays.labels)[:, 2] > 0
    expected = full[~short][:, ~short] + full[~short][:, short] @ full[short][:, ~short]
    found = np.zeros_like(expected)
    rows, columns, values = chain.transform(theta, m)
    np.add.at(found, (rows, columns), values)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


# b = 1, W_max = 48, back-off of the paper, floor; digits that two other programs gave (docs/paper-numbers.md).
@pytest.mark.parametrize(
    ("loss", "expected"),
    [(0.02, (6.16, 6.05, 5.76, 5.49)), (0.004, (16.92, 16.86, 16.66, 16.47)), (0.01, (9.66, 9.57, 9.32, 9.07))],
)
def test_known_throughputs(loss, expected):
    for ratio, packets in zip((1, 2, 3, 4), expected):
        path = Path(sender="classic", loss=loss, rtt=1, timeout_ratio=ratio, max_window=48, backoff="paper")
        assert throughput(path) == pytest.approx(packets, abs=6e-3)


@pytest.mark.parametrize("loss", [1e-6, 1e-4, 0.01, 0.3])
def test_the_default_largest_window_does_not_matter(loss):
    path = Path(sender="classic", loss=loss, rtt=0.1, timeout_ratio=2)
    wider = Path(sender="classic", loss=loss, rtt=0.1, timeout_ratio=2, max_window=2 * path.max_window)
    assert throughput(path) == pytest.approx(throughput(wider), rel=1e-7)


def test_a_chain_that_is_too_large_is_refused():
    with pytest.raises(AccuracyError, match="give a smaller max_window"):
        throughput(Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=2, max_window=10**9))


@pytest.mark.parametrize(("residual", "refused"), [(0.9e-10, False), (1.5e-10, True)])
def test_a_law_with_a_residual_is_refused(monkeypatch, residual, refused):
    path = Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=2, max_window=6)
    law, (rows, columns, values) = reno(path).stationary, reno(path).transform(0.0, 0.0)
    more = np.eye(1, len(law))[0]
    size = np.abs(np.bincount(columns, more[rows] * values, len(law)) - more).sum()
    monkeypatch.setattr(import_module("tcpstream.tcp.chain"), "solve", lambda *_: law + residual / size * more)
    if refused:
        with pytest.raises(AccuracyError, match=r"residual 1\.5e-10 exceeds 1e-10"):
            _ = reno(path).stationary
    else:
        np.testing.assert_allclose(reno(path).stationary, law, atol=1e-9)

"""Moments of transitions, against the transitions themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcpstream import Path
from tcpstream.coarse.outcomes import Outcomes, outcomes
from tcpstream.tcp import Chain, chain_of

PATHS: dict[str, dict[str, Any]] = {
    "reno": {"sender": "classic"},
    "reno, slow start": {"sender": "classic", "initial_window": 4},
    "reno, delayed ACKs": {"sender": "classic", "rounds_per_increase": 2},
    "reno-sack": {"tcp": "reno-sack", "initial_window": 4},
    "cubic, RACK": {"sender": "linux"},
}


def chain(name: str) -> Chain:
    """Return a small chain."""
    return chain_of(Path(loss=0.05, rtt=0.1, rto=0.35, max_window=12, **({"sender": "classic"} | PATHS[name])))


def by_state(found: Outcomes, values: Any) -> Any:
    """Return the sums of values over the transitions of each state."""
    return np.add.reduceat(found.chance * values, found.starts[:-1])


PARTS = pytest.mark.parametrize("parts", [(), (1.0, 2.0, 4.0)])


@PARTS
@pytest.mark.parametrize("name", PATHS)
def test_probabilities_sum_to_one_and_means_are_those_of_the_chain(name: str, parts: tuple[float, ...]) -> None:
    one = chain(name)
    found = outcomes(one, parts)
    packets, rounds = one.per_transition
    np.testing.assert_allclose(by_state(found, 1.0), 1.0, atol=1e-12)
    np.testing.assert_allclose(by_state(found, found.mean), packets, atol=1e-12)
    np.testing.assert_allclose(by_state(found, found.rounds), rounds, atol=1e-12)


@PARTS
@pytest.mark.parametrize("name", ["reno-sack", "cubic, RACK"])
def test_second_moments_and_what_is_in_order(name: str, parts: tuple[float, ...]) -> None:
    one = chain(name)
    found, rows = outcomes(one, parts), one.written_out
    for got, expected in (
        (found.variance + found.mean**2, rows.received.astype(float) ** 2),
        (found.ordered, rows.in_order),
    ):
        exact = np.bincount(rows.from_state, rows.probability * expected, rows.n_states)
        np.testing.assert_allclose(by_state(found, got), exact, atol=1e-10)


@pytest.mark.parametrize("name", ["reno-sack", "cubic, RACK"])
def test_losses_are_told_apart_by_their_place_and_number(name: str) -> None:
    one = chain(name)
    found, rows, w = outcomes(one, (1.0, 2.0, 4.0)), one.written_out, 9
    state = int(np.flatnonzero(one.graph.windows == w)[0])  # type: ignore[attr-defined]
    mine = (rows.from_state == state) & (rows.rounds == 1) & (rows.received == w - 1)
    exact = np.bincount(rows.in_order[mine], rows.probability[mine], w)
    here = slice(found.starts[state], found.starts[state + 1])
    one_lost = (found.rounds[here] == 1) & (found.mean[here] == w - 1)
    got = {float(j): 0.0 for j in np.unique(found.ordered[here][one_lost])}
    for j, chance in zip(found.ordered[here][one_lost], found.chance[here][one_lost]):
        got[float(j)] += float(chance)
    expected = [exact[:1].sum(), exact[1:2].sum(), exact[2:4].sum(), exact[4:6].sum(), exact[6:].sum()]
    assert list(got) == [0.0, 1.0, 2.5, 4.5, 7.0]
    assert list(got.values()) == pytest.approx(expected, rel=1e-9)


@PARTS
def test_second_moment_of_losses_in_bursts_by_enumeration(parts: tuple[float, ...]) -> None:
    one = chain("reno")
    found, p = outcomes(one, parts), 0.05
    q, w = 1 - p, 9
    state = int(np.flatnonzero(one.graph.windows == w)[0])  # type: ignore[attr-defined]
    expected = q**w * w**2
    for j in range(1, w):
        for i in range(j + 1):
            expected += p * q**j * (q**j if i == j else p * q**i) * (i + j) ** 2
    assert by_state(found, found.variance + found.mean**2)[state] == pytest.approx(expected, rel=1e-12)


def test_a_chain_that_is_only_written_out() -> None:
    rows = chain("reno-sack").written_out

    class Plain(Chain):
        def transitions(self) -> Any:
            return rows

    found = outcomes(Plain())
    exact = np.bincount(rows.from_state, rows.probability * rows.received, rows.n_states)
    np.testing.assert_allclose(by_state(found, found.mean), exact, atol=1e-12)

"""Formulas of layered video beside counting, sums written out, and Monte Carlo."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.errors import InputError
from tcpstream.layered import (
    chain_layers,
    incomplete,
    lists,
    loss_event_rate,
    resends,
    tfrc_layers,
    valid_of_independent,
    valid_of_some,
)
from tcpstream.sim.tfrc.equation import throughput


def shown(there) -> int:
    """Layers of a frame that count, one by one."""
    count = 0
    for layer in there:
        if not layer:
            break
        count += 1
    return count


@pytest.mark.parametrize("n", range(1, 7))
def test_some_of_the_layers_by_counting_all_ways(n: int) -> None:
    for k in range(n + 1):
        ways = [[layer in arrived for layer in range(n)] for arrived in itertools.combinations(range(n), k)]
        law = np.bincount([shown(way) for way in ways], minlength=n + 1) / len(ways)
        assert valid_of_some(n, k) == pytest.approx(law, abs=1e-15)
        assert valid_of_some(n, k) @ np.arange(n + 1) == pytest.approx(k / (n - k + 1), rel=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_independent_layers_by_all_ways(s: list[float]) -> None:
    law = np.zeros(len(s) + 1)
    for way in itertools.product((0, 1), repeat=len(s)):
        law[shown(way)] += math.prod(one if there else 1 - one for one, there in zip(s, way))
    assert valid_of_independent(s) == pytest.approx(law, abs=1e-12)


def test_the_numbers_of_the_paper() -> None:
    """Two of four: .67, where independent halves would give .94."""
    layers = np.arange(5)
    assert valid_of_some(4, 2) @ layers == pytest.approx(2 / 3)
    assert valid_of_independent([0.5] * 4) @ layers == pytest.approx(0.9375)


def copies(rng, n: int, p: float, q: float, runs: int):
    """Lists that runs take until nothing is missing, one after the other."""
    for _ in range(runs):
        missing, count = n, 0
        while missing:
            count += 1
            if rng.random() >= q:
                missing = rng.binomial(missing, p)
        yield count


@pytest.mark.parametrize(("n", "p", "q"), [(50, 0.1, 0.0), (300, 0.3, 0.3), (1, 0.5, 0.2), (20, 0.0, 0.4)])
def test_lists_beside_monte_carlo(n: int, p: float, q: float) -> None:
    """Within four standard errors of 4000 runs."""
    took = np.array(list(copies(np.random.default_rng(3), n, p, q, 4000)))
    law = lists(n, p, q)
    assert law.chances.sum() == pytest.approx(1, abs=2 * law.error)
    assert abs(law.mean - took.mean()) < 4 * took.std() / math.sqrt(len(took)) + 1e-9
    for tries in (1, 3, 5, 10):
        chance = incomplete(n, p, q, tries)
        assert chance == pytest.approx(1 - law.chances[: tries + 1].sum(), abs=1e-10)
        assert abs(chance - (took > tries).mean()) < 4 * math.sqrt(chance * (1 - chance) / len(took)) + 1e-9


def test_means_of_lists_by_their_law() -> None:
    law = lists(200, 0.3, 0.2)
    assert law.mean == pytest.approx(law.chances @ np.arange(len(law.chances)), abs=1e-9)
    assert lists(200, 0.3).mean == pytest.approx(math.log(200) / math.log(1 / 0.3), abs=1.0)


def test_what_is_never_missing_takes_no_list() -> None:
    assert lists(0, 0.3, 0.3).chances == pytest.approx([1])
    assert incomplete(0, 0.3, 0.3, 5) == 0
    assert incomplete(7, 0.3, 0.3, 0) == pytest.approx(1)


@pytest.mark.parametrize(("n", "p"), [(1000, 0.02), (40, 0.3), (5, 0.0)])
def test_resends_beside_monte_carlo(n: int, p: float) -> None:
    """Each segment until it arrives, within four standard errors of 4000 runs; the law has the exact mean."""
    took = (np.random.default_rng(5).geometric(1 - p, (4000, n)) - 1).sum(axis=1)
    law = resends(n, p)
    assert law.mean == n * p / (1 - p)
    assert law.chances @ np.arange(len(law.chances)) == pytest.approx(law.mean, abs=1e-6)
    assert abs(law.mean - took.mean()) < 4 * took.std() / math.sqrt(len(took)) + 1e-9
    for count in np.quantile(took, (0.1, 0.5, 0.9)).astype(int):
        chance = law.chances[: count + 1].sum()
        assert abs(chance - (took <= count).mean()) < 4 * math.sqrt(0.25 / len(took))


def test_loss_event_rates_of_a_full_link() -> None:
    """512 kbit/s with 1000 bytes: p = .0244, .0080, .0038 at R = .1, .2, .3 s, from the equation by hand."""
    for rtt, p in ((0.1, 0.0244), (0.2, 0.0080), (0.3, 0.0038)):
        found = loss_event_rate(512e3, rtt)
        assert found == pytest.approx(p, abs=6e-5)
        assert 8 * throughput(1000, rtt, found) == pytest.approx(512e3, rel=1e-12)


def test_layers_that_are_sustained() -> None:
    """Two of 256 kbit/s at the p with which TFRC fills 512 kbit/s; the chain is within 30%."""
    path = Path(
        sender="classic",
        loss=loss_event_rate(512e3, 0.2),
        rtt=0.2,
        timeout_ratio=4,
        rounds_per_increase=1,
        max_window=1000,
    )
    assert tfrc_layers(path, 256e3) == pytest.approx(2, rel=1e-9)
    assert tfrc_layers(path, 128e3, 500) == pytest.approx(2, rel=1e-9)
    assert chain_layers(path, 256e3) == pytest.approx(2, rel=0.3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: valid_of_some(4, 5), "layers that arrive must be at most 4, got 5"),
        (lambda: valid_of_independent([0.5, 1.5]), "probabilities that layers arrive must lie between 0 and 1"),
        (lambda: resends(5, 1.0), "loss of segments must be at least 0 and less than 1, got 1"),
        (lambda: lists(5, 0.1, -0.1), "loss of lists must be at least 0 and less than 1, got -0.1"),
        (lambda: loss_event_rate(0, 0.1), "rate must be greater than 0 bit/s, got 0 bit/s"),
    ],
)
def test_errors(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()

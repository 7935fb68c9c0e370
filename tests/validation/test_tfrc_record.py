"""What is recorded of TFRC: each condition is there, the goals are met, and the page shows the tables as they are."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tfrc.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study():
    """The study's module, which imports its neighbours."""
    sys.path.insert(0, str(ROOT / "validation" / "ns2"))
    try:
        yield importlib.import_module("tfrc")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def record(study):
    """Cases by part, in the order of their conditions."""
    cases = study.Record("tfrc.json", study.SETTINGS).cases
    return {
        part: [(case, cases[study.key(part, case)]) for case in conditions.cases]
        for part, conditions in study.PARTS.items()
    }


@pytest.mark.parametrize("part", ["equation", "alone", "ns2", "tcp"])
def test_the_page_shows_what_is_recorded(study, record, part) -> None:
    assert study.TABLES[part](record[part]) in PAGE


def test_the_rate_is_that_of_the_equation(record) -> None:
    """Within 15% at the loss-event rate that the receiver sees."""
    assert all(abs(found["ratio"] - 1) <= 0.15 for _, found in record["equation"])


def test_a_link_is_filled(record) -> None:
    """95% with a buffer of a bandwidth-delay product."""
    assert all(found["plain"] >= 0.95 for _, found in record["alone"])


def test_ns2_has_the_same(record) -> None:
    """P, R and the rate within 10% in at least six conditions, with the weights of the RFC."""
    near = [
        all(abs(found["sim none"][name] / found["ns2 weights"][name] - 1) <= 0.1 for name in ("p", "R", "X"))
        for _, found in record["ns2"]
    ]
    assert sum(near) >= 6


def test_tcp_has_its_share(record) -> None:
    """Ratios of .5 to 2 in at least nine of ten conditions."""
    assert len(record["tcp"]) == 10
    assert sum(0.5 <= found["ratio"] <= 2 for _, found in record["tcp"]) >= 9

"""What an alternative is, and what it makes of a test bed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from tcpstream.paper.claim import Claim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Bed, Variant
from tcpstream.testbeds.measured import Record, Seen


class Alternative(NamedTuple):
    """Something else that a test bed could have.

    Attributes
    ----------
    paper, name : str
    rows : tuple of str
        What it was tried for: rows that do not hold.
    assumed : mapping
        Values of assumptions.
    replaced : mapping
        What stands in for a name of the bed's module: a class of players, a function that measures, or judges.
    """

    paper: str
    name: str
    rows: tuple[str, ...] = ()
    assumed: Mapping[str, float] = {}
    replaced: Mapping[str, Any] = {}


def records(of: Bed, other: Alternative, runs: int) -> list[Record]:
    """Return so many runs of each condition, at most as many as the study has, with its random numbers."""
    values = {**of.values(Variant()), **other.assumed}
    found = []
    with _replaced(of, other.replaced):
        for condition in of.conditions():
            for run in range(min(runs, of.repeats(Variant(), condition))):
                figures = study.simulated(of, condition, run, values)
                found.append({"condition": condition, "run": run, "figures": figures})
    return found


def judged(of: Bed, other: Alternative, runs: int) -> list[Claim]:
    """Return the rows of the paper."""
    with _replaced(of, other.replaced):
        return list(of.rows(Seen(records(of, other, runs))))


@contextmanager
def _replaced(of: Bed, what: Mapping[str, Any]) -> Iterator[None]:
    module = type(of).__module__
    patches = [patch(f"{module}.{name}", value) for name, value in what.items()]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()

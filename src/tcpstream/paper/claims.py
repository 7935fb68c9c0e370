"""What the paper concludes in Section 6, each statement beside the numbers of this model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .claim import Claim
from .conditions import conditions
from .lengths import lengths
from .summary import summary


def claims(**tcp: Any) -> Iterator[Claim]:
    """Yield every statement of Section 6, in the paper's order within each topic.

    Parameters
    ----------
    **tcp
        How the TCP differs from the classic sender in what the paper leaves open: max_window, rounds_per_increase,
        backoff, halving.
    """
    yield from lengths(**tcp)
    yield from conditions("live", **tcp)
    yield from conditions("stored", **tcp)
    yield from summary(**tcp)


HOW_MANY = 28
"""Claims that `claims` yields."""

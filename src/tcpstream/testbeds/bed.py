"""What a test bed is: conditions that are simulated, assumptions, and the rows of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..paper.claim import Claim
from .measured import Seen


class Variant(NamedTuple):
    """An assumption that has another value than elsewhere; without a name, all are as assumed."""

    name: str = ""
    value: float = 0.0


class Bed(ABC):
    """A test bed.

    Attributes
    ----------
    name, title : str
        What a command calls it; authors, title and year of the paper.
    runs : int
        Of each condition, where nothing else is said.
    assumed : mapping
        Each assumption, and its values: the first one is assumed, and the others are as plausible.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    runs: ClassVar[int]
    assumed: ClassVar[Mapping[str, tuple[float, ...]]]

    @abstractmethod
    def conditions(self) -> tuple[str, ...]:
        """Return the names of what is simulated."""

    def repeats(self, variant: Variant, condition: str) -> int:
        """Return how many runs a condition has: `runs`, or what a bed says; 0 if the variant changes nothing of it."""
        del variant, condition
        return self.runs

    def stream(self, condition: str) -> int:
        """Return which random numbers a condition has: conditions of one number have the same ones in each run."""
        return self.conditions().index(condition)

    @abstractmethod
    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        """Return what one run of a condition shows: numbers, or lists of numbers, by name."""

    @abstractmethod
    def rows(self, seen: Seen) -> Iterator[Claim]:
        """Yield the statements of the paper, judged by what runs have shown."""

    def values(self, variant: Variant) -> dict[str, float]:
        """Return the value of each assumption."""
        values = {name: values[0] for name, values in self.assumed.items()}
        return values | ({variant.name: variant.value} if variant.name else {})

    def variants(self) -> list[Variant]:
        """Return all that is assumed: first as it is, then with each of the other values."""
        others = [Variant(name, value) for name, values in self.assumed.items() for value in values[1:]]
        return [Variant(), *others]

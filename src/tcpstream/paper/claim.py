"""A statement of a paper, judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

BASES = {"R": "read off it", "C": "fitted on it", "T": "tested"}
"""What a row is to a model: a rule or a parameter was read off it, one was fitted on it, or nothing came from it."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and what became of it.

    Attributes
    ----------
    key : str
        Short name.
    section : str
        Where the paper has it.
    says : str
        The statement, in our words, as exactly as it is judged.
    found : str
        The numbers that decide.
    holds : bool
    basis : {"R", "C", "T"}
        See `BASES`.
    authors, within : str
        Their value, where they print one, and how near ours has to be.
    changes_with : tuple of str
        Other values of assumptions with which the verdict is another one.
    tried : int
        How many other values were tried.
    """

    key: str
    section: str
    says: str
    found: str
    holds: bool
    basis: str = "T"
    authors: str = ""
    within: str = ""
    changes_with: tuple[str, ...] = ()
    tried: int = 0

    def beside(self, changes: Mapping[tuple[str, float], bool]) -> Claim:
        """Return it with other values of assumptions: names and values, and whether each changes the verdict."""
        others = tuple(f"{name} = {value:g}" for (name, value), change in changes.items() if change)
        return replace(self, changes_with=others, tried=len(changes))

    @property
    def says_nothing(self) -> bool:
        """Whether it holds with every value of every assumption that was tried."""
        return self.holds and self.tried > 0 and not self.changes_with

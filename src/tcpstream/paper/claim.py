"""A statement of the paper, judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and what became of it.

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
    """

    key: str
    section: str
    says: str
    found: str
    holds: bool

"""The test beds, by name."""

from __future__ import annotations

from .bed import Bed

NAMES = ("hessler",)


def bed(name: str) -> Bed:
    """Return the test bed of a paper."""
    if name == "hessler":
        from .hessler import Hessler

        return Hessler()
    raise AssertionError(name)

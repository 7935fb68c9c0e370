"""The test beds, by name."""

from __future__ import annotations

from .bed import Bed

NAMES = ("chung", "hessler", "nichols", "zink")


def bed(name: str) -> Bed:
    """Return the test bed of a paper."""
    if name == "chung":
        from .chung import Chung

        return Chung()
    if name == "hessler":
        from .hessler import Hessler

        return Hessler()
    if name == "nichols":
        from .nichols import Nichols

        return Nichols()
    if name == "zink":
        from .zink import Zink

        return Zink()
    raise AssertionError(name)

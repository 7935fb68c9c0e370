"""How the event loop is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from ...system.compiler import kept

Function = TypeVar("Function", bound=Callable[..., Any])

_uncounted: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Nothing here makes an array, so references need no counting, which would take most of the time."""

_inside: dict[str, Any] = _uncounted | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Compiled code alone calls these: an entry from Python, and one from C, would each hold a copy to compile."""

inlined: Callable[[Function], Function] = numba.njit(forceinline=True, **_inside)
"""Part of the loop."""

called: Callable[[Function], Function] = numba.njit(**_inside)
"""Part of the loop that few runs need: in line it would slow the others down."""

loop: Callable[[Function], Function] = kept(**_uncounted)
"""The loop itself, kept for the next process."""

wide: Any = np.int64
"""The width of numbers of packets and flows: what is called with numbers of two widths is compiled twice."""

"""How the event loop is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...system.compiled_parts import part
from ...system.compiler import kept

Function = TypeVar("Function", bound=Callable[..., Any])

_uncounted: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Nothing here makes an array, so references need no counting, which would take most of the time."""

inlined: Callable[[Function], Function] = part(forceinline=True, **_uncounted)
"""Part of the loop."""

called: Callable[[Function], Function] = part(**_uncounted)
"""Part of the loop that few runs need: in line it would slow the others down."""

loop: Callable[[Function], Function] = kept(**_uncounted)
"""The loop itself, kept for the next process."""

wide: Any = np.int64
"""The width of numbers of packets and flows: what is called with numbers of two widths is compiled twice."""

"""How the event loop is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import overload

from ...system.compiler import kept

Function = TypeVar("Function", bound=Callable[..., Any])

_uncounted: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Nothing here makes an array, so references need no counting, which would take most of the time."""

inlined: Callable[[Function], Function] = numba.njit(forceinline=True, **_uncounted)
"""Part of the loop."""

called: Callable[[Function], Function] = numba.njit(**_uncounted)
"""Part of the loop that few runs need: in line it would slow the others down."""


def with_rules(otherwise: Any = None) -> Callable[[Function], Function]:
    """Return what makes a part of the loop that is called, and compiled, only for worlds with rules besides Reno's.

    Others, whose `control` has no records, have `otherwise` instead of what it returns.
    """

    def made(function: Function) -> Function:
        part: Any = called(function)

        def stub(*_arguments: Any) -> Any:
            raise NotImplementedError

        @overload(stub, jit_options=cast(Any, _uncounted))
        def _typed(*arguments):  # type: ignore[no-untyped-def] # names and annotations are compared with those below
            world = arguments[0]
            if isinstance(world.types[world.fields.index("control")].dtype, numba.types.Record):
                return lambda *arguments: part(*arguments)
            return lambda *arguments: otherwise  # noqa: ARG005

        return cast(Function, stub)

    return made


loop: Callable[[Function], Function] = kept(**_uncounted)
"""The loop itself, kept for the next process."""

wide: Any = np.int64
"""The width of numbers of packets and flows: what is called with numbers of two widths is compiled twice."""

"""Compiled functions, kept for the next process where there is room."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

Function = TypeVar("Function", bound=Callable[..., Any])


class _Kept(FunctionCache):
    """numba's cache, for which a full disk or a damaged file is a reason to compile again, not to fail."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling makes of a damaged file
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def kept(**options: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles as ``numba.njit(cache=True, **options)``, with or without a place for the cache.

    Parameters
    ----------
    **options
        Of ``numba.njit``.
    """

    def decorate(function: Function) -> Function:
        compiled: Any = numba.njit(**options)(function)
        switched_off = not isinstance(compiled, Dispatcher)
        if not switched_off:
            with suppress(RuntimeError):  # no folder can be written to
                compiled._cache = _Kept(function)
        return compiled  # type: ignore[no-any-return]

    return decorate

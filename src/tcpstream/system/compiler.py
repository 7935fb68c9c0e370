"""Compiled functions, kept for the next process where there is room."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path as FilePath
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

Function = TypeVar("Function", bound=Callable[..., Any])


KERNELS = FilePath(__file__).parent.parent / "kernels"
"""Where functions are that any other compiled one may call."""


class _Kept(FunctionCache):
    """numba's cache, with what a function may call in its key: the files of its own folder, and all kernels.

    A full disk or a damaged file is a reason to compile again, not to fail.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        folders = {FilePath(function.__code__.co_filename).parent, KERNELS}
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp="".join(sorted(map(contents, folders))),
        )

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


integer: Any = np.int64
"""Of a constant, for a function that others call: it would be compiled for the constant as well as for any number."""


@cache
def contents(folder: FilePath) -> str:
    """Return a digest of the Python files in a folder as they were when this process first asked."""
    digest = hashlib.blake2b()
    for file in sorted(folder.glob("*.py")):
        digest.update(hashlib.blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


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
            with suppress(RuntimeError, OSError):  # no folder can be written to, or no file read
                compiled._cache = _Kept(function)
        return compiled  # type: ignore[no-any-return]

    return decorate

"""Notes on values that were probably not meant, from where they are judged to the end of the output."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputWarning


@contextmanager
def collected() -> Iterator[dict[str, None]]:
    """Collect the texts of the `InputWarning` of this block, each once; other warnings go their usual way."""
    found: dict[str, None] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, InputWarning):
                found[str(message)] = None
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield found

"""What a person at a terminal sees of a long run, on stderr; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[], object]]:
    """Show how many of `total` are done; what is yielded is to be called after each. Compiling is said as well."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from numba.core import event
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        class Compiling(event.Listener):
            def on_start(self, _event: Any) -> None:
                bar.update(task, description="compiling the simulator (first use, about 15 s)")

            def on_end(self, _event: Any) -> None:
                bar.update(task, description=what)

        with event.install_listener("numba:compile", Compiling()):
            yield lambda: bar.advance(task)

"""What a person at a terminal sees of a long run, on stderr; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from ..system.watch import watching

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

AFTER = 2.0
"""Seconds from which a solve has a bar."""

FIRST_USE = "compiling (first use)"


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[], object]]:
    """Show how many of `total` are done; what is yielded is to be called after each. Compiling is said as well."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    import numba.core.event  # noqa: F401 - for `_compiling`

    with _bar() as bar:
        task = bar.add_task(what, total=total)
        with _compiling(bar, task, what):
            yield lambda: bar.advance(task)


@contextmanager
def solving() -> Iterator[None]:
    """Show the share that is done of the solves of a block, where it is known, once they have taken a while."""
    if not sys.stderr.isatty():
        yield
        return
    late = _Late("solving")
    timer = Timer(AFTER, late.begin)
    timer.daemon = True
    timer.start()
    try:
        with watching(show=late.show):
            yield
    finally:
        timer.cancel()
        late.end()


class _Late:
    """A bar that begins in a thread of its own, unless it has ended before; rich is loaded there."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock, self._stack = Lock(), ExitStack()
        self._ended = False
        self._update: Callable[[float], None] = lambda _: None

    def begin(self) -> None:
        bar = _bar()
        with self._lock:
            if self._ended:
                return
            self._stack.enter_context(bar)
            task = bar.add_task(self._what, total=None)
            self._stack.enter_context(_compiling(bar, task, self._what))
            self._update = lambda share: bar.update(task, completed=share, total=1.0)

    def show(self, share: float | None) -> None:
        if share is not None:
            self._update(share)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            self._stack.close()


def _bar() -> Progress:
    """Return a bar on stderr that vanishes at its end."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(console=Console(stderr=True), transient=True)


def _compiling(bar: Progress, task: TaskID, what: str) -> AbstractContextManager[object]:
    """Let a bar say when something is compiled, if the compiler is loaded."""
    event: Any = sys.modules.get("numba.core.event")
    if event is None:
        return nullcontext()

    class Compiling(event.Listener):  # type: ignore[misc]
        def on_start(self, _event: Any) -> None:
            bar.update(task, description=FIRST_USE)

        def on_end(self, _event: Any) -> None:
            bar.update(task, description=what)

    listener: AbstractContextManager[object] = event.install_listener("numba:compile", Compiling())
    return listener

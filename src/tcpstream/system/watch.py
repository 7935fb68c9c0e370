"""Long computations say how far they are, once a round, and learn there that their time is over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from threading import Event
from time import monotonic
from typing import TypeVar

from ..errors import TimeLimitError, positive

Item = TypeVar("Item")
Answer = TypeVar("Answer")

#: Is told the share that is done, None where nobody knows.
Show = Callable[[float | None], object]

EVERY = 0.05
"""Seconds between two shares that are shown."""

PACE = 0.2
"""Seconds of a pass from which a forecast is made."""

SMALLER = "a smaller max_window"
SHORTER = f"a shorter duration or {SMALLER}"
"""What would help, for `at`."""


class GivenUp(BaseException):
    """Nobody waits for the work any more: no answer that is kept, nor the reason why there is none."""


class Watch:
    """Who looks at one piece of work: its passes follow each other.

    Parameters
    ----------
    show : callable
    limit_s, deadline : float
        Seconds that all may take, and when they are over [s of the monotonic clock]; infinite without a limit.
    given_up : Event
        Set where nobody waits for the work any more.
    """

    def __init__(
        self, show: Show, limit_s: float = math.inf, deadline: float = math.inf, given_up: Event | None = None
    ) -> None:  # fmt: skip
        self.show, self.limit_s, self.deadline = show, limit_s, deadline
        self.given_up = Event() if given_up is None else given_up
        self._next = -math.inf
        self._begun, self._first, self._last, self._total = 0.0, math.inf, math.inf, 0.0

    def at(self, done: float, total: float | None, instead: str) -> None:
        """See `at`."""
        now = monotonic()
        if now < self._next and now < self.deadline:
            return
        self._next = now + EVERY
        if done < self._last or total != self._total:  # another pass
            self._begun, self._first = now, done
        self._last, self._total = done, total or 0.0
        if self.given_up.is_set():
            raise GivenUp
        if now >= self.deadline:
            remedies = f"a longer time_limit{',' if ' or ' in instead else ' or'} {instead}"
            raise TimeLimitError(f"the time limit of {self.limit_s:g} s is over, {self._far(now)}: give {remedies}")
        self.show(done / total if total else None)

    def _far(self, now: float) -> str:
        """Return how far the pass is, and what it would take at its pace so far."""
        if not self._total:
            return "and how much is left is not known"
        text = f"with {self._last / self._total:.0%} of this pass done"
        spent, gone = now - self._begun, self._last - self._first
        if spent < PACE or gone <= 0:
            return text
        left = _duration(spent * (self._total - self._last) / gone)
        return f"{text}, whose rest would take about {left}, and others may follow"


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def at(done: float = 0.0, total: float | None = None, instead: str = SMALLER) -> None:
    """Say how far the work is, before each round or epoch: cheap, and nothing where nobody watches.

    Parameters
    ----------
    done, total : float
        How much of how much, of one pass; without a total nobody knows. Work that starts again starts below.
    instead : str
        What would help, beside more time.

    Raises
    ------
    TimeLimitError
        When the time is over.
    """
    watch = _watch.get()
    if watch is not None:
        watch.at(done, total, instead)


@contextmanager
def watching(
    show: Show | None = None, limit_s: float = math.inf, given_up: Event | None = None
) -> Iterator[None]:  # fmt: skip
    """Watch what is computed in this block, also by `threads.on_cores`.

    Parameters
    ----------
    show : callable, optional
        Is told how far the work is, now and then, from whatever thread; by default who is told already.
    limit_s : float
        Seconds that the block may take; a shorter limit around it holds as well.
    given_up : Event, optional
        Set where nobody waits for it any more; by default that of the block around it.
    """
    outer = _watch.get() or Watch(unseen)
    limits = min((monotonic() + limit_s, limit_s), (outer.deadline, outer.limit_s))
    before = _watch.set(Watch(show or outer.show, limits[1], limits[0], given_up or outer.given_up))
    try:
        yield
    finally:
        _watch.reset(before)


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Return a context in which computations end with `TimeLimitError` after so many seconds.

    The clock is looked at once a round or loss epoch of the solvers: milliseconds apart, seconds with the largest
    windows. Loading, and compiling on the very first use, is not interrupted. Results that were made before are
    unharmed, and may be asked again.

    Parameters
    ----------
    seconds : float
        From the beginning of the block [s], > 0.

    Raises
    ------
    InputError
        For a limit that is no number above 0.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> with tcpstream.time_limit(60):
    ...     result = tcpstream.live(path, tcpstream.Video(packet_rate=25))
    """
    return watching(limit_s=positive("time limit", seconds, "s"))


def pieces(
    work: Callable[[Item], Answer], items: Sequence[Item], given_up: Event | None = None
) -> Callable[[int], Answer]:  # fmt: skip
    """Return what does the work of an item, by its number, in any thread, watched as the caller is.

    What is shown is the share of all items. The work ends soon after `given_up` is set.
    """
    caller, watch = copy_context(), _watch.get()
    if watch is None and given_up is None:
        return lambda number: caller.copy().run(work, items[number])
    show = unseen if watch is None else watch.show
    running: dict[int, float] = {}
    ready: list[int] = []

    def tell(number: int, share: float | None) -> None:
        if share is not None:
            running[number] = share
        show((len(ready) + sum(list(running.values()))) / len(items))

    def piece(number: int) -> Answer:
        with watching(show=lambda share: tell(number, share), given_up=given_up):
            answer = work(items[number])
        ready.append(number)
        running.pop(number, None)
        return answer

    return lambda number: caller.copy().run(piece, number)


def unseen(_share: float | None) -> None:
    """Show nothing."""


def _duration(seconds: float) -> str:
    """Return a time with the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"

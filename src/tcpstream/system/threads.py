"""Independent pieces of work on all cores: threads, since the kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from threading import Event
from typing import Any, TypeVar

from .watch import pieces

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_they_end(pool: Executor, work: Callable[..., Answer], items: Iterable[tuple[Any, ...]]) -> Iterator[Answer]:
    """Yield ``work(*item)`` of each as soon as it is there; what has not begun when the caller leaves is not done."""
    with pool:
        try:
            for future in as_completed([pool.submit(work, *item) for item in items]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def on_cores(work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """Return ``work(item)`` of each, in order; a thread a core, so `work` must not start threads of its own.

    The first exception, in the order of the items, is raised, and what still runs ends soon. What watches the caller
    watches the work (`watch`).
    """
    todo, given_up = list(items), Event()
    piece = pieces(work, todo, given_up)
    workers = min(cores(), len(todo))
    if workers < 2:
        return [piece(number) for number in range(len(todo))]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(piece, range(len(todo))))
        except BaseException:  # as an interruption: what still runs would be waited for
            given_up.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise

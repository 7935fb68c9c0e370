"""Chunks at work: on this machine's cores, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

from ..system.threads import cores
from ..system.watch import pieces
from .chunk import solve
from .cluster import on_cluster
from .frames import one_thread

if TYPE_CHECKING:
    from pandas import DataFrame

Chunks = dict[int, "DataFrame"]


def here(chunks: Chunks, kind: str, alpha: bool) -> Iterator[tuple[int, DataFrame]]:
    """Yield the number and the answers of each chunk as they come, from a thread a core: kernels release the lock."""
    with one_thread("a sweep"), ThreadPoolExecutor(cores()) as pool:
        piece = pieces(lambda points: solve(points, kind, alpha), list(chunks.values()))
        futures = {pool.submit(piece, i): number for i, number in enumerate(chunks)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def elsewhere(client: Any, chunks: Chunks, kind: str, alpha: bool) -> Iterator[tuple[int, DataFrame]]:
    """Yield the same from the workers of a Dask cluster."""
    return on_cluster(client, solve, {number: (points, kind, alpha) for number, points in chunks.items()})

"""Chunks at work: on this machine's cores, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..system.threads import cores
from ..system.watch import pieces
from .chunk import solve
from .frames import distributed, one_thread

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


def on_cluster(client: Any, chunks: Chunks, kind: str, alpha: bool) -> Iterator[tuple[int, DataFrame]]:
    """Yield the same from the workers of a Dask cluster; what a lost worker had is done again by others.

    Raises
    ------
    InputError
        For something else than a ``distributed.Client``.
    """
    module = distributed("a cluster")
    if not isinstance(client, module.Client):
        raise InputError(f"client must be a distributed.Client, got {type(client).__name__}")
    futures = {client.submit(_there, points, kind, alpha, pure=False): number for number, points in chunks.items()}
    try:
        for future, answers in module.as_completed(futures, with_results=True):
            yield futures.pop(future), answers
            future.release()
    finally:
        client.cancel(list(futures))


def _there(points: DataFrame, kind: str, alpha: bool) -> DataFrame:
    """Solve a chunk on a worker."""
    with one_thread("a sweep"):
        return solve(points, kind, alpha)

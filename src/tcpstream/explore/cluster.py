"""Independent pieces of work on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, TypeVar

from ..errors import InputError
from .frames import distributed, one_thread

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


def check_client(client: Any) -> Any:
    """Return the module ``distributed``, or raise `InputError` for something else than a client of it."""
    module = distributed("a cluster")
    if not isinstance(client, module.Client):
        raise InputError(f"client must be a distributed.Client, got {type(client).__name__}")
    return module


def on_cluster(
    client: Any, work: Callable[..., Answer], items: Mapping[Key, tuple[Any, ...]]
) -> Iterator[tuple[Key, Answer]]:
    """Yield the key and ``work(*item)`` of each item as they come; what a lost worker had is done again by others.

    Parameters
    ----------
    client : distributed.Client
    work : callable
        A function of a module, which workers import. Linear algebra uses one thread there.
    items : mapping

    Raises
    ------
    InputError
        For something else than a ``distributed.Client``.
    MissingExtraError
        Without distributed or, on a worker, threadpoolctl.
    """
    module = check_client(client)
    futures = {client.submit(_there, work, item, pure=False): key for key, item in items.items()}
    try:
        for future, answer in module.as_completed(futures, with_results=True):
            yield futures.pop(future), answer
            future.release()
    finally:
        client.cancel(list(futures))


def _there(work: Callable[..., Answer], item: tuple[Any, ...]) -> Answer:
    """Do a piece of work on a worker."""
    with one_thread("a cluster"):
        return work(*item)

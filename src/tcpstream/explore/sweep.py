"""A sweep: points in, answers out, kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..sender import DEFAULT_SENDER
from .batches import chunks
from .cases import known
from .columns import VIEWERS, check
from .frames import pandas
from .run import elsewhere, here
from .store import Store
from .table import assemble

if TYPE_CHECKING:
    from pandas import DataFrame


def sweep(
    points: DataFrame,
    kind: str,
    *,
    alpha: bool = False,
    store: str | PathLike[str] | None = None,
    client: Any = None,
    progress: bool = False,
) -> DataFrame:
    """Answer a question for every point of a table.

    Points that share work are solved together: stored ones of one TCP chain, whatever their round trip time, rate
    and delay, from one transient; live ones with the same backlog in rounds from one solve. What is solved together
    depends on the points alone, so that the answers are the same on one core, on a cluster, and after interruptions.

    Parameters
    ----------
    points : pandas.DataFrame
        A row a point, from `grid` or any other: columns as `grid` takes them; a value that is missing (None, nan) is
        as if not given.
    kind : {"live", "stored"}
    alpha : bool
        Stored, for delays: the exact probability of no late packet as well, a solve for each point.
    store : path-like, optional
        Folder in which answers are kept as they come. A sweep that finds some there goes on after them.
    client : distributed.Client, optional
        Dask cluster that does the work; by default this machine's cores.
    progress : bool
        Show a bar with the time that is left, on stderr.

    Returns
    -------
    pandas.DataFrame
        The points with their index, `rtt`, `packet_rate` and `T_over_mu` filled in, and the answers: ``throughput`` T
        [packets/s]; for delays ``late_fraction`` f and, stored, Theorem 1's ``no_late_lower_bound``; for targets
        ``required_delay`` [s]; for starts and start buffers ``stall_probability``, ``mean_total_rebuffer`` [s] and
        ``rebuffering_ratio``, each with its ``_error``, and with a start buffer ``mean_join_time`` [s]; else
        ``error_bound`` of f and alpha, and ``lattice_error`` (live) or ``quantum`` and ``quantum_error`` (stored), as
        in the results of `live` and `stored`; and ``error``, why there is no answer, or
        nothing. ``attrs`` holds units and provenance.

    Raises
    ------
    InputError
        For columns that cannot be answered, or a store that holds another sweep. What is wrong with a single point
        is its ``error``.
    MissingExtraError
        Without pandas or threadpoolctl; without pyarrow for a store; without distributed for a client.
    """
    question = check(points.columns, kind)
    pandas("a sweep")
    plain = points.reset_index(drop=True)
    parts = chunks(known(plain), kind, alpha or question in VIEWERS)
    about = {
        "version": __version__,
        "kind": kind,
        "alpha": alpha,
        "axes": points.attrs.get("axes", []),
        "chunks": len(parts),
        "sender": DEFAULT_SENDER,
    }
    kept = None if store is None else Store(store, plain, about)
    done = {} if kept is None else kept.done()
    todo = {i: plain.iloc[part] for i, part in enumerate(parts) if i not in done}
    made = here(todo, kind, alpha) if client is None else elsewhere(client, todo, kind, alpha)
    with _bar(len(plain)) if progress else nullcontext(lambda _: None) as step:
        step(sum(map(len, done.values())))
        for number, answers in made:
            if kept is not None:
                kept.put(number, answers)
            done[number] = answers
            step(len(answers))
    table = assemble(plain, [done[i] for i in sorted(done)], about)
    return table.set_axis(points.index, axis=0)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], object]]:
    """Show a bar on stderr; what is yielded is to be called with the number of points that came."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("points"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("points", total=total)
        yield lambda more: bar.advance(task, more)

"""The runs of a test bed: made on all cores, and kept one by one, so that an interrupted study goes on."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np

from ..errors import InputError, cause
from ..paper.claim import Claim
from ..system.json_numbers import finite
from ..system.log import appending, read
from ..system.threads import as_they_end, cores
from .bed import Bed, Variant
from .measured import Record, Seen
from .papers import bed

SEED = 2004


class Job(NamedTuple):
    """A run of a condition, with all as assumed but for one assumption."""

    variant: Variant
    condition: str
    run: int


def jobs(of: Bed) -> list[Job]:
    """Return all runs of a study: those as assumed first."""
    return [
        Job(variant, condition, run)
        for variant in of.variants()
        for condition in of.conditions()
        for run in range(of.repeats(variant, condition))
    ]


def made(name: str, job: Job) -> Record:
    """Make a run: the same condition and run have the same random numbers whatever is assumed."""
    of = bed(name)
    return {
        "assumption": job.variant.name,
        "value": job.variant.value,
        "condition": job.condition,
        "run": job.run,
        "figures": simulated(of, job.condition, job.run, of.values(job.variant)),
    }


def simulated(of: Bed, condition: str, run: int, values: Mapping[str, float]) -> Record:
    """Return what a run of a condition shows, in numbers of JSON: null for NaN."""
    rng = np.random.default_rng((SEED, of.stream(condition), run))
    return {name: finite(value) for name, value in of.simulate(condition, values, rng).items()}


def key(record: Record) -> Job:
    """Return which run a record is of."""
    return Job(Variant(record["assumption"], record["value"]), record["condition"], record["run"])


def run_study(of: Bed, file: FilePath, step: Callable[[], object] = int) -> None:
    """Make the runs that a file does not hold yet, and append each when it is done.

    Parameters
    ----------
    of : Bed
    file : path
        A line of JSON for each run, in the order in which they ended.
    step : callable
        Called for each run that is done, those in the file included.
    """
    have = {key(record) for record in kept(of, file)}
    for _ in have:
        step()
    todo = [job for job in jobs(of) if job not in have]
    with appending(file) as append:
        for record in _each(of.name, todo):
            append(record)
            step()


def kept(of: Bed, file: FilePath) -> list[Record]:
    """Return the runs of a study in a file; a last line that an interruption cut off is left out."""
    known = set(jobs(of))
    try:
        records = read(file)
        if all(key(record) in known and isinstance(record["figures"], dict) for record in records):
            return records
    except OSError as error:
        raise InputError(f"cannot read {file}: {cause(error)}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise InputError(f"{file} holds other runs than those of --paper {of.name}: give another file")


def recorded(of: Bed) -> list[Record]:
    """Return the runs of the whole study as recorded with this version."""
    file = files(__package__).joinpath("recorded", f"{of.name}.jsonl")
    return kept(of, FilePath(str(file)))


def judged(of: Bed, records: Iterable[Record]) -> list[Claim]:
    """Return the rows of the paper, each with what other values of the assumptions make of it."""
    by: dict[Variant, dict[tuple[str, int], Record]] = {}
    for record in records:
        job = key(record)
        by.setdefault(job.variant, {})[job.condition, job.run] = record
    assumed = by.pop(Variant(), {})
    changes = {variant: _changes(of, assumed, others) for variant, others in by.items()}
    return [
        row.beside({variant: changed[i] for variant, changed in changes.items()})
        for i, row in enumerate(of.rows(Seen(assumed.values())))
    ]


def _changes(
    of: Bed, assumed: Mapping[tuple[str, int], Record], others: Mapping[tuple[str, int], Record]
) -> list[bool]:
    """Return for each row whether another value changes its verdict, on the runs that both have.

    Conditions of which the other value has no runs are those that it does not change.
    """
    made = {condition for condition, _ in others}
    both = [run for run in assumed if run in others or run[0] not in made]
    before, after = (of.rows(Seen(found[run] for run in both)) for found in (assumed, {**assumed, **others}))
    return [one.holds != other.holds for one, other in zip(before, after)]


def _each(name: str, todo: list[Job]) -> Iterator[Record]:
    """Yield runs as they end, from a process a core: players are Python, which threads would take in turns."""
    if todo:
        pool = ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn"))
        yield from as_they_end(pool, made, ((name, job) for job in todo))

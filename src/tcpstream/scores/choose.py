"""Which sessions are solved, on all cores or a cluster: those of which the others, solved before, say the least."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..explore.cluster import on_cluster
from ..explore.frames import one_thread
from ..system.threads import on_cores
from .between import bounds
from .carried import ENOUGH, Carried, carried, places
from .distinct import Sessions
from .kept import Store
from .one_session import Solved, solve
from .question import Case, Question

AT_A_TIME = 8
"""Solves that are begun together, on however many cores, so that the choice does not depend on these."""

DRAWN = 8
"""Sessions of which one is solved, that with T/mu nearest to 1: what is far better, or worse, it may settle as well."""

CHECKS = 1 / 3
"""Part of the solves by which errors are calibrated."""

KNOWN = 0.02
"""What is not known of a session, in P(any stall), that is not worth a solve."""

Step = Callable[[], object]


class Solver:
    """Solves cases that are not in the store yet, and keeps them there.

    Parameters
    ----------
    cases : Sessions
    question : Question
    store : Store
    step : callable
        Called after each solve.
    client : distributed.Client, optional
        Dask cluster whose workers solve; by default the cores of this machine.
    """

    def __init__(self, cases: Sessions, question: Question, store: Store, step: Step, client: Any = None) -> None:
        self.cases, self.question, self.store, self.step, self.client = cases, question, store, step, client

    def paths(self, rng: np.random.Generator) -> Carried:
        """Return what the path of each case carries."""
        some = list(range(len(self.cases)))
        if len(some) > ENOUGH:
            where = places(self.cases.numbers)
            outer = np.concatenate([where.argmin(axis=0), where.argmax(axis=0)])  # nothing lies beyond them
            some = np.unique(np.append(outer, rng.choice(len(some), ENOUGH, replace=False))).tolist()
        return carried(self.cases, some, self._all([self.cases.one(i) for i in some], all_of_it=False))

    def every(self) -> dict[int, Solved]:
        """Return the answers of all cases, each solved."""
        count = len(self.cases)
        return dict(enumerate(self._all([self.cases.one(i) for i in range(count)], all_of_it=True)))

    def some(self, paths: Carried, most: int, rng: np.random.Generator) -> tuple[dict[int, Solved], list[int]]:
        """Return the answers of so many cases, about, and which of these were drawn evenly, to check the others by.

        What the store has of another table is taken first.
        """
        known, checks = self.kept(), list[int]()
        even = max(1, round(most * CHECKS))
        left = np.array([not reason for reason in paths.refused]) & np.isfinite(paths.throughput)
        left[list(known)] = False
        apart = np.abs(np.log(paths.throughput / self.cases.numbers[:, 3]))
        while len(known) < most:
            check = len(known) >= most - even
            unknown = np.where(left, bounds(self.cases, paths, known).unknown, 0.0)
            unknown[unknown < KNOWN] = 0.0
            if check:
                unknown = np.sign(unknown)
            chosen: list[int] = []
            end = most if check else most - even
            for _ in range(end - len(known) if check else min(AT_A_TIME, end - len(known))):
                if not unknown.any():
                    break
                drawn = rng.choice(len(unknown), 1 if check else DRAWN, p=unknown / unknown.sum())
                one = int(drawn[np.argmin(apart[drawn])])
                chosen.append(one)
                unknown[one] = 0.0
            if not chosen:
                return known, checks
            checks += chosen if check else []
            known |= dict(zip(chosen, self._all([self.cases.one(i) for i in chosen], all_of_it=True)))
            left[chosen] = False
        return known, checks

    def kept(self) -> dict[int, Solved]:
        """Return what the store has of the cases from another table."""
        kept = dict(self.store.others())
        if not kept:
            return {}
        numbers = {self.cases.one(i): i for i in range(len(self.cases))}
        return {numbers[case]: answers for case, answers in kept.items() if case in numbers}

    def _all(self, cases: list[Case], *, all_of_it: bool) -> list[Solved]:
        """Return the answers of some cases, each kept as soon as it is there."""
        work = partial(solve, question=self.question, all_of_it=all_of_it)

        def kept(case: Case) -> Solved | None:
            found = self.store.get(case)
            return None if found is None or (all_of_it and not found.whole) else found

        def one(case: Case) -> Solved:
            found = kept(case)
            if found is None:
                found = work(case)
                self.store.put(case, found)
            if all_of_it:
                self.step()
            return found

        if self.client is not None:
            for case, found in on_cluster(self.client, work, {case: (case,) for case in cases if not kept(case)}):
                self.store.put(case, found)
        with one_thread("scores"):
            return on_cores(one, cases)

"""Storm through stormpy: long-run averages of the embedded chain, f as a ratio of two rewards.

Writing and reading the model is not timed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import stormpy
from numpy.typing import NDArray

from .. import cases
from ..chain import EmbeddedLive, embedded_live, late_fraction
from ..outcome import Outcome

Floats = NDArray[np.float64]


def small(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """A few thousand states."""
    yield long_run(embedded_live(cases.live_small(quick)))


def medium(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """The same stream, 20,000 states."""
    yield long_run(embedded_live(cases.live_small(quick), 99 if quick else 399))


def large(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """The full case."""
    yield long_run(embedded_live(cases.live_curve(quick)))


def long_run(chain: EmbeddedLive) -> Outcome:
    """Let Storm compute f for the one startup delay: late packets over packets due, in the long run."""
    case = chain.case
    levels = np.eye(chain.rounds.shape[0])
    late_at_level = np.array([late_fraction(one, case, np.array(case.delay)) for one in levels])
    rewards = {"late": chain.rounds.T @ late_at_level, "rounds": chain.rounds.T @ np.ones(len(levels))}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chain.drn"
        write_drn(file, chain, rewards)
        model = stormpy.build_model_from_drn(str(file))
    values, start = {}, time.perf_counter()
    for name in rewards:
        (formula,) = stormpy.parse_properties(f'R{{"{name}"}}=? [ LRA ]')
        checked = stormpy.model_checking(model, formula)
        value = getattr(checked, "get_value", None) or checked.at  # stormpy 2 and 1
        values[name] = value(model.initial_states[0])
    seconds = time.perf_counter() - start
    return Outcome(
        [seconds],
        {"f at one delay": np.array([values["late"] / values["rounds"]])},
        method=f"Storm, {chain.size} states",
        states=chain.size,
        claimed="relative 1e-6 (its default)",
        note=f"one startup delay; chain cut at a backlog of {len(levels) - 1} packets",
    )


def write_drn(file: Path, chain: EmbeddedLive, rewards: dict[str, Floats]) -> None:
    """Write the chain with its state rewards in Storm's explicit format."""
    matrix, size = chain.matrix, chain.size
    columns, values, ends = matrix.indices.tolist(), matrix.data.tolist(), matrix.indptr.tolist()
    rewarded = np.column_stack(list(rewards.values())).tolist()
    with file.open("w", encoding="utf-8") as out:
        out.write(f"@type: DTMC\n@parameters\n\n@reward_models\n{' '.join(rewards)}\n")
        out.write(f"@nr_states\n{size}\n@nr_choices\n{size}\n@model\n")
        for state in range(size):
            name = " init" if state == chain.start else ""
            out.write(f"state {state} [{', '.join(map(repr, rewarded[state]))}]{name}\n\taction 0\n")
            row = slice(ends[state], ends[state + 1])
            out.writelines(f"\t\t{j} : {p!r}\n" for j, p in zip(columns[row], values[row]))

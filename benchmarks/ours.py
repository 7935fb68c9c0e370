"""Everything that tcpstream is timed on.

No repetition repeats the settings of another: the loss rate moves by some 1e-12 of itself, so that nothing that is
kept between calls can answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

import tcpstream
from tcpstream import Path

from . import cases
from .outcome import Outcome, timed


def varied(path: Path, repetition: int) -> Path:
    """Return the path with a loss rate that no earlier repetition had."""
    values = {one.name: getattr(path, one.name) for one in fields(path) if one.init and one.name != "rto"}
    return Path(**{"sender": "classic"} | values | {"loss": path.loss * (1 - 2e-12 * repetition)})


def stored(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Solve the whole table of f and P_i."""
    table = cases.stored_table(quick)

    def work(repetition: int) -> tuple[Any, Any, float]:
        path = varied(table.path, repetition)
        solved = tcpstream.stored_many([(path, video) for video in table.videos], horizon="paper")
        f = np.array([one.late_fraction(table.delays) for one in solved])
        P = np.array([[one.late_probability_per_round(delay) for delay in table.delays] for one in solved])
        return f, P, max(one.error_bound for one in solved)

    seconds, (f, P, bound) = timed(work)
    yield Outcome(seconds, {"f": f, "P": P}, claimed=f"certified {bound:.0e}")


def live(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Solve a live stream for its whole curve."""
    yield _live(cases.live_curve(quick))


def live_small(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Solve the stream that others can do."""
    yield _live(cases.live_small(quick))


def near_capacity(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Solve a live stream at a load of 0.98."""
    yield _live(cases.near_capacity(quick))


def _live(case: cases.LiveCurve) -> Outcome:
    def work(repetition: int) -> Any:
        solution = tcpstream.live(varied(case.path, repetition), case.video, accuracy="exact")
        return solution, solution.late_fraction(case.delays)

    seconds, (solution, f) = timed(work)
    (backlog,) = solution.backlogs
    law = backlog.pmf
    ahead = int(case.video.packet_rate * case.delay * backlog.lattice.steps_per_packet + 1e-9)
    answer = {
        "f": f,
        "f at one delay": np.atleast_1d(solution.late_fraction(case.delay)),
        "late at one delay": np.atleast_1d(law[ahead + 1 :].sum()),
    }
    load = case.video.packet_rate / tcpstream.throughput(case.path)
    return Outcome(
        seconds,
        answer,
        claimed=f"certified {solution.error_bound:.0e}, residual {backlog.residual:.0e}",
        note=f"load {load:.3f}",
        figures={"error_bound": solution.error_bound, "residual": backlog.residual, "levels": len(law)},
    )


def high_rate(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Solve a stream of 25 Mbit/s: f at some delays, alpha, required delay."""
    path, video = cases.high_rate(quick)

    def work(repetition: int) -> tuple[Any, Any, Any, float]:
        solution = tcpstream.stored(varied(path, repetition), video)
        f = solution.late_fraction([1.0, 2.0, 4.0, 8.0])
        required = solution.required_delay()
        return f, solution.no_late_probability(required), required, solution.error_bound

    seconds, (f, alpha, required, bound) = timed(work, most=3)
    yield Outcome(
        seconds,
        {"f": np.asarray(f), "alpha": np.atleast_1d(alpha), "required": np.atleast_1d(required)},
        claimed=f"certified {bound:.0e}",
        note=f"f, alpha and required delay ({required:.2f} s); T/mu = "
        f"{tcpstream.throughput(path) / video.packet_rate:.3f}, W_max = {path.max_window}",
    )


def figures(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Compute the required startup delays of Figures 10 and 11, on all cores."""
    panels = cases.figures(quick)
    total = 0.0
    for name, settings in panels.items():
        solve: Any = tcpstream.live_many if name.startswith("10") else tcpstream.stored_many

        def work(repetition: int, settings: Any = settings, solve: Any = solve) -> list[float]:
            solved = solve([(varied(path, repetition), video) for path, video in settings])
            return [one.required_delay(1e-4) for one in solved]

        if not quick:
            work(99, settings[:2])  # compiles, and starts what works in parallel
        seconds, delays = timed(work, most=1, warm=False)
        total += seconds[0]
        yield Outcome(seconds, {name: np.array(delays)}, method=f"tcpstream, {name}", note=f"{len(settings)} solves")
    yield Outcome([total], method="tcpstream", note="all panels, two cores allowed")


def sweeps(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Sweep a grid, stored and live, on all cores."""
    from tcpstream import explore  # loads pandas, which no other row needs

    for kind in explore.columns.KINDS:
        axes = cases.sweep_axes(quick) | ({"duration": 80} if kind == "stored" else {})
        points = explore.grid(sender="classic", **axes)
        explore.sweep(points.iloc[:1], kind)

        def work(_: int, points: Any = points, kind: str = kind) -> Any:
            return explore.sweep(points, kind)

        seconds, table = timed(work, most=1, warm=False)
        answered = int((table["error"] == "").sum())
        yield Outcome(
            seconds,
            method=f"tcpstream, {kind}",
            note=f"{len(table):,} points, {answered:,} with an answer",
            figures={"points": len(table), "answered": answered},
        )

"""What holds for every answer, whatever the chain: checks without chance. Each gives nothing, or what is wrong."""

# ruff: noqa: ARG001 - checks are called alike

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas

from tcpstream import (
    AccuracyError,
    StoredStreaming,
    explore,
    largest_rate,
    live,
    live_many,
    stored,
    stored_many,
    throughput,
)
from tcpstream.answers.answer import Streaming

from .cases import Case

ROUNDING = 1e-12
"""Of a late fraction, absolute, on top of error bounds."""

NEAR, NEARER = 1e-6, 1e-8
"""Relative changes of R of which the answers are asked; the smaller one where f is steep."""

HIGHER = 1.005
"""More than the largest rate by so much is too much; it is found within 1e-3 of itself."""

COARSE_FROM = 1e-9
"""Late fractions that are compared with those in steps of one packet."""

SMOOTH = 1e-4
"""Relative change of f that one of them may make."""

Floats = Any
Check = Callable[[Case, Any, Floats, Floats], str | None]


def solve(case: Case) -> Streaming:
    """Solve a case."""
    path, video = case.to_path(), case.to_video()
    if case.kind == "stored":
        return stored(path, video, horizon=case.horizon, quantum=case.quantum)
    return live(path, video, accuracy="exact")


def relative(result: Any, delays: Floats) -> Floats:
    """Return the relative error that a result states of f at each delay, on top of its error bound."""
    of_lattice = getattr(result, "lattice_error", 0.0)
    if callable(of_lattice):
        of_lattice = of_lattice(delays)
    return np.zeros(np.shape(delays)) + of_lattice + getattr(result, "quantum_error", 0.0)


def apart(
    result: Any, delays: Floats, again: Any, others: Floats | None = None, share: float = 0.0, more: Floats = 0.0
) -> str | None:
    """Say where two results, the second at other delays, differ by more than stated, a share of themselves, `more`."""
    others = delays if others is None else others
    f, other = np.asarray(result.late_fraction(delays)), np.asarray(again.late_fraction(others))
    allowed = result.error_bound + again.error_bound + ROUNDING + more
    allowed = allowed + relative(result, delays) * f + relative(again, others) * other + share * np.maximum(f, other)
    bad = np.flatnonzero(~(np.abs(f - other) <= allowed))
    return f"{f[bad[0]]:.9g} and {other[bad[0]]:.9g} at {delays[bad[0]]:.9g} s" if len(bad) else None


def in_range(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """A fraction lies between 0 and 1."""
    bad = ~((f >= 0) & (f <= 1 + result.error_bound + ROUNDING))
    return f"f = {f[bad][0]:.9g}" if bad.any() else None


def monotone(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """Who waits longer has no more late packets."""
    taus = np.unique(np.concatenate([delays, np.linspace(0, 2.5 * case.path["rtt"], 11)]))
    late = np.asarray(result.late_fraction(taus))
    stated = relative(result, taus) * late
    rises = np.diff(late) - stated[1:] - stated[:-1] - 2 * result.error_bound - ROUNDING
    bad = np.flatnonzero(rises > 0)
    if len(bad) == 0:
        return None
    k = bad[0]
    return f"f rises from {late[k]:.12g} to {late[k + 1]:.12g} at {taus[k + 1]:.9g} s"


def as_json(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """What is written as JSON is what was answered."""
    some = delays[[0, -1]]
    read = json.loads(json.dumps(result.to_dict(some), allow_nan=False))
    return None if read["late_fraction"] == f[[0, -1]].tolist() else f"JSON has {read['late_fraction']}, not {f}"


def one_of_many(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """Solved with others, each is as by itself."""
    other = replace(case, video=case.video | ({} if "curve" in case.video else {"packet_rate": _slower(case)}))
    pairs = [(one.to_path(), one.to_video()) for one in (other, case)]
    if case.kind == "stored":
        _, again = stored_many(pairs, horizon=case.horizon, quantum=getattr(result, "quantum", None))
        return apart(result, delays, again)
    _, stream = live_many(pairs, accuracy="exact")
    return apart(result, delays, stream)


def in_a_sweep(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """A row of a sweep is what was answered."""
    if "curve" in case.video or case.horizon == "paper" or case.quantum is not None:
        return None  # no columns of a sweep
    some = delays[[0, -1]]
    row = {name: value for name, value in (_fixed(case) | case.video).items() if value is not None}
    points = pandas.DataFrame([row | {"delay": tau} for tau in some.tolist()])
    late = explore.sweep(points, "stored" if case.kind == "stored" else "live")["late_fraction"]
    allowed = 2 * (result.error_bound + ROUNDING) + relative(result, some) * f[[0, -1]]
    bad = ~(np.abs(late.to_numpy() - f[[0, -1]]) <= allowed)
    return f"a sweep has {late.tolist()}, not {f[[0, -1]].tolist()}" if bad.any() else None


def _slower(case: Case) -> float:
    return float(case.video["packet_rate"]) / 2


def scaled(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """In another unit of time everything is the same; but for CUBIC, which grows by the second."""
    if case.path["tcp"] == "cubic":
        return None
    s = 4.0
    path, video = dict(case.path), dict(case.video)
    path["rtt"] *= s
    if "bottleneck" in path:
        path["bottleneck"] /= s
    if "curve" in video:
        times, packets = video["curve"]
        video["curve"] = (tuple(t * s for t in times), packets)
    else:
        video["packet_rate"] /= s
    if "duration" in video:
        video["duration"] *= s
    again = solve(replace(case, path=path, video=video))
    return apart(result, delays, again, delays * s)


def inverse(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """The delay for a late fraction has it, and no shorter one does."""
    R = case.path["rtt"]
    for target in (0.05, 1e-3):
        if target < 20 * result.error_bound:
            continue
        tau = result.required_delay(target)
        if float(result.late_fraction(tau)) > target:
            return f"f({tau:.9g}) = {float(result.late_fraction(tau)):.9g} misses the target {target:g}"
        shorter = tau - 1e-6 * (tau + R) - 1e-8
        low = target * (1 - 1e-9 - 2 * float(relative(result, tau))) - 2 * result.error_bound
        if shorter > 0 and float(result.late_fraction(shorter)) < low:
            before = float(result.late_fraction(shorter))
            return f"required_delay({target:g}) = {tau:.9g}, but f({shorter:.9g}) = {before:.9g} meets it"
    return None


def theorem_1(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """Theorem 1: prod (1 - P_i) <= alpha; and f <= 1 - alpha <= sum P_i."""
    if not isinstance(result, StoredStreaming):
        return None
    some = delays[[len(delays) // 2, -1]]
    alpha, bound = (np.asarray(g(some)) for g in (result.no_late_probability, result.no_late_lower_bound))
    least = np.asarray(result.late_fraction(some))
    P = np.array([result.late_probability_per_round(tau).sum() for tau in some])
    slack = 1e-9 + result.error_bound * case_rounds(case) + 2 * result.quantum_error * (1 - np.minimum(alpha, bound))
    for tau, a, b, late, most in zip(some, alpha, bound, least, P):
        if b > a + slack.max():
            return f"Theorem 1's bound {b:.9g} is above alpha {a:.9g} at {tau:.9g} s"
        if late > 1 - a + slack.max():
            return f"f = {late:.9g} above 1 - alpha = {1 - a:.9g} at {tau:.9g} s"
        if 1 - a > most + slack.max():
            return f"1 - alpha = {1 - a:.9g} above the sum of P_i, {most:.9g}, at {tau:.9g} s"
    return None


def case_rounds(case: Case) -> float:
    """Return the rounds of a finite video."""
    return float(case.to_video().duration or 0.0) / float(case.path["rtt"])


def continuous(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """A round trip time of a millionth more or less changes next to nothing."""
    if case.path["tcp"] == "cubic" or case.kind == "endless" or case.application_limited:
        return None
    if "bottleneck" in case.path:
        return None  # whole packets, floor(C R)
    if case.horizon == "paper":
        return None  # whole rounds, floor(duration / R)
    rounds = case_rounds(case) + delays / case.path["rtt"]  # packets move over ends of rounds by so many times m
    for sign in (-1, 1):
        wrong = None
        for near in (NEAR, NEARER):
            again = solve(replace(case, path=case.path | {"rtt": case.path["rtt"] * (1 + sign * near)}))
            wrong = apart(result, delays, again, share=SMOOTH, more=near * rounds)
            if not wrong:
                break
        if wrong:
            return f"f at R and R (1 {sign * NEARER:+.0e}): {wrong}"
    return None


def threads(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """Several threads that ask one result get what one gets, bit for bit."""
    shared = solve(case)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: float(shared.late_fraction(delays[k])), np.tile(np.arange(len(delays)), 3)))
    expected = np.tile([float(solve(case).late_fraction(tau)) for tau in delays], 3)
    return None if np.array_equal(found, expected) else f"threads {found[: len(delays)]}, one {expected[: len(delays)]}"


def coarse(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """Steps of several packets are within their stated error of steps of one."""
    if case.kind != "stored" or result.quantum == 1:
        return None
    exact = solve(replace(case, quantum=1))
    seen = delays[np.asarray(exact.late_fraction(delays)) >= COARSE_FROM]
    return apart(result, seen, exact)


def fastest(case: Case, result: Any, delays: Floats, f: Floats) -> str | None:
    """The largest rate for a target meets it, and one a little higher does not, or is at the end of the search."""
    k = int(np.argmin(np.abs(np.log(np.maximum(f, 1e-300)) - math.log(1e-2))))
    if not 1e-4 < f[k] < 0.3 or result.load > 0.9 or relative(result, delays)[k] > 0:
        return None
    path, duration, target, tau = case.to_path(), case.video.get("duration"), float(f[k]), float(delays[k])
    try:
        rate = largest_rate(path, delay=tau, duration=duration, target=target)
    except AccuracyError:
        return None
    video = {key: value for key, value in case.video.items() if key == "duration"}
    late = []
    for factor in (1.0, HIGHER):
        one = replace(case, path=_fixed(case), video=video | {"packet_rate": rate * factor}, application_limited=False)
        again = solve(one)
        late.append((float(again.late_fraction(tau)), again.error_bound + ROUNDING, float(relative(again, tau))))
    (at, error, share), (above, *_) = late
    if at > target * (1 + share) + error:
        return f"f = {at:.9g} at largest_rate {rate:.9g} for f = {target:.9g} at {tau:.9g} s"
    if above < target * (1 - 1e-6 - late[1][2]) - error and rate < 0.94 * throughput(path):
        return f"f = {above:.9g} a little above largest_rate {rate:.9g} for f = {target:.9g} at {tau:.9g} s"
    return None


def _fixed(case: Case) -> dict[str, Any]:
    """Return the arguments of the path, its largest window written down if the stream has set it."""
    if not case.application_limited:
        return case.path
    path = case.to_path()
    return case.path | {"max_window": path.max_window, "initial_window": path.initial_window}


ALWAYS: dict[str, Check] = {"range": in_range, "monotone": monotone, "JSON": as_json}
SOMETIMES: dict[str, Check] = {
    "many": one_of_many,
    "sweep": in_a_sweep,
    "scale": scaled,
    "inverse": inverse,
    "Theorem 1": theorem_1,
    "continuity": continuous,
    "threads": threads,
    "coarse": coarse,
    "largest rate": fastest,
}

LEFT_OUT: set[str] = set()
"""Names of those that are not checked."""

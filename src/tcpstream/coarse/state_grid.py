"""Which states are followed on a coarse lattice, and which of them stand for the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.weights import lagrange
from ..tcp.chain import Chain
from ..tcp.independent import IndependentChain
from ..tcp.varying_chain import VaryingChain
from ..tcp.window_chain import WindowChain
from .in_moments import in_moments
from .ways_out import with_ways_out

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RARE = 1e-13
"""Probability of a state, at any time, below which another one stands for it; nothing does for a rare timeout."""

SELDOM = 1e-8
"""The same far along a line, where windows are large, and help."""

LARGE = 2.0
"""Times the mean window from which on windows of single states are large: in slow start, and its repairs."""

GAP = 4
"""States that nothing visits, in steps, between those of a line which do not stand for each other across them."""

LOOKED_AT = 12
"""States of a line whose mean window orders it among others."""

ORDER = 4
"""Points of a line that stand for what lies between them."""

FAR = 1.5
"""Ratio of the windows of neighbouring lines from which on two of them stand for one between: four overshoot."""

SMALL = 8.0
"""Windows up to which each line of CUBIC is followed [packets], at least."""

YOUNG = 0.5
"""Part of the age of a state by which the next one of its line is older, up to a step, where lines lie beside each
other: those of CUBIC are steep where they begin."""


@dataclass(frozen=True)
class Grid:
    """States that are followed, and how they stand for others.

    Attributes
    ----------
    states : (n,) int array
        Of the chain.
    starts, points, weights : (S + 1,), (k,), (k,) arrays
        State s of the chain is stood for by `points` (indices in `states`) ``starts[s] ..``, with these weights, which
        sum to 1 and keep moments along a line.
    sent, ages : (n,) arrays
        Packets and rounds from the beginning of its line to each of them.
    curved : bool
        Whether lines lie beside each other, as those of CUBIC. Its windows are rounded: what stands for a state does
        not deliver quite as much.
    """

    states: Ints
    sent: Floats
    ages: Ints
    starts: Ints
    points: Ints
    weights: Floats
    curved: bool


def grid(chain: Chain, step: int, ratio: float, small: float = SMALL, further: float = 0.0) -> Grid:
    """Return the states that are followed in steps of so many rounds.

    Parameters
    ----------
    chain : Chain
    step : int
        Rounds.
    ratio : float
        Of the first windows of neighbouring lines that are followed, 1 for all of them.
    small : float
        First windows up to which all lines are followed [packets].
    further : float
        Part of the age of a state by which the next one of its line is older, where this is more than `step`.
    """
    known = in_moments(chain)
    S, most = known.outcomes.n_states, known.most
    usual = np.maximum(chain.stationary, most) if chain.n_states == S else most
    usual = with_ways_out(known.outcomes, usual, RARE)
    found = _grouped(chain, S)
    return _on_lines(found.groups, usual, step, ratio, max(small, SMALL), found.windows, found.large, further)


def side_by_side(chain: Chain) -> bool:
    """Return whether lines of a chain lie beside each other, as those of CUBIC."""
    found = _grouped(chain, in_moments(chain).outcomes.n_states)
    return any(len(family) > 1 for group in found.groups for family in _families(group, _level(group, found.windows)))


class _Grouped(NamedTuple):
    """Lines of states, of which those of a group may stand for each other; the window of each state, and large ones."""

    groups: list[list[Ints]]
    windows: Floats
    large: float


@singledispatch
def _grouped(chain: Chain, n_states: int) -> _Grouped:  # noqa: ARG001
    """Return the lines of a chain whose outcomes have so many states: of one that is written out, each state alone."""
    return _Grouped([[np.array([s]) for s in range(n_states)]], np.ones(n_states), math.inf)


@_grouped.register
def _(chain: WindowChain, n_states: int) -> _Grouped:  # noqa: ARG001
    windows = _windows(chain)
    return _Grouped([_lines(chain)], windows, LARGE * float(np.maximum(chain.stationary, 0.0) @ windows))


@_grouped.register
def _(chain: VaryingChain, n_states: int) -> _Grouped:
    groups = [[line + first for line in _lines(part)] for first, part in zip(chain.offsets.tolist(), chain.parts)]
    if chain.known_begin is None:
        groups.append([np.array([chain.first_state])])
    windows = np.concatenate([*(_windows(part) for part in chain.parts), np.ones(n_states - int(chain.offsets[-1]))])
    return _Grouped(groups, windows, math.inf)


def _windows(chain: WindowChain) -> Floats:
    return np.append(chain.graph.windows, np.ones(chain.n_states - chain.graph.size)).astype(np.float64)


def _lines(chain: WindowChain) -> list[Ints]:
    """Return the states of a chain in lines, on which they follow each other; those of timeouts are alone."""
    graph = chain.graph
    S0, b = graph.size, graph.rounds_per_increase
    follows = graph.grow_to[:-1] == np.arange(1, S0)
    breaks = np.flatnonzero(~follows | (np.arange(S0 - 1) < graph.n_preamble)) + 1
    first_of = np.append(True, ~follows)
    repairs = np.zeros(S0 + 1, dtype=np.bool_)
    if isinstance(chain, IndependentChain):
        targets = chain.recover_to[chain.recover_to >= 0]
        repairs[targets] = first_of[targets]
    breaks = np.append(breaks, np.flatnonzero(repairs[:-1]) + 1)
    last = np.arange(S0 - b, S0) if graph.overflow_state is None else np.arange(0)
    breaks = np.unique(np.concatenate([breaks, last]))
    lines = np.split(np.arange(S0), breaks[(breaks > 0) & (breaks < S0)])
    return lines + [np.array([s]) for s in range(S0, chain.n_states)]


def _on_lines(
    groups: list[list[Ints]], usual: Floats, step: int, ratio: float, small: float, windows: Floats, large: float,
    further: float,
) -> Grid:  # fmt: skip
    """Return the grid of lines, of which those of a group may stand for each other.

    Single states with windows of `large` packets or more are followed where they are visited as often as those far
    along a line.
    """
    lines = [line for group in groups for line in group]
    level = _level(lines, windows)
    families, first = [], 0
    for group in groups:
        families += [[first + i for i in one] for one in _families(group, level[first : first + len(group)])]
        first += len(group)
    states: list[int] = []
    sent: list[float] = []
    ages: list[int] = []
    kept_at: dict[int, list[tuple[int, Ints]]] = {}  # first point, and the ages of all, by line and run
    kept_lines: list[list[int]] = []
    for family in families:
        used = [i for i in family if usual[lines[i]].max() > _rare(lines[i], windows, large)]
        chosen = _chosen(used, [float(level[i]) for i in used], ratio, small)
        kept_lines.append(chosen)
        steep = len(family) > 1
        for i in chosen:
            line = lines[i]
            kept_at[i] = []
            for begin, end in _runs(usual[line], step, further):
                at = _ages(begin, end, min(end + step, len(line)), step, steep, further)
                kept_at[i].append((len(states), at))
                states.extend(line[at].tolist())
                ages.extend(at.tolist())
                sent.extend(np.append(0.0, np.cumsum(windows[line]))[at].tolist())
    around = _around(families, kept_lines, level, ORDER if ratio < FAR else 2, large)
    counts: list[Ints] = []
    where: list[Ints] = []
    weights: list[Floats] = []
    for i, line in enumerate(lines):
        near: list[Any] = []
        shares: list[Any] = []
        for other, share in around[i]:
            k, w = _along_runs(len(line), kept_at[other], step, further > 0)
            near.append(k)
            shares.append(share * w)
        which, share_of = (np.concatenate(x, axis=1) if x else np.zeros((len(line), 0)) for x in (near, shares))
        used = share_of != 0
        counts.append(used.sum(axis=1))
        where.append(which[used].astype(np.int64))
        weights.append(share_of[used])
    starts = np.append(0, np.cumsum(np.concatenate(counts)))
    return Grid(
        np.array(states), np.array(sent), np.array(ages), starts, np.concatenate(where), np.concatenate(weights),
        any(len(family) > 1 for family in families),
    )  # fmt: skip


def _level(lines: list[Ints], windows: Floats) -> Floats:
    """Return about the windows with which lines begin."""
    return np.array([float(windows[line[:LOOKED_AT]].mean()) for line in lines])


def _families(lines: list[Ints], level: Floats) -> list[list[int]]:
    """Return lines in groups of neighbours, in which the windows increase."""
    families: list[list[int]] = []
    last: dict[bool, list[int]] = {}
    for i, line in enumerate(lines):
        long = len(line) > 1
        family = last.get(long)
        if family is not None and long:
            before = level[family[-1]]
            if before < level[i] <= max(before + 2, 1.3 * before):
                family.append(i)
                continue
        last[long] = [i]
        families.append(last[long])
    return families


def _chosen(used: list[int], first: list[float], ratio: float, small: float) -> list[int]:
    kept: list[int] = []
    at = 0.0
    for i, w in zip(used, first):
        if not kept or w <= small or w >= at * ratio * 0.999 or i == used[-1]:
            kept.append(i)
            at = w
    return kept


def _around(
    families: list[list[int]], kept: list[list[int]], level: Floats, order: int, large: float
) -> dict[int, list[tuple[int, float]]]:
    """Return the followed lines that stand for each line, with weights.

    For a single state of a large window that is not followed the next smaller one stands.
    """
    around: dict[int, list[tuple[int, float]]] = {}
    smaller: list[tuple[int, float]] = []
    for family, chosen in zip(families, kept):
        for i in family:
            around[i] = _neighbours(i, chosen, level, order)
        if len(family) == 1 and level[family[0]] >= large:
            around[family[0]] = smaller = around[family[0]] or smaller
    return around


def _neighbours(i: int, chosen: list[int], level: Floats, order: int) -> list[tuple[int, float]]:
    """Return the followed lines that stand for a line, with weights."""
    if not chosen:
        return []
    if i in chosen or len(chosen) == 1:
        return [(i if i in chosen else chosen[0], 1.0)]
    x = np.log(level[i])
    nodes = np.log(level[chosen])
    x = float(np.clip(x, nodes[0], nodes[-1]))
    count = min(order, len(chosen))
    place = float(np.interp(x, nodes, np.arange(len(nodes))))
    first = int(np.clip(math.ceil(place - count / 2), 0, len(chosen) - count))
    weights = lagrange(nodes[np.newaxis, first : first + count], np.array([x]))[0]
    return list(zip(chosen[first : first + count], weights.tolist()))


def _rare(line: Ints, windows: Floats, large: float) -> float:
    """Return the probability of the states of a line from which on it is followed."""
    return SELDOM if len(line) == 1 and windows[line[0]] >= large else RARE


def _runs(usual: Floats, step: int, further: float) -> list[tuple[int, int]]:
    """Return the first and the last ages of a line, run by run, between which it is visited.

    Where slow start leads far up a line there is nothing between. The first run begins with the line.
    """
    at = np.append(0, np.flatnonzero(usual > min(SELDOM, float(usual.max()) / 2)))
    ends = np.flatnonzero(np.diff(at) > np.maximum(GAP * step, further * at[1:]))
    return list(zip(np.append(0, at[ends + 1]).tolist(), np.append(at[ends], at[-1]).tolist()))


def _ages(begin: int, end: int, beyond: int, step: int, steep: bool, further: float) -> Ints:
    """Return the ages of the states that are followed from `begin` to `end`, and one more that is below `beyond`.

    They are a step apart, fewer rounds at the beginning of a `steep` line, and more where `further` of an age is more.
    """
    ages = [begin]
    while ages[-1] < end:
        near = max(1, min(step, int(YOUNG * ages[-1]))) if steep else step
        if ages[-1] + near >= beyond:
            break
        ages.append(min(ages[-1] + max(near, int(further * ages[-1])), beyond - 1))
    return np.array(ages)


def _along_runs(size: int, runs: list[tuple[int, Ints]], step: int, apart: bool) -> tuple[Ints, Floats]:
    """Return the points of a line that stand for `size` states, of it or of one beside it, and weights; see `_along`.

    For states that come after a run, where none is followed, its end stands, and the begin of the next one: else the
    end would lead to itself, and never on.
    """
    near, weights = np.zeros((size, ORDER), dtype=np.int64), np.zeros((size, ORDER))
    begins = [min(int(at[0]), size) for _, at in runs] + [size]
    for i, (offset, at) in enumerate(runs):
        begin, last = begins[i : i + 2]
        k, w = _along(np.arange(begin, last) / step, at / step, apart)
        near[begin:last, : k.shape[1]], weights[begin:last, : w.shape[1]] = offset + k, w
        if last < size:
            ages = np.arange(max(int(at[-1]), begin), last)
            share = (ages - at[-1]) / (last - at[-1])
            near[ages], weights[ages] = 0, 0.0
            near[ages, :2] = offset + len(at) - 1, runs[i + 1][0]
            weights[ages, :2] = np.column_stack([1 - share, share])
    return near, weights


def _along(x: Floats, nodes: Floats, apart: bool) -> tuple[Ints, Floats]:
    """Return the points of a line that stand for positions on it, (n, m) arrays, and their weights.

    Where points lie `apart`, the last two alone stand for what lies between them: a last state whose weight for itself
    is above 1 would make values grow.
    """
    x, size = np.minimum(x, nodes[-1]), len(nodes)
    count = min(ORDER, size)
    place: Floats = np.interp(x, nodes, np.arange(size))
    nearest = np.rint(place)
    first = np.ceil(np.where(np.abs(place - nearest) < 1e-12, nearest, place) - count / 2)
    at = np.clip(first, 0, size - count).astype(np.int64)[:, np.newaxis] + np.arange(count)
    weights = lagrange(nodes[at], x)
    if apart and count > 2:
        end = x > nodes[-2]
        share = (x[end] - nodes[-2]) / (nodes[-1] - nodes[-2])
        weights[end] = np.column_stack([np.zeros((len(share), count - 2)), 1 - share, share])
    return at, weights

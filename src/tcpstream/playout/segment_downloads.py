"""How long a segment takes, and which window is left, by the window at its request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import AccuracyError
from ..kernels.last_round import Ends
from ..kernels.transfer_times import transfer_times
from ..system import watch
from ..system.threads import on_cores
from ..tcp.idle_restart import RestartingChain
from ..tcp.independent import IndependentChain
from ..tcp.line_restarts import LineRestarts
from .segment_points import Points, points_of
from .transfer_moves import last_round, transfer_moves
from .transfers import NEGLIGIBLE, ROOM, SELDOM, quantum_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REACHED = 1e-8
"""Probability, at the request of any segment, below which a window is no point of its own."""

SEGMENTS = 60
"""That are looked at for that, with any idle times between them."""

MOST_POINTS = 400
"""That are followed."""

MOST_ROUNDS = 100_000
"""Of a segment."""

MOST_CHANCES = 200_000_000
"""From one window to another in some time: 1.5 GiB."""


@dataclass(frozen=True)
class Downloads:
    """Segments fetched one after the other, by points: what windows are known as between them.

    Attributes
    ----------
    chance : (rounds, n, n) array
        From one point at the request to another at the end: that everything arrives in the first round, the second,
        and so on.
    after_idle : list of (n, n) arrays
        From the end to the next request, by how many timers go by in between.
    first : int
        Point of a new connection.
    left_out : float
        Probability of a segment that is in none of them, at most.
    """

    chance: Floats
    after_idle: list[Floats]
    first: int
    left_out: float


def downloads(
    chain: IndependentChain, restarts: RestartingChain | LineRestarts | None, packets: int, quanta: int, ratio: float
) -> Downloads:
    """Return how long segments take.

    Parameters
    ----------
    chain : IndependentChain
    restarts : RestartingChain or LineRestarts, optional
        The same with what idle times lead to; without, they change nothing.
    packets : int
        Of a segment.
    quanta : int
        As of `transfer_rounds`.
    ratio : float
        Of neighbouring windows of congestion avoidance that are points.

    Raises
    ------
    AccuracyError
        For too many points, segments of too many rounds, and where both take too much memory.
    """
    on = chain if restarts is None else restarts.chain
    points = points_of(on, ratio)
    known = points.known
    idle = _idle(restarts, points)
    goal = min(quanta, packets)
    room = 0 if goal == packets else ROOM
    quantum = quantum_of(packets, goal)
    moves, by_packet = transfer_moves(on, quantum), transfer_moves(on, 1.0)
    last = last_round(on, *map(_ends, _after(on, known)))
    P = known.shape[1]

    def one(point: int) -> tuple[Floats, float]:
        watch.at(instead=watch.SHORTER)
        begin = points.states[[point]].toarray()[0]
        law, out = transfer_times(
            room, room + goal, quantum, begin, moves, by_packet, last, P, MOST_ROUNDS, NEGLIGIBLE, SELDOM
        )
        return law, out

    first = int(known[[on.graph.start]].indices[0])
    found: dict[int, tuple[Floats, float]] = {}
    there, left_out = np.eye(1, P, first)[0], 0.0
    for _ in range(SEGMENTS):
        new = [point for point in np.flatnonzero(np.abs(there) > REACHED).tolist() if point not in found]
        if len(found) + len(new) > MOST_POINTS:
            raise AccuracyError(f"segments would be followed from more than {MOST_POINTS} windows: give a max_window")
        found |= dict(zip(new, on_cores(one, new)))
        rounds = max(len(law) for law, _ in found.values())
        if rounds * len(found) ** 2 > MOST_CHANCES:
            raise AccuracyError(
                f"segments take up to {rounds:,} round trips, from {len(found)} windows: more than "
                f"{8 * MOST_CHANCES / 2**30:.2g} GiB of memory; give a smaller max_window, or shorter segments"
            )
        ended = np.sum([there[point] * law.sum(axis=0) for point, (law, _) in found.items()], axis=0)
        left_out = max(left_out, abs(1 - float(ended.sum()) / float(there.sum())))
        there = np.sum([step.T @ ended for step in idle], axis=0) / len(idle) / ended.sum()
    return _of_points(found, idle, first, left_out)


def _of_points(
    found: dict[int, tuple[Floats, float]], idle: list[sparse.csr_array], first: int, left_out: float
) -> Downloads:
    """Return the downloads between the points that are reached."""
    points = sorted(found)
    rounds = max(len(law) for law, _ in found.values())
    chance = np.zeros((rounds, len(points), len(points)))
    for i, point in enumerate(points):
        law = found[point][0][:, points]
        chance[: len(law), i] = law
    whole = chance.sum(axis=(0, 2))
    chance /= whole[:, np.newaxis]
    steps = []
    for step in idle:
        kept = step.toarray()[np.ix_(points, points)]
        sums = kept.sum(axis=1, keepdims=True)
        steps.append(np.where(sums > 0, kept / np.where(sums > 0, sums, 1.0), np.eye(len(points))))
    return Downloads(chance, steps, points.index(first), left_out)


def _after(chain: IndependentChain, known: sparse.csr_array) -> tuple[sparse.csr_array, ...]:
    """Return what states are known as after their last round: as they are, grown, and after losses."""
    graph, n = chain.graph, chain.n_states
    grows = graph.growth
    waits = np.arange(graph.size, n)
    grown = sparse.csr_array(
        (
            np.append(grows.share, np.ones(len(waits))),
            (np.append(grows.from_state, waits), np.append(grows.to_state, waits)),
        ),
        (n, n),
    )
    ways = np.nonzero(chain.recover_share * (chain.recover_to >= 0))
    reduced = sparse.csr_array((chain.recover_share[ways], (ways[0], chain.recover_to[ways])), (n, n))
    return known, grown @ known, reduced @ grown @ known  # the round that repairs is over


def _ends(after: sparse.csr_array) -> Ends:
    return Ends(after.indptr.astype(np.int64), after.indices.astype(np.int64), np.asarray(after.data, dtype=np.float64))


def _idle(restarts: RestartingChain | LineRestarts | None, points: Points) -> list[sparse.csr_array]:
    """Return where idle times lead, from point to point, by the timers that go by; the last one for all longer ones."""
    P, n = points.states.shape
    steps = [sparse.eye_array(P, format="csr")]
    if restarts is None:
        return steps
    for halvings in range(1, restarts.most_halvings + 1):
        targets, shares = restarts.after_idle(halvings)
        rows = np.repeat(np.arange(len(targets)), targets.shape[1])
        moves = sparse.csr_array((shares.ravel(), (rows, targets.ravel())), (n, n))
        steps.append(sparse.csr_array(points.states @ moves @ points.known))
    return steps

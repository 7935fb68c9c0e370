"""Solving for the stationary backlog: epochs until the window has mixed, then Krylov with the slow modes deflated.

What is slow near T/mu = 1 is the backlog's diffusion over long distances. It is taken out by a coarse space: the
current iterate times hat functions of the backlog, with whole-mass restrictions by the same hats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, bicgstab, splu

from .backlog import Backlog
from .errors import AccuracyError
from .tcp.decay import decay_rate
from .tcp.reno import RenoSource

Floats = NDArray[np.float64]

WANTED = 1e-12
"""Error bound that is aimed at."""

ACCEPTED = 1e-9
"""Error bound above which there is no answer."""

VISIBLE_LEVELS = 3
"""Back-off levels that set the decay where it is visible."""

FINE = 8
FINE_WINDOW = 40
"""Lattice steps per round, and in the largest window, that are fine enough where no lattice fits."""

MIXING = 40
"""Plain epochs before the long waves are solved for."""

REFINEMENTS = 6
"""Krylov solves, each for the residual that the one before left."""

LARGEST = 2**24
"""Largest state, in mass values, that is tried."""


@dataclass(frozen=True)
class StationaryBacklog:
    """The stationary law of the backlog at the ends of rounds.

    Attributes
    ----------
    law : (depth + 1,) array
        Probability of a backlog of 0, 1, ... lattice steps.
    stride : int
        Lattice steps per packet.
    on_lattice : bool
        Whether packets per round are a whole number of steps; else each round is spread over three of them.
    residual : float
        Mass that one more epoch moves, per round.
    overflow : float
        Mass that leaves through the deepest backlog, per round.
    error_bound : float
        Bound on the error of a late fraction from both: each unit of either changes lateness at most until the
        backlog has emptied, before and after.
    epochs : int
        Loss epochs computed.
    """

    law: Floats
    stride: int
    on_lattice: bool
    residual: float
    overflow: float
    error_bound: float
    epochs: int


def drain_rounds(source: RenoSource, packets_due: float) -> tuple[float, Floats]:
    """Return the rounds that a packet of backlog takes to drain, and the extra packets behind of each TCP state.

    The extra solves the Poisson equation of delivered packets against the mean rate; states as in
    `RenoSource.tilted`.
    """
    rate = source.packets_per_round
    packets, rounds = source.per_transition
    gain = packets - rate * rounds
    common = int(np.argmax(source.stationary))  # its equation follows from the others
    system = (sparse.eye_array(len(gain)) - source.tilted(0.0, 0.0)).tolil()
    system[common, :] = 0.0
    system[common, common] = 1.0
    gain[common] = 0.0
    bias = splu(system.tocsc()).solve(gain)
    return 1 / (rate - packets_due), bias.max() - bias


def solve(source: RenoSource, packets_due: float) -> StationaryBacklog:
    """Solve for the stationary backlog, as deep as the error bound needs.

    Parameters
    ----------
    source : RenoSource
        Must deliver more than `packets_due` per round.
    packets_due : float
        m, packets generated per round.

    Raises
    ------
    AccuracyError
        When the error bound stays above 1e-9, or the state would need more than 2^26 values.
    """
    stride = lattice(packets_due, source.max_window)
    visible = decay_rate(source, packets_due, VISIBLE_LEVELS)
    longest_jump = packets_due * max(d for wait in source.backoff_wait for d, _ in wait)
    depth = math.ceil(stride * (20 / visible + 4 * source.max_window + longest_jump))
    rounds_per_packet, behind = drain_rounds(source, packets_due)
    slowest = decay_rate(source, packets_due)
    entries: Floats | None = None
    epochs = 0
    while True:
        _check_size(source, depth)
        backlog = Backlog(source, packets_due, stride, depth)
        levels = np.arange(depth, -1, -1) / stride
        weight = 2 * rounds_per_packet * (levels + behind[backlog.entered][:, np.newaxis])
        deepest = 2 * rounds_per_packet * (depth / stride + longest_jump + behind.max())
        entries = _start(backlog, visible) if entries is None else _deepened(entries, backlog, slowest)
        entries, converged = _mix(backlog, entries, weight)
        epochs += MIXING
        if backlog.overflow(backlog.epoch(entries)) * deepest > WANTED:
            depth *= 2
            continue
        if not converged:
            entries, used = _refine(backlog, entries, weight)
            epochs += used
        epoch = backlog.epoch(entries)
        law = backlog.law(epoch)[::-1]
        rounds = law.sum()
        overflow = backlog.overflow(epoch) / rounds
        change = np.abs(epoch.entries - entries) / rounds
        error = float((change * weight).sum() + overflow * deepest)
        if overflow * deepest <= WANTED:
            break
        depth *= 2
    if not error <= ACCEPTED:
        raise AccuracyError(
            f"stationary backlog: error bound {error:.1e} exceeds {ACCEPTED:.0e} after {epochs} loss epochs"
        )
    return StationaryBacklog(
        law=law / rounds,
        stride=stride,
        on_lattice=bool(backlog.spread[1] == 1.0),
        residual=float(change.sum()),
        overflow=overflow,
        error_bound=error,
        epochs=epochs,
    )


def _check_size(source: RenoSource, depth: int) -> None:
    """Refuse a state that is too large before it is made."""
    cells = source.size * (depth + 1)
    if cells > LARGEST:
        raise AccuracyError(
            f"the backlog needs {source.size} TCP states x {depth + 1} levels = {cells:.2g} values, more than "
            f"{LARGEST:.2g}: T/mu is too near 1, the timeouts are too long, the largest window is too large, or the "
            f"playback rate is too far below a packet a round trip"
        )


def lattice(packets_due: float, max_window: int) -> int:
    """Return the lattice steps per packet: the least that makes `packets_due` whole, or else fine enough.

    Fine means at least `FINE` steps a round, and `FINE_WINDOW` steps in the largest window: small windows leave steps
    unsmoothed, and cost little.
    """
    fine = max(math.ceil(FINE / packets_due), math.ceil(FINE_WINDOW / max_window))
    for stride in range(1, max(4, 2 * fine) + 1):
        steps = packets_due * stride
        if round(steps) >= 1 and abs(steps - round(steps)) < 1e-9 * steps:
            return stride
    return max(fine, math.ceil(2.5 / (max_window - packets_due)))


def _start(backlog: Backlog, decay: float) -> Floats:
    """Entries spread geometrically over the backlog."""
    levels = np.arange(backlog.n - 1, -1, -1) / backlog.stride
    entries = np.tile(np.exp(-min(decay, 50.0) * levels), (len(backlog.entered), 1))
    return np.asarray(entries / entries.sum())


def _deepened(entries: Floats, backlog: Backlog, decay: float) -> Floats:
    """The same entries on a deeper lattice, with a tail of the slowest decay."""
    more = backlog.n - entries.shape[1]
    tail = np.exp(-decay * np.arange(more, 0, -1) / backlog.stride)
    entries = np.hstack([np.abs(entries[:, :1]) * tail, entries])
    return np.asarray(entries / entries.sum())


def _mix(backlog: Backlog, entries: Floats, weight: Floats) -> tuple[Floats, bool]:
    """Make plain epochs, in which all but the long waves of the backlog settles; say whether that was enough."""
    error = math.inf
    for _ in range(MIXING):
        following = backlog.epoch(entries).entries
        following /= following.sum()
        error = float((np.abs(following - entries) * weight).sum())
        entries = following
    return entries, error < WANTED


def _refine(backlog: Backlog, entries: Floats, weight: Floats) -> tuple[Floats, int]:
    """Return entries that one epoch reproduces, as far as rounding allows, and the epochs used."""
    shape = entries.shape
    start = entries.ravel().copy()
    used = 0

    def apply(v: Floats) -> Floats:
        nonlocal used
        used += 1
        moved = backlog.epoch(v.reshape(shape)).entries.ravel()
        return np.asarray(v - moved + start * v.sum())

    hats = _hats(backlog)
    basis = [start.reshape(shape) * hat for hat in hats]
    scales = np.array([1 / max(float(vector.sum()), 1e-300) for vector in basis])
    images = np.array([scale * apply(vector.ravel()) for scale, vector in zip(scales, basis)])
    coarse = np.linalg.pinv(hats @ images.reshape(len(hats), *shape).sum(axis=1).T, rcond=1e-13)

    def deflate(residual: Floats) -> Floats:
        along = coarse @ (hats @ residual.reshape(shape).sum(axis=0))
        correction = start.reshape(shape) * ((along * scales) @ hats)
        return np.asarray(residual + correction.ravel() - along @ images)

    # in the scale of the square root of the solution, where rounding is relative to it in the tail too
    root = np.sqrt(np.abs(start) + 1e-30)
    size = (start.size, start.size)
    operator = LinearOperator(size, matvec=lambda v: apply(v * root) / root, dtype=np.float64)
    preconditioner = LinearOperator(size, matvec=lambda v: deflate(v * root) / root, dtype=np.float64)
    best, best_error = entries, math.inf
    solution = start
    for _ in range(REFINEMENTS):
        residual = start - apply(solution)
        correction, _ = bicgstab(operator, residual / root, rtol=1e-6, atol=0.0, maxiter=200, M=preconditioner)
        solution = solution + correction * root
        entries = (solution / solution.sum()).reshape(shape)
        following = backlog.epoch(entries).entries
        used += 1
        error = float((np.abs(following - entries) * weight).sum())
        if error >= best_error / 2:
            break
        best, best_error = entries, error
        if error < WANTED:
            break
    return best, used


def _hats(backlog: Backlog) -> Floats:
    """Hat functions of the backlog, on nodes that lie ever further apart."""
    nodes = [0.0]
    step = 2.0 * backlog.source.max_window * backlog.stride
    while nodes[-1] < backlog.n:
        nodes.append(nodes[-1] + step)
        step *= 1.2
    levels = np.arange(backlog.n - 1, -1, -1, dtype=float)
    return np.array([np.interp(levels, nodes, row) for row in np.eye(len(nodes))])

"""Solving for the stationary backlog: loss epochs, each followed by a correction of the long waves.

An epoch mixes the windows, but moves the backlog only by some windows: what is slow, near T/mu = 1, are long waves of
the backlog. Seen from far they are those of a random walk, one for all windows together, whose distribution is known
from what an epoch does to each wave. That walk is solved directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError
from ..kernels.shifts import gather, scatter
from ..numerics import linear
from ..numerics.lattices import Lattice
from ..numerics.stop_loss import Excess
from ..tcp import BurstChain, IndependentChain
from .burst import Backlog, Complexes, Epoch
from .independent import IndependentBacklog
from .random_walk import HalfLine, next_fast

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WANTED = 1e-12
"""Error bound that is aimed at."""

ACCEPTED = 1e-9
"""Error bound above which there is no answer."""

VISIBLE_LEVELS = 3
"""Back-off levels that set the decay where it is visible."""

LONG = 0.5
"""Waves that keep more than this in an epoch are long."""

LONG_INDEPENDENT = 0.7
"""The same for independent losses, which blur waves little, in small windows too: epochs wear out the rest."""

APART = 30.0
"""Exponent of the tilted wave over which windows may lie apart: further, nothing is long but the losses themselves."""

NEGLIGIBLE = 1e-22
"""Share of the backlog's distribution that is never looked at."""

TILT = 0.5
"""Share of the decay rate that the walk is tilted by: the more, the better its tail is known."""

SMALL = 8
"""Largest windows up to this leave waves of any length: a loss there blurs them too little."""

RARE = 1e-8
"""Chance of a run of timeouts below which it need not be seen how far it leads in one epoch."""

PATIENCE = 12
"""Epochs that do not even halve the error, after which rounding is as good as it gets."""

UNAIDED = 100
"""The same without the correction of long waves."""

LARGEST = 2**26
"""Largest state, in mass values, that is tried."""

DEEPEST = 2**21
"""Largest depth that is looked at [lattice steps]."""


@dataclass(frozen=True)
class StationaryBacklog:
    """The stationary distribution of the backlog at the ends of rounds.

    Attributes
    ----------
    pmf : (depth + 1,) array
        Probability of an empty backlog, and of one of 1, 2, ... lattice steps; of 0, 1, ... where they hold a trace.
    lattice : Lattice
        Steps of the backlog, and the rate.
    residual : float
        Mass that one more epoch moves, per round.
    overflow : float
        Mass that leaves through the deepest backlog, per round.
    error_bound : float
        Bound on the error of a late fraction from both: each unit of either changes lateness at most until the
        backlog has emptied, before and after.
    epochs : int
        Loss epochs computed.
    excess : Excess
        E[(D - y)+] for every y.
    """

    pmf: Floats
    lattice: Lattice
    residual: float
    overflow: float
    error_bound: float
    epochs: int
    excess: Excess = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "excess", Excess.of(self.pmf, self.lattice))

    def late_fraction(self, delay: float) -> float:
        """Return f for a startup delay [rounds], >= 0."""
        m = self.lattice.packets_due
        return max(0.0, self.excess.between(m * delay, m * (delay + 1)) / m)


def drain_rounds(chain: BurstChain, packets_due: float) -> tuple[float, Floats]:
    """Return the rounds that a packet of backlog takes to drain, and the extra packets behind of each TCP state.

    The extra solves the Poisson equation of delivered packets against the mean rate; states as in
    `BurstChain.tilted`.
    """
    rate = chain.packets_per_round
    packets, rounds = chain.per_transition
    gain = packets - rate * rounds
    common = int(np.argmax(chain.stationary))  # its equation follows from the others
    gain[common] = 0.0
    rows, columns, values = chain.tilted(0.0, 0.0)
    kept, states = rows != common, np.arange(len(gain))
    bias = linear.solve(
        np.concatenate([states, rows[kept]]), np.concatenate([states, columns[kept]]),
        np.concatenate([np.ones(len(gain)), -values[kept]]), gain,
        chain.junction_states,
    )  # fmt: skip
    return 1 / (rate - packets_due), bias.max() - bias


class LongWaves:
    """The random walk that the backlog makes seen from far, and what it says about the epochs.

    Mass m at backlog D and window w is, for long waves, as good as m at D + `_ahead[w]`; and mass u of the walk at D
    is spread over the windows by `_law`, at D + `_behind[w]`. These distances make waves right to first order.
    On a lattice finer than packets the waves that alternate within a packet can be as slow, and are included.

    Parameters
    ----------
    backlog : Backlog

    Attributes
    ----------
    beyond : int
        Deepest positions that are kept empty: they only show what an epoch moves there.
    apt : bool
        Whether there are long waves. Where there are not, an epoch empties almost every backlog.

    Raises
    ------
    AccuracyError
        When the backlog's distribution does not become negligible above `DEEPEST`.
    """

    def __init__(self, backlog: Backlog) -> None:
        self._stride = backlog.steps_per_packet
        decay = _decay(backlog)
        tilt = TILT * decay
        _, left, right = backlog.waves(np.array([0.0, tilt / 2, tilt], dtype=complex))
        self._law = np.ascontiguousarray(left[:, 0].real)
        self._ahead = np.log(right[:, 2].real / right[:, 0].real) / tilt
        tilted = left[:, 2].real
        reached = (self._law > 0) & (tilted > 0)  # others underflow: no mass of any weight is there
        self._behind = np.log(np.where(reached, tilted, 1.0) / np.where(reached, self._law, 1.0)) / tilt
        spread = math.sqrt(float((self._law * self._behind**2).sum()))
        self.apt = spread * tilt < APART
        self.beyond = (math.ceil(5 * spread) if self.apt else 0) + backlog.fall(RARE)
        points = 2 * next_fast(math.ceil(-math.log(NEGLIGIBLE) / decay))
        self._walk = HalfLine(_kappa(backlog, tilt, points), tilt)

    def depth(self, negligible: float, further: float) -> int:
        """Return the depth D beyond which (D + `further`) times the mass there is negligible [lattice steps]."""
        mass = np.abs(self._walk.stationary())
        beyond = np.cumsum(mass[::-1])[::-1]
        levels = np.arange(len(beyond))
        return int(np.count_nonzero(beyond * (levels + further) > negligible)) + self.beyond

    def start(self, depth: int) -> Floats:
        """Return entries that the walk alone predicts, and correct entries as deep as these from now on."""
        n = depth + 1
        entries = np.zeros((len(self._law), n))
        if not self.apt:
            entries[:, depth] = self._law
            return entries
        self._walk.cut(n)
        mass = np.zeros(n)
        known = self._walk.stationary()[:n]
        mass[: len(known)] = np.maximum(known, 0.0)
        scatter(mass[::-1].copy(), self._law, -self._behind, self._stride, entries)
        return self._normalised(entries)

    def corrected(self, entries: Floats, change: Floats) -> Floats:
        """Return the entries moved as far as all later epochs will move them, to judge from the change in one.

        The deepest are emptied after that, not before: the walk would take mass that an epoch loses for mass that
        never comes back, all the way down.
        """
        start = np.empty(change.shape[1])
        gather(change, -self._ahead, self._stride, start)
        later = self._walk.visits(start[::-1])[::-1] - start
        moved = entries + change
        scatter(later, self._law, -self._behind, self._stride, moved)
        return self._normalised(moved)

    def _normalised(self, entries: Floats) -> Floats:
        entries[:, : self.beyond] = 0.0
        entries /= entries.sum()
        return entries


def _decay(backlog: Backlog) -> float:
    """Return the decay rate of the backlog's distribution [1/lattice step], or up to a tenth less."""
    slowest = -math.log(NEGLIGIBLE) / DEEPEST
    rates = slowest * 1.1 ** np.arange(math.ceil(math.log(50 / slowest, 1.1)))
    values, _, _ = backlog.waves(rates.astype(complex))
    growing = int(np.argmin(np.abs(values) < 1))
    if growing == 0:
        raise _too_large(backlog, DEEPEST)
    return float(rates[growing - 1])


def _kappa(backlog: Backlog, tilt: float, points: int) -> Complexes:
    """Return what an epoch leaves of waves, at the frequencies of a transform of that many points; short ones as 0."""
    steps_per_packet, half = backlog.steps_per_packet, points // 2
    step = 2j * math.pi / points
    trial = np.unique(np.append(0, 1.2 ** np.arange(math.ceil(math.log(half / steps_per_packet, 1.2))))).astype(int)
    values, _, _ = backlog.waves(np.asarray(tilt + step * trial, dtype=np.complex128))
    long, small = (LONG_INDEPENDENT, 0) if isinstance(backlog, IndependentBacklog) else (LONG, SMALL)
    short = np.flatnonzero(~(np.abs(values) > long))
    edge = half if backlog.chain.max_window <= small or not len(short) else int(trial[short[0]]) + 1
    from_band = np.abs((np.arange(half + 1) * steps_per_packet / points + 0.5) % 1 - 0.5) * points / steps_per_packet
    band = np.flatnonzero(from_band < 2 * edge)
    kappa = np.zeros(half + 1, dtype=np.complex128)
    taken, _, _ = backlog.waves(np.asarray(tilt + step * band, dtype=np.complex128))
    taken *= [math.erfc(11 * (place / edge - 1.5)) / 2 for place in from_band[band]]
    kappa[band] = np.where(np.abs(taken) <= abs(taken[0]), taken, 0.0)
    return kappa


def solve(chain: BurstChain, lattice: Lattice) -> StationaryBacklog:
    """Solve for the stationary backlog, as deep as the error bound needs.

    Parameters
    ----------
    chain : BurstChain
        Must deliver more than `lattice.packets_due` per round.
    lattice : Lattice
        Of the backlog, and what is generated per round.

    Raises
    ------
    AccuracyError
        When the error bound stays above 1e-9, or the state would need more than 2^26 values.
    """
    kind = IndependentBacklog if isinstance(chain, IndependentChain) else Backlog
    backlog = kind(chain, lattice)
    packets_due, steps_per_packet = lattice.packets_due, lattice.steps_per_packet
    waves = LongWaves(backlog)
    longest_wait = packets_due * max(d for wait in chain.backoff_wait for d, _ in wait)
    rounds_per_packet, behind = drain_rounds(chain, packets_due)
    further = longest_wait + behind.max()
    depth = waves.depth(WANTED * steps_per_packet / (2 * rounds_per_packet), further * steps_per_packet)
    epochs = 0
    while True:
        if backlog.rows * (depth + 1) > LARGEST:
            raise _too_large(backlog, depth)
        before = np.arange(depth, -1, -1) / steps_per_packet + behind[backlog.entered][:, np.newaxis]
        weight = 2 * rounds_per_packet * before
        deepest = 2 * rounds_per_packet * (depth / steps_per_packet + further)
        epoch, change, used = _iterate(backlog, waves, depth, weight)
        epochs += used
        pmf = backlog.occupancy(epoch)[::-1]
        rounds = pmf.sum()
        overflow = backlog.overflow(epoch) / rounds
        wrong = np.abs(change) * weight / rounds
        error = float(wrong.sum() + overflow * deepest)
        if wrong[:, : waves.beyond].sum() + overflow * deepest <= WANTED:
            break
        depth = math.ceil(1.3 * depth)
    if not error <= ACCEPTED:
        raise AccuracyError(
            f"stationary backlog: error bound {error:.1e} exceeds {ACCEPTED:.0e} after {epochs} loss epochs"
        )
    return StationaryBacklog(
        pmf=pmf / rounds,
        lattice=lattice,
        residual=float(np.abs(change).sum() / rounds),
        overflow=overflow,
        error_bound=error,
        epochs=epochs,
    )


def _iterate(backlog: Backlog, waves: LongWaves, depth: int, weight: Floats) -> tuple[Epoch, Floats, int]:
    """Make epochs until one changes little; return the last one, its change of the entries, and how many.

    Where epochs hardly differ from each other, or blur no waves, the correction may fail: where a buffer overflows and
    losses are rare, and with small windows. Then epochs are made without; half of each counts, as they may take turns.
    """
    entries, patience, epochs = waves.start(depth), PATIENCE if waves.apt else UNAIDED, 0
    rounds = 0.0
    errors: list[float] = []
    while True:
        epoch = backlog.epoch(entries)
        epochs += 1
        rounds = rounds or float(backlog.occupancy(epoch).sum())
        change = epoch.entries - entries
        error = float(np.einsum("hk,hk", np.abs(change), weight) / rounds)
        errors.append(error)
        stuck = len(errors) > patience and not error < errors[-1 - patience] / 2
        if stuck and patience < UNAIDED and error > ACCEPTED:
            entries, patience, errors = waves.start(depth), UNAIDED, []
        elif error < WANTED / 2 or stuck:
            return epoch, change, epochs
        else:
            entries = waves.corrected(entries, change) if patience < UNAIDED else entries + change / 2


def _too_large(backlog: Backlog, depth: int) -> AccuracyError:
    cells = backlog.rows * (depth + 1)
    return AccuracyError(
        f"the backlog needs {backlog.rows} TCP states x {depth + 1} levels = {cells:.2g} values or more, over "
        f"{LARGEST:.2g}: T/mu is too near 1, the timeouts are too long, the largest window is too large, or the "
        f"playback rate is too far below a packet a round trip"
    )

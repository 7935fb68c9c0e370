"""How far f is from the stated lattice error where packets per round fit no fine lattice.

``python validation/lattice.py`` (about half an hour; it goes on where it was stopped). Each case has m = mu R on a
lattice finer than `tcpstream.numerics.lattices` takes: f between the neighbours is compared with the one on that
lattice, at startup delays from 0 to a late fraction of 1e-6 and at its kinks, m (a - n / m) packets for whole numbers
a and n.
Streams without end where the exact chain is small, of finite length up to the largest rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcpstream import Path, TcpstreamError
from tcpstream.numerics.lattices import ROUNDING, Lattice, interpolated, lattices, order
from tcpstream.stationary.solve import solve
from tcpstream.system.log import appending, read
from tcpstream.tcp import Chain, chain_of
from tcpstream.transient.finite_backlog import FiniteBacklog

SEED = 20
CASES = 500
SMALLEST = 1e-6
"""Late fractions below this are not compared."""
ENDLESS, FINITE = 4e3, 2e8
"""States times lattice steps a round, over 1 - mu/T; times rounds squared of a finite stream: at most (half and a
twentieth of that for the first 363)."""
RECORD = FilePath(__file__).parent / "results" / "lattice.jsonl"


def _order(chain: Chain, m: float) -> int:
    """Return the order that the solvers take."""
    return order(m, chain.packets_per_round, chain.n_cells)


def draw(rng: np.random.Generator) -> tuple[Path, float, float | None]:
    """Return a path of rounds of 1 s, m, and the length [rounds] of a finite stream."""
    endless = bool(rng.random() < 0.4)
    m = float(np.exp(rng.uniform(math.log(0.02), math.log(20 if endless else 300))))
    window = max(1, math.ceil(m * float(np.exp(rng.uniform(math.log(0.8), math.log(3))))))
    window = max(window, int(rng.integers(1, 9)))
    path = Path(
        sender="classic",
        loss=float(np.exp(rng.uniform(math.log(5e-4), math.log(0.3)))), rtt=1.0,
        timeout_ratio=float(rng.choice([1, 1.5, 2, 3, 5])), max_window=window,
        tcp=str(rng.choice(["reno", "reno", "reno-sack"])),
    )  # fmt: skip
    return path, m, None if endless else float(rng.uniform(4, 60))


def exact_lattice(chain: Chain, m: float) -> Lattice:
    """Return a lattice too fine to be taken, for a rate next to m."""
    steps_per_packet = 3 * _order(chain, m) + 1
    while math.gcd(round(m * steps_per_packet), steps_per_packet) > 1:
        steps_per_packet += 1
    return Lattice(max(1, round(m * steps_per_packet)), steps_per_packet)


def delays(m: float, late: Callable[[float], float]) -> NDArray[np.float64]:
    """Return startup delays [rounds] down to the smallest f, kinks among them."""
    longest = 1.0
    while late(longest) > SMALLEST and longest < 1e4:
        longest *= 1.5
    kinks = np.array([a - n / m for a in range(1, 12) for n in range(8)])
    kinks = kinks[(kinks >= 0) & (kinks <= longest)]
    return np.unique(np.concatenate([np.linspace(0, longest, 200), kinks, 1.001 * kinks, 0.999 * kinks]))


def case(rng: np.random.Generator) -> dict[str, Any] | None:
    """Solve one random case both ways; None where the exact chain is too large, or there is nothing to compare."""
    path, m, length = draw(rng)
    chain = chain_of(path)
    lattice = exact_lattice(chain, m)
    m = lattice.packets_due
    throughput = chain.packets_per_round
    if length is None and m > 0.95 * throughput:
        return None
    cells = chain.followed_states * lattice.steps
    if cells > ENDLESS * (1 - m / throughput) if length is None else cells * length * (length + 40) > FINITE:
        return None

    def late(one: Lattice) -> Callable[[float], float]:
        made = solve(chain, one) if length is None else FiniteBacklog(chain, one, length)
        return made.late_fraction

    found = lattices(
        m,
        _order(chain, m),
        throughput * (1 - 1e-9) if length is None else math.inf,
    )
    try:
        exact, taken = late(lattice), [late(one) for one in found]
    except TcpstreamError:
        return None
    worst, largest, stated = 0.0, 0.0, 0.0
    for delay in delays(m, exact):
        f = exact(delay)
        if f < SMALLEST:
            continue
        between = interpolated(m, [(one.packets_due, f_there(delay)) for one, f_there in zip(found, taken)])
        error = abs(between.late_fraction / f - 1)
        largest, stated = max(largest, error), max(stated, between.error)
        worst = max(worst, (error - (between.error - ROUNDING)) / ROUNDING if error > ROUNDING else 0.0)
    return {"loss": path.loss, "timeout_ratio": path.timeout_ratio, "max_window": path.max_window, "tcp": path.tcp,
            "m": m, "load": m / throughput, "length": length, "order": _order(chain, m), "error": largest,
            "stated": stated, "of_rounding": worst}  # fmt: skip


def main() -> None:
    """Run all cases that are not recorded yet, and print what the record says."""
    rows = read(RECORD)
    number = rows[-1]["number"] + 1 if rows else 0
    with appending(RECORD) as append:
        while len(rows) < CASES:
            row = case(np.random.default_rng([SEED, number]))
            if row is not None:
                rows.append(row | {"number": number})
                append(rows[-1])
            number += 1
    for name in ("error", "stated", "of_rounding"):
        values = np.array([row[name] for row in rows])
        quantiles = np.quantile(values, [0.5, 0.9])
        print(f"{name}: median {quantiles[0]:.3g}, 90% {quantiles[1]:.3g}, largest {values.max():.3g}")
    print(f"{len(rows)} cases, {sum(row['of_rounding'] > 1 for row in rows)} beyond the stated error")


if __name__ == "__main__":
    main()

"""The bound of Theorem 1 as the paper may have computed it: every transition counts as one round.

Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP", Section 4.2: p = 0.014, R = 110 ms, T_O = 3, a
video of 80 s and a startup delay of 6 s; for mu = 51, 55 and 60 packets/s the paper prints 0.82, 0.42 and 0.01.

The impulse rewards of Table VII belong to transitions, not to rounds: a transition that takes d rounds changes N'
by S - m d. If the i-th transition is taken for the i-th round, then after 727 of them P_i = P(N'_i < -mu tau), and
the bound is the product of 1 - P_i. Section 3.3 takes m = mu R for an integer "for simplicity of notation", and
5.61, 6.05 and 6.6 are none, so two roundings of m are tried as well.

Packets and rounds after i transitions come from a Monte Carlo of the chain of Table VI (corrected; docs/theory.md),
the same runs for every m; standard errors come from batches. An exact propagation on the lattice of m = 6 gave
0.3200 (floor, paper) and 0.4212 (ceil, rfc6298), of m = 6.5 0.0041 (ceil, rfc6298).

    python validation/transitions_clock.py

prints a table and writes validation/results/transitions_clock.json; about a minute on two cores.
"""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tcpstream.tcp.table_vi import START, states, transitions

LOSS, RTT, TIMEOUT_RATIO, MAX_WINDOW = 0.014, 0.11, 3, 24
TRANSITIONS, DELAY = 727, 6.0
PRINTED = {51.0: 0.82, 55.0: 0.42, 60.0: 0.01}
RUNS, BATCHES, SEED = 2_000_000, 100, 2008

#: (mu [packets/s], m [packets/round])
EXACT = ((51.0, 5.61), (55.0, 6.05), (60.0, 6.6))
ROUNDED = ((51.0, 5.6), (55.0, 6.0), (60.0, 6.5))
SOURCES = (("floor", "paper"), ("ceil", "paper"), ("ceil", "rfc6298"))

Table = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def source_table(halving: str, backoff: str) -> Table:
    """Return Table VI as arrays: first move of each state, cumulative probability, target, packets, rounds."""
    listed = states(MAX_WINDOW)
    number = {state: i for i, state in enumerate(listed)}
    first, probability, target, packets, rounds = [0], [], [], [], []
    for state in listed:
        row = transitions(
            state, p=LOSS, max_window=MAX_WINDOW, timeout_ratio=TIMEOUT_RATIO, backoff=backoff, halving=halving
        )
        probability += np.cumsum([t.probability for t in row]).tolist()
        probability[-1] = 1.0
        target += [number[t.target] for t in row]
        packets += [t.packets for t in row]
        rounds += [t.rounds for t in row]
        first.append(len(target))
    return np.array(first), np.array(probability), np.array(target), np.array(packets), np.array(rounds)


@njit(nogil=True)
def late_runs(
    table: Table, start: int, m: NDArray[np.float64], early: NDArray[np.float64], runs: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how many runs are late after each transition, shape (rates, TRANSITIONS)."""
    first, cumulative, target, packets, rounds = table
    late = np.zeros((len(m), TRANSITIONS), dtype=np.int64)
    for _ in range(runs):
        state, delivered, elapsed = start, 0, 0
        for i in range(TRANSITIONS):
            u = rng.random()
            move = first[state]
            while cumulative[move] <= u:
                move += 1
            delivered += packets[move]
            elapsed += rounds[move]
            state = target[move]
            for k in range(len(m)):
                if delivered - m[k] * elapsed + early[k] < -1e-9:
                    late[k, i] += 1
    return late


def bounds(
    halving: str, backoff: str, rates: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return bound, its standard error and P_i at the last transition, for every row (mu, m) of `rates`."""
    table = source_table(halving, backoff)
    start = states(MAX_WINDOW).index(START)
    generators = np.random.default_rng(SEED).spawn(BATCHES)

    def batch(rng: np.random.Generator) -> NDArray[np.int64]:
        return np.asarray(late_runs(table, start, rates[:, 1], rates[:, 0] * DELAY, RUNS // BATCHES, rng))

    with ThreadPoolExecutor() as pool:
        late = np.array(list(pool.map(batch, generators))) / (RUNS // BATCHES)
    P = late.mean(axis=0)
    bound = np.prod(1 - P, axis=1)
    # to first order the logarithm of the bound is a sum over i, and its batches are independent
    slope = ((late - P) / (1 - P)).sum(axis=2)
    error = bound * slope.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    return bound, error, P[:, -1]


def main() -> None:
    begun = time.perf_counter()
    rows = []
    rates = np.array([*EXACT, *ROUNDED])
    print(f"printed in the paper: {', '.join(f'mu = {mu:g}: {x:g}' for mu, x in PRINTED.items())}")
    print(f"{'halving':8} {'back-off':8} {'mu':>4} {'m':>5}  bound of Theorem 1    P_i at the end")
    for halving, backoff in SOURCES:
        for (mu, m), bound, error, last in zip(rates.tolist(), *bounds(halving, backoff, rates)):
            print(f"{halving:8} {backoff:8} {mu:4g} {m:5g}  {bound:.4f} +- {error:.4f}      {last:.2e}")
            rows.append(
                {
                    "halving": halving,
                    "backoff": backoff,
                    "packet_rate_pps": mu,
                    "packets_per_round": m,
                    "bound": round(float(bound), 6),
                    "bound_standard_error": round(float(error), 6),
                    "late_probability_at_end": float(last),
                }
            )
    result = {
        "claim": "Wang, Kurose, Shenoy, Towsley, Section 4.2: bound of Theorem 1 for mu = 51, 55, 60, tau = 6 s",
        "printed": {f"{mu:g}": bound for mu, bound in PRINTED.items()},
        "loss": LOSS,
        "rtt_s": RTT,
        "timeout_ratio": TIMEOUT_RATIO,
        "max_window": MAX_WINDOW,
        "transitions": TRANSITIONS,
        "startup_delay_s": DELAY,
        "runs": RUNS,
        "seed": SEED,
        "rows": rows,
    }
    path = Path(__file__).parent / "results" / "transitions_clock.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{RUNS:,} runs each, {time.perf_counter() - begun:.0f} s; wrote {path}")


if __name__ == "__main__":
    main()

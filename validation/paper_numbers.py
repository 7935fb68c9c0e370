"""The numbers that the paper prints for stored media, beside this model's, for every reading of the paper.

Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study":

- Section 4.2: p = 0.014, R = 110 ms, T_O = 3, a video of 80 s, a startup delay of 6 s; for mu = 51, 55 and 60
  packets/s Theorem 1 gives 0.82, 0.42 and 0.01, and in ns 0.98, 0.96 and 0.91 of the runs have no late packet.
- Section 6.1: the same path, mu = 51 packets/s, a startup delay of 4 s: P_i is about 1e-4 in round 730.

The largest window is 24 packets, and the horizon is the paper's, 727 rounds. Everything is asked of the command line,
except the share of lost packets, which comes from Table VI itself (`tcpstream.tcp.table_vi`).

    python validation/paper_numbers.py

prints the tables of docs/paper-numbers.md and writes validation/results/paper_numbers.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tcpstream.tcp.table_vi import states, transitions

RESULTS = Path(__file__).parent / "results"

RTT = 0.11
PATH = {"loss": "0.014", "rtt": "110ms", "timeout-ratio": "3", "max-window": "24"}
HALVINGS, BACKOFFS = ("floor", "ceil"), ("paper", "rfc6298")
PRINTED_BOUND = {51: 0.82, 55: 0.42, 60: 0.01}
PRINTED_SIMULATION = {51: 0.98, 55: 0.96, 60: 0.91}
CASES = ((51, 4.0), (51, 6.0), (55, 6.0), (60, 6.0))
#: m = mu R, 5.61, 6.05 and 6.6, rounded to tenths down, to an integer, to a half.
ROUNDED = {51: 5.6, 55: 6.0, 60: 6.5}
#: Throughput and loss: b = 1, the paper's back-off, halves rounded down.
LOSSES, TIMEOUT_RATIOS, MAX_WINDOW = (0.02, 0.004, 0.01), (1, 2, 3, 4), 48


def ask(command: str, **options: object) -> dict[str, Any]:
    """Return what ``tcpstream COMMAND --option value ... --json`` prints."""
    arguments = [sys.executable, "-m", "tcpstream", command, "--sender", "classic"]
    for name, value in options.items():
        arguments += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    done = subprocess.run([*arguments, "--json"], check=True, capture_output=True, encoding="utf-8")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def one(value: Any) -> float:
    """Return a number that may be alone in a list."""
    return float(value[0] if isinstance(value, list) else value)


def stored(halving: str, backoff: str, mu: float, tau: float, m: float | None = None) -> dict[str, Any]:
    """Solve a case of the paper; with `m`, that many packets are played in a round, mu tau before the first one.

    N_i = A_i - m i + mu tau depends on m and mu tau alone, so another m is another rate m/R with another delay.
    """
    rate, delay = (mu, tau) if m is None else (m / RTT, mu * tau * RTT / m)
    options = {name.replace("-", "_"): value for name, value in PATH.items()}
    answer = ask(
        "stored",
        **options,
        backoff=backoff,
        halving=halving,
        rate=f"{rate!r}pps",
        duration=80,
        delay=repr(delay),
        horizon="paper",
        per_round=True,
    )
    P = np.ravel(np.array(answer["late_probability_per_round"], dtype=float))
    return {
        "halving": halving,
        "backoff": backoff,
        "packet_rate_pps": mu,
        "startup_delay_s": tau,
        "packets_per_round": mu * RTT if m is None else m,
        "late_fraction": one(answer["late_fraction"]),
        "no_late_lower_bound": one(answer["no_late_lower_bound"]),
        "no_late_probability": one(answer["no_late_probability"]),
        "rounds": len(P),
        "late_probability_largest": float(P.max()),
        "late_probability_largest_at_round": int(P.argmax()) + 1,
        "late_probability_at_end": float(P[-1]),
        "error_bound": float(answer["error_bound"]),
    }


def throughput(loss: float, timeout_ratio: int) -> float:
    """Return T R [packets/round]: the throughput at a round trip time of a second."""
    answer = ask(
        "throughput",
        loss=loss,
        rtt="1s",
        timeout_ratio=timeout_ratio,
        max_window=MAX_WINDOW,
        backoff="paper",
        halving="floor",
    )
    return float(answer["throughput_pps"])


def lost_share(loss: float) -> float:
    """Return lost over sent packets of Table VI, which no timer changes: what counting dropped and sent would see."""
    rows = states(MAX_WINDOW)
    number = {state: i for i, state in enumerate(rows)}
    matrix, sent, delivered = np.zeros((len(rows), len(rows))), np.zeros(len(rows)), np.zeros(len(rows))
    for i, state in enumerate(rows):
        sent[i] = state.w
        for target, probability, packets, _ in transitions(
            state, p=loss, max_window=MAX_WINDOW, timeout_ratio=1, backoff="paper"
        ):
            matrix[i, number[target]] += probability
            delivered[i] += probability * packets
    balance = matrix.T - np.eye(len(rows))
    balance[-1] = 1.0
    law = np.linalg.solve(balance, np.eye(len(rows))[-1])
    return float(1 - law @ delivered / (law @ sent))


def table(head: str, rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table."""
    columns = [cell.strip() for cell in head.split("|")]
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print()


def power(x: float) -> str:
    return f"{x:.2e}".replace("e-0", "e-")


def print_cases(cases: list[dict[str, Any]]) -> None:
    print("### Rows of the base reading\n")
    table(
        "mu | tau (s) | f | prod(1 - P_i) | largest P_i | at round | alpha",
        [
            (
                c["packet_rate_pps"],
                f"{c['startup_delay_s']:g}",
                f"{c['late_fraction']:.3e}".replace("e-0", "e-"),
                f"{c['no_late_lower_bound']:.4f}",
                power(c["late_probability_largest"]),
                c["late_probability_largest_at_round"],
                f"{c['no_late_probability']:.5f}",
            )
            for c in cases
            if (c["halving"], c["backoff"]) == ("floor", "paper")
        ],
    )


def print_bounds(cases: list[dict[str, Any]], key: str, places: int) -> None:
    rows = []
    for reading in product(HALVINGS, BACKOFFS):
        chosen = [c for c in cases if (c["halving"], c["backoff"]) == reading and c["startup_delay_s"] == 6]
        rows.append([*reading, *(f"{c[key]:.{places}f}" for c in chosen)])
    table("halving | back-off | mu = 51 | mu = 55 | mu = 60", rows)


def print_transitions() -> None:
    recorded = RESULTS / "transitions_clock.json"
    rows = json.loads(recorded.read_text("utf-8"))["rows"]
    print(f"### Bound of Theorem 1, every transition taken for a round (from {recorded.name})\n")
    lines = []
    for reading in dict.fromkeys((row["halving"], row["backoff"]) for row in rows):
        for rounded in (False, True):
            chosen = [
                row
                for row in rows
                if (row["halving"], row["backoff"]) == reading
                and (row["packets_per_round"] == ROUNDED[int(row["packet_rate_pps"])]) == rounded
            ]
            cells = [f"{row['bound']:.4f} +- {1.96 * row['bound_standard_error']:.4f}" for row in chosen]
            lines.append([*reading, ", ".join(f"{row['packets_per_round']:g}" for row in chosen), *cells])
    table("halving | back-off | m | mu = 51 | mu = 55 | mu = 60", lines)


def main() -> None:
    readings = list(product(HALVINGS, BACKOFFS))
    cases = [stored(*reading, mu, tau) for reading in readings for mu, tau in CASES]
    rounded = [stored(*reading, mu, 6.0, m) for reading in readings for mu, m in ROUNDED.items()]
    rates = {f"{p:g}": {str(t): throughput(p, t) for t in TIMEOUT_RATIOS} for p in LOSSES}
    lost = {f"{p:g}": lost_share(p) for p in LOSSES}

    print_cases(cases)
    print("### Bound of Theorem 1, m = mu R\n")
    print_bounds(cases, "no_late_lower_bound", 3)
    print("### Bound of Theorem 1, m = 5.6, 6 and 6.5\n")
    print_bounds(rounded, "no_late_lower_bound", 3)
    print("### Exact alpha\n")
    print_bounds(cases, "no_late_probability", 4)
    print("### P_i for mu = 51, tau = 4 s\n")
    table(
        "halving | back-off | largest P_i | at round | P_i at round 727",
        [
            (
                c["halving"],
                c["backoff"],
                power(c["late_probability_largest"]),
                c["late_probability_largest_at_round"],
                power(c["late_probability_at_end"]),
            )
            for c in cases
            if c["startup_delay_s"] == 4
        ],
    )
    print_transitions()
    head = "p | " + " | ".join(f"T_O = {t}" for t in TIMEOUT_RATIOS)
    print("### Throughput (packets per round)\n")
    table(head, [[p, *(f"{x:.2f}" for x in row.values())] for p, row in rates.items()])
    print("### Lost over sent packets\n")
    table("p | lost/sent | in multiples of p", [(p, f"{x:.3f}", f"{x / float(p):.1f}") for p, x in lost.items()])

    result = {
        "claim": "Wang, Kurose, Shenoy, Towsley, Sections 4.2 and 6.1: bound of Theorem 1 and P_i of stored media",
        "printed_bound": PRINTED_BOUND,
        "printed_simulation": PRINTED_SIMULATION,
        "path": PATH,
        "horizon": "paper",
        "cases": cases,
        "packets_per_round_rounded": rounded,
        "throughput_packets_per_round": rates,
        "lost_over_sent": lost,
    }
    file = RESULTS / "paper_numbers.json"
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {file.relative_to(Path(__file__).parent.parent)}")


if __name__ == "__main__":
    main()

"""How much T/mu a video needs, by how much the throughput of the path varies.

Run ``python validation/dispersion.py`` (about half an hour on two cores); what is recorded is not computed again. The
table is printed in the end; ``--table`` prints nothing else.

A path spends half of its time in each of two regimes, 10 s at a stretch on average, and carries `SWINGS` times as much
in the one as in the other; the mean throughput is always the same. For each startup delay the largest rate is found at
which no more than 1% of viewers see a stall. The dispersion ratio is that of `tcpstream.constancy`: the variance of the
throughput over windows of 10 s, relative to that of the constant path; both are drawn from the chains.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import Path, Varying
from tcpstream.playout.drawn_flows import drawn_flows
from tcpstream.system.log import appending, read
from tcpstream.tcp import chain_of

RESULTS = FilePath(__file__).parent / "results" / "dispersion.jsonl"

SENDER: dict[str, Any] = {"sender": "classic", "tcp": "reno-sack", "rto": 0.3, "max_window": 40}
RTT, THROUGHPUT, STAY = 0.1, 80.0, 10.0
"""R [s], T [packets/s] and mean stay [s]."""

SWINGS = 1.0, 1.5, 2.0, 3.0, 5.0
DELAYS = 2.0, 5.0, 10.0
DURATION, STALLED = 120.0, 0.01
"""Of the video [s], and share of viewers that see a stall."""

SEED, FLOWS, SECONDS, WINDOW = 21, 2000, 300, 10


def path(swing: float) -> Path | Varying:
    """Return the path whose throughput differs by a factor between regimes."""
    if swing == 1:
        return Path.from_throughput(THROUGHPUT, rtt=RTT, **SENDER)
    regimes = [Path.from_throughput(T, rtt=RTT, **SENDER) for T in _of_regimes(swing)]
    return Varying(regimes, [STAY, STAY])


def _of_regimes(swing: float) -> tuple[float, float]:
    return 2 * THROUGHPUT * swing / (1 + swing), 2 * THROUGHPUT / (1 + swing)


def dispersion(swing: float) -> float:
    """Return the variance over windows, relative to the squared mean, of flows over a path."""
    flows = drawn_flows(chain_of(path(swing)), RTT, SECONDS, FLOWS, np.random.default_rng(SEED))
    windows = flows.reshape(SECONDS // WINDOW, WINDOW, FLOWS).sum(axis=1)
    return float(windows.var() / windows.mean() ** 2)


def record(swing: float, delay: float) -> dict[str, Any]:
    """Return the row of a point."""
    one = path(swing)
    rate = tcpstream.largest_rate(one, delay=delay, duration=DURATION, no_late=1 - STALLED)
    T = tcpstream.throughput(one)
    return {
        "swing": swing,
        "startup_delay_s": delay,
        "throughput_pps": T,
        "packet_rate_pps": rate,
        "T_over_mu": T / rate,
        "dispersion_ratio": dispersion(swing) / dispersion(1.0),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return T/mu by dispersion ratio and startup delay, as a table of Markdown."""
    lines = ["| regimes | dispersion ratio |" + "".join(f" {delay:g} s |" for delay in DELAYS)]
    lines.append("|--:|--:|" + "--:|" * len(DELAYS))
    for swing in SWINGS:
        mine = {row["startup_delay_s"]: row for row in rows if row["swing"] == swing}
        if not mine:
            continue
        ratio = next(iter(mine.values()))["dispersion_ratio"]
        cells = (f" {mine[delay]['T_over_mu']:.2f} |" if delay in mine else "  |" for delay in DELAYS)
        lines.append(f"| {f'1 : {swing:g}' if swing > 1 else 'constant'} | {ratio:.2g} |" + "".join(cells))
    return "\n".join(lines)


def main() -> None:
    """Record points that are missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the table of what is recorded")
    given = parser.parse_args()
    RESULTS.touch()
    rows = read(RESULTS)
    known = {(row["swing"], row["startup_delay_s"]) for row in rows}
    if not given.table:
        with appending(RESULTS) as append:
            for swing, delay in product(SWINGS, DELAYS):
                if (swing, delay) not in known:
                    rows.append(record(swing, delay))
                    append(rows[-1])
    print(table(rows))


if __name__ == "__main__":
    main()

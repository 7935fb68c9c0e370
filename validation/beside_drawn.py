"""Application-limited live streams beside drawn ones: ``python validation/beside_drawn.py`` (ten minutes on one core).

Each of 40 cases is drawn from its number alone; what is recorded is not computed again, and ``--seconds`` stops after
a case. The summary is printed in the end; ``--table`` prints nothing else.

The streams (`tests/twins/limited_sessions.py`) are drawn round by round, with the rules of the sender as they are
written down and no stationary law. A late fraction is judged where its standard error is a fifth of it at most, and
differs where it is off by more than `SIGMAS` standard errors and the stated error of the answer.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, InputError, Path, Video
from tcpstream.answers.limited_live import LimitedLive
from tcpstream.errors import unremarked
from tcpstream.limited.rules import rules
from tcpstream.system.log import appending, read
from tcpstream.tcp import chain_of
from tcpstream.tcp.window_chain import WindowChain

sys.path.insert(0, str(FilePath(__file__).resolve().parents[1] / "tests"))

from twins.limited_sessions import late_fractions  # type: ignore[import-not-found]

RESULTS = FilePath(__file__).parent / "results" / "beside_drawn.jsonl"

SEED, CASES = 118, 40
ROUNDS, RUNS = 400_000.0, 8
"""Of each drawn stream, and streams."""

DELAYS = 0.3, 0.7, 1.0, 2.0, 4.0, 8.0, 16.0
"""Startup delays [round trips]."""

KNOWN, SIGMAS = 0.2, 4.0
"""Largest relative standard error of what is judged."""

LIMIT = 120.0
"""Time that an answer may take [s]."""

TCPS = {"reno": ("bursts", 30), "reno-sack": ("independent", 60), "cubic": ("independent", 16)}
"""Losses of a TCP, and its largest windows."""


def drawn(number: int) -> tuple[Path, Video]:
    """Return the path and the stream of a case."""
    rng = np.random.default_rng([SEED, number])
    tcp, rtt = str(rng.choice(list(TCPS))), float(rng.choice([0.03, 0.05, 0.1, 0.2]))
    losses, widest = TCPS[tcp]
    rack = bool(rng.integers(2)) and tcp != "reno"
    path = Path(
        sender="classic", tcp=tcp, losses=losses, rtt=rtt, rto=rtt + float(rng.choice([0.1, 0.2])),
        loss=float(np.exp(rng.uniform(math.log(0.003), math.log(0.06)))), max_window=int(rng.integers(10, widest + 1)),
        initial_window=10 if rack else [None, 2, 4][rng.integers(3)], detection="rack" if rack else "duplicates",
    )  # fmt: skip
    with unremarked():
        rate = tcpstream.throughput(path) / rng.uniform(1.15, 2.5)
    return path, Video(packet_rate=float(rate))


def compared(number: int) -> dict[str, Any]:
    """Return answers, their stated errors, and what was drawn, by startup delay."""
    begin = time.perf_counter()
    path, video = drawn(number)
    row: dict[str, Any] = {
        "case": number, "tcp": path.tcp, "rtt_s": path.rtt, "loss": path.loss, "max_window": path.max_window,
        "packet_rate_pps": video.packet_rate,
    }  # fmt: skip
    tau = np.array(DELAYS) * path.rtt
    try:
        with unremarked(), tcpstream.time_limit(LIMIT):
            found = tcpstream.live(path, video, growth="limited")
            assert isinstance(found, LimitedLive)
            row["f"] = found.late_fraction(tau).tolist()
            row["error"] = (found.lattice_error(tau) * row["f"] + found.error_bound).tolist()
    except (AccuracyError, InputError) as reason:
        return row | {"refused": str(reason)}
    chain = chain_of(path)
    assert isinstance(chain, WindowChain)
    known = rules(chain, video.packet_rate * path.rtt, path.initial_window or 10)
    late, spread = late_fractions(
        chain, known, video.packet_rate * path.rtt, math.ceil(path.timeout_ratio), path.detection == "rack",
        np.array(DELAYS), ROUNDS, np.random.default_rng([SEED, number, 1]), RUNS,
    )  # fmt: skip
    row |= {"drawn": late.tolist(), "drawn_error": spread.tolist()}
    return row | {"seconds": round(time.perf_counter() - begin, 1)}


def summary(rows: list[dict[str, Any]]) -> str:
    """Return how far answers are off, by TCP, beyond what they state, in standard errors of what was drawn."""
    lines = [f"{len(rows)} cases, {sum('refused' in row for row in rows)} refused"]
    for tcp in TCPS:
        z, stated = [], []
        for row in rows:
            if row["tcp"] != tcp or "refused" in row:
                continue
            for f, off, late, error in zip(row["f"], row["error"], row["drawn"], row["drawn_error"]):
                if 0 < error < KNOWN * late:
                    z.append(max(abs(f - late) - off, 0.0) / error)
                    stated.append(off / f)
        far, over = max(z, default=0.0), sum(one > SIGMAS for one in z)
        lines.append(
            f"{tcp}: {len(z)} late fractions judged, farthest {far:.2f} standard errors beyond the stated error "
            f"(median {np.median(stated or [math.nan]):.1%}), {over} beyond {SIGMAS:g}"
        )
    return "\n".join(lines)


def main() -> None:
    """Record what is missing, and print the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after a case, once so many have passed")
    parser.add_argument("--table", action="store_true", help="print the summary of what is recorded")
    given = parser.parse_args()
    begin = time.monotonic()
    RESULTS.touch()
    known = {row["case"] for row in read(RESULTS)}
    with appending(RESULTS) as append:
        for number in range(0 if given.table else CASES):
            if number not in known and time.monotonic() - begin < given.seconds:
                append(compared(number))
    print(summary(list(read(RESULTS))))


if __name__ == "__main__":
    main()

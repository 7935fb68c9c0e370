"""How far a lattice of several packets is off where windows are large.

Run ``python validation/quantum.py`` (about an hour, 12 GiB; ``--small`` leaves out the large window). Each case is
solved packet by packet and on coarse lattices; late fractions, the exact alpha and the required delay are compared.
Cases are recorded as they come and not solved again.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream import Path, StoredStreaming, Video, cost, stored, throughput

RESULTS = FilePath(__file__).parent / "results" / "quantum.json"

SMALLEST = 1e-6
"""Late fractions below this are not compared."""

#: name, loss, T_O, W_max, b, T/mu, duration [rounds], whether large
CASES = [
    ("p .001", 1e-3, 4, 256, 1, 1.2, 800, False),
    ("p .001, long timeouts", 1e-3, 10, 256, 1, 1.6, 800, False),
    ("p .001, delayed ACKs", 1e-3, 3, 256, 2, 1.3, 800, False),
    ("p .001, small largest window", 1e-3, 3, 48, 1, 1.1, 800, False),
    ("p .002", 2e-3, 2, 180, 1, 1.4, 800, False),
    ("p .003", 3e-3, 1, 140, 1, 1.2, 800, False),
    ("p .0003", 3e-4, 4, 480, 1, 1.3, 800, False),
    ("25 Mbit/s, 50 ms, p .0001", 1e-4, 4, 1024, 1, 1.2153, 2400, True),
]


def answers(result: StoredStreaming, delays: list[float], tau: float) -> dict[str, Any]:
    """Return late fractions, alpha and the required delay, with the time they took."""
    start = time.perf_counter()
    f = [float(value) for value in result.late_fraction(delays)]
    required = result.required_delay()
    table = time.perf_counter() - start
    alpha = float(result.no_late_probability(tau))
    return {"quantum": result.quantum, "f": f, "required_delay": required, "alpha": alpha, "seconds_table": table,
            "seconds_alpha": time.perf_counter() - start - table, "error_bound": result.error_bound}  # fmt: skip


def case(loss: float, ratio: float, window: int, b: int, headroom: float, rounds: int) -> dict[str, Any]:
    """Solve one path and video, R = 50 ms, on several lattices."""
    path = Path(loss=loss, rtt=0.05, timeout_ratio=ratio, max_window=window, rounds_per_increase=b)
    video = Video(packet_rate=throughput(path) / headroom, duration=0.05 * rounds)
    chosen = 2 ** int(np.log2(throughput(path) * path.rtt))
    quanta = [chosen // 2, chosen, 2 * chosen]
    coarse = stored(path, video, quantum=quanta[0])
    delays = [coarse.required_delay(target) for target in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 2e-6)]
    rows = [answers(stored(path, video, quantum=q), delays, delays[3]) for q in (*quanta, 1)]
    exact = rows[-1]
    seen = np.array(exact["f"]) > SMALLEST
    for row in rows:
        ratio_f = np.array(row["f"])[seen] / np.array(exact["f"])[seen]
        row["error_f"] = float(np.abs(ratio_f - 1).max())
        row["error_late"] = abs((1 - row["alpha"]) / (1 - exact["alpha"]) - 1)
        row["error_alpha"] = abs(row["alpha"] / exact["alpha"] - 1)
        row["error_delay"] = abs(row["required_delay"] / exact["required_delay"] - 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"packet_rate": video.packet_rate, "delays": delays, "chosen": chosen, "peak_GiB": peak, "rows": rows}


def main() -> None:
    """Solve the cases that are not recorded yet, and print all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--small", action="store_true", help="leave out the case that takes most of the time")
    small = parser.parse_args().small
    cost.MOST_BYTES, cost.MOST_CELLS = 2**34, 1e13
    done: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, *parameters, large in CASES:
        if name not in done and not (small and large):
            done[name] = case(*parameters)
            RESULTS.write_text(json.dumps(done, indent=1) + "\n")
        for row in done[name]["rows"] if name in done else []:
            print(
                f"{name}: quantum {row['quantum']}: f {row['error_f']:.2%}, late {row['error_late']:.2%}, alpha "
                f"{row['error_alpha']:.3%}, delay {row['error_delay']:.3%}; {row['seconds_table']:.2f} s + "
                f"{row['seconds_alpha']:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()

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

from tcpstream import Path, StoredStreaming, Video, stored, throughput
from tcpstream.transient import cost

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
    ("p .001, T/mu 3", 1e-3, 4, 256, 1, 3, 800, False),
    ("p .001, T/mu 10", 1e-3, 4, 256, 1, 10, 800, False),
    ("p .003, T/mu 30", 3e-3, 2, 120, 1, 30, 800, False),
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


def exact(path: Path, video: Video, chosen: int) -> dict[str, Any]:
    """Solve a case packet by packet, at the delays of some late fractions."""
    coarse = stored(path, video, quantum=chosen // 2)
    delays = [coarse.required_delay(target) for target in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 2e-6)]
    row = answers(stored(path, video, quantum=1), delays, delays[3])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"delays": delays, "peak_GiB": peak} | row


def compared(row: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """Add the relative differences to answers on a coarse lattice, that of the delay to a tenth of the longest."""
    f, f_exact = np.array(row["f"]), np.array(reference["f"])
    seen = f_exact > SMALLEST
    return row | {
        "error_f": float(np.abs(f / f_exact - 1)[seen].max()),
        "error_late": abs((1 - row["alpha"]) / (1 - reference["alpha"]) - 1),
        "error_alpha": abs(row["alpha"] / reference["alpha"] - 1),
        "error_delay": abs(row["required_delay"] - reference["required_delay"])
        / max(reference["required_delay"], reference["delays"][-1] / 10),
    }


def main() -> None:
    """Solve exactly what is not recorded yet, and everything on coarse lattices; record and print it."""
    parser = argparse.ArgumentParser(description="compare lattices of several packets with the exact one")
    parser.add_argument("--small", action="store_true", help="leave out the case that takes most of the time")
    small = parser.parse_args().small
    cost.MOST_BYTES, cost.MOST_CELLS = 2**34, 1e13
    done: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, loss, ratio, window, b, headroom, rounds, large in CASES:
        path = Path(
            sender="classic", loss=loss, rtt=0.05, timeout_ratio=ratio, max_window=window, rounds_per_increase=b
        )
        video = Video(packet_rate=throughput(path) / headroom, duration=0.05 * rounds)
        chosen = 2 ** int(np.log2(throughput(path) * path.rtt * cost.ABOUT))
        if name not in done:
            if small and large:
                continue
            done[name] = {"exact": exact(path, video, chosen)}
            RESULTS.write_text(json.dumps(done, indent=1) + "\n")
        reference = done[name]["exact"]
        delays = reference["delays"]
        found = (answers(stored(path, video, quantum=q), delays, delays[3]) for q in (chosen // 2, chosen, 2 * chosen))
        done[name] |= {"chosen": chosen, "coarse": [compared(row, reference) for row in found]}
        RESULTS.write_text(json.dumps(done, indent=1) + "\n")
        for row in done[name]["coarse"]:
            print(
                f"{name}: quantum {row['quantum']}: f {row['error_f']:.2%}, late {row['error_late']:.2%}, alpha "
                f"{row['error_alpha']:.3%}, delay {row['error_delay']:.3%}; {row['seconds_table']:.2f} s + "
                f"{row['seconds_alpha']:.2f} s for {reference['seconds_table']:.0f} s + "
                f"{reference['seconds_alpha']:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""How far the three-point weights are off where packets per round fit no fine lattice.

Run ``python validation/lattice.py`` (about 5 minutes). Each case has m = mu R on a lattice too fine for the solver's
own choice; the late fraction solved with the solver's choice is compared with the one on the exact lattice.
"""

from __future__ import annotations

import json
import math
from pathlib import Path as FilePath
from unittest import mock

import numpy as np

from tcpstream import EndlessLive, Path, Video, live, throughput
from tcpstream import stationary as solver

SEED = 20
CASES = 40
EXACT = 30
"""Denominator of the exact lattice."""
SMALLEST = 1e-6
"""Late fractions below this are not compared."""


def case(rng: np.random.Generator) -> dict[str, float]:
    """Solve one random path and rate both ways; return the settings and the largest relative difference."""
    loss = float(np.exp(rng.uniform(math.log(0.01), math.log(0.06))))
    ratio = float(rng.choice([1.0, 1.5, 2.0, 3.0]))
    path = Path(
        loss=loss, rtt=1.0, timeout_ratio=ratio, max_window=int(rng.integers(5, 25)),
        rounds_per_increase=int(rng.integers(1, 3)),
    )  # fmt: skip
    while True:
        m = round(float(rng.uniform(0.3, 0.85)) * throughput(path) * EXACT) / EXACT
        if m * solver.lattice(m, path.max_window) % 1 > 1e-6:
            break
    video = Video(packet_rate=m)
    fast = live(path, video)
    assert isinstance(fast, EndlessLive)
    with mock.patch.object(solver, "lattice", return_value=EXACT):
        exact = live(path, video)
    delays = np.linspace(0, exact.required_delay(1e-5), 30)
    f, reference = fast.late_fraction(delays), exact.late_fraction(delays)
    seen = reference > SMALLEST
    error = float(np.abs(f[seen] / reference[seen] - 1).max())
    return {"loss": loss, "timeout_ratio": ratio, "max_window": path.max_window, "m": m,
            "b": path.rounds_per_increase, "stride": fast.backlog.stride, "error": error}  # fmt: skip


def main() -> None:
    """Run all cases, print the quantiles and record everything."""
    rng = np.random.default_rng(SEED)
    rows = []
    for number in range(CASES):
        rows.append(case(rng))
        print(number + 1, {key: round(value, 4) for key, value in rows[-1].items()}, flush=True)
    errors = np.array([row["error"] for row in rows])
    summary = {"cases": CASES, "median": float(np.median(errors)), "p90": float(np.quantile(errors, 0.9)),
               "largest": float(errors.max())}  # fmt: skip
    print(summary)
    results = FilePath(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "lattice.json").write_text(json.dumps({"seed": SEED, "summary": summary, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

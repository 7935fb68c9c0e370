"""Draw mobile.csv: ``python examples/draw_mobile.py``. The throughput of a made-up path, a mean a second.

The path is slow for 8 s and fast for 16 s on average, with exponential stays; in each second the throughput is
lognormal around that of the regime, and between both where the path changes.
"""

from pathlib import Path

import numpy as np

SECONDS, STAYS, MBPS, SPREAD, SEED = 900, (8.0, 16.0), (0.8, 3.2), 0.2, 2026


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(SEED)
    shares = np.zeros((SECONDS, 2))  # of each second in each regime
    time, regime = 0.0, 1
    while time < SECONDS:
        end = time + rng.exponential(STAYS[regime])
        for second in range(int(time), min(int(end) + 1, SECONDS)):
            shares[second, regime] += max(min(end, second + 1) - max(time, second), 0.0)
        time, regime = end, 1 - regime
    factor = np.exp(SPREAD * rng.standard_normal(SECONDS) - SPREAD**2 / 2)
    lines = [f"{second + 1},{value:.3f}" for second, value in enumerate(shares @ MBPS * factor)]
    Path(__file__).with_name("mobile.csv").write_text("\n".join(["time_s,throughput_mbps", *lines]) + "\n")


if __name__ == "__main__":
    main()

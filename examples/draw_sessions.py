"""Draw sessions.csv: ``python examples/draw_sessions.py``. Sessions of three made-up networks, a row each.

Round trip times and shares of retransmitted packets are log-normal; three rows are damaged, as in any log.
"""

from pathlib import Path

import numpy as np

SESSIONS, SEED = 1000, 2026
NETWORKS = {"cable": (60.0, 1.0), "fibre": (40.0, 0.7), "mobile": (110.0, 2.0)}
"""Median round trip time [ms] and median share of retransmitted packets [percent]."""


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(SEED)
    rows = []
    for number in range(SESSIONS):
        name = str(rng.choice(list(NETWORKS)))
        rtt, share = (median * np.exp(0.5 * rng.standard_normal()) for median in NETWORKS[name])
        rows.append([str(number), name, f"{rtt:.1f}", f"{share:.3f}"])
    rows[17][2], rows[170][3], rows[700][2] = "", "-1", "n/a"
    lines = ["session,network,srtt_ms,retransmitted_percent", *(",".join(row) for row in rows)]
    Path(__file__).with_name("sessions.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

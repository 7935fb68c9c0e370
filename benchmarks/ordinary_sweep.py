"""A sweep of points with a chain each: 6 Mbit/s, videos of a minute, the startup delay for one late packet in 10,000.

``python -m benchmarks.ordinary_sweep NUMBER`` answers the first so many points as a sweep does, one after another, and
writes a line for each: the point, its CPU seconds, the delay and the stated error.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from tcpstream import throughput
from tcpstream.answers.stored import stored
from tcpstream.explore.cases import case

from .ordinary_inputs import SENDERS, TODAY, Input

SEED = 20_271

LOSSES, ROUND_TRIPS, VARIATION, RATIOS = (1e-4, 0.03), (10.0, 200.0), (200, 300), (0.8, 3.0)
"""p; R and the first timer above it [ms]; T/mu. Points are drawn log-uniformly, the timer uniformly, and again where
T/mu is out of its range."""


def points() -> Iterator[dict[str, Any]]:
    """Yield rows of a table of points without end."""
    rng = np.random.default_rng(SEED)
    while True:
        sender = str(rng.choice(SENDERS))
        if "--tcp" in sender and rng.random() < 0.5:
            sender += f" {TODAY}"
        loss, rtt = (math.exp(rng.uniform(*np.log(among))) for among in (LOSSES, ROUND_TRIPS))
        given = f"--loss {loss:.3g} --rtt {rtt:.3g}ms --rto {rtt + rng.uniform(*VARIATION):.0f}ms {sender}"
        row = Input.of(f"delay {given}").path | {"bitrate": 6e6, "duration": 60.0, "target": 1e-4}
        path, video = case(row)
        if RATIOS[0] <= throughput(path) / video.packet_rate <= RATIOS[1]:
            yield row


def main() -> None:
    """Answer points, and write a line for each; the first one twice, as it loads kernels."""
    rows = list(islice(points(), int(sys.argv[1])))
    for row in rows[:1] + rows:
        start = time.process_time()
        result = stored(*case(row))
        required = result.required_delay(row["target"])
        error = float(result.relative_error(required))
        spent = time.process_time() - start
        found = {"T/mu": 1 / result.load, "seconds": spent, "required": required, "error": error}
        print(json.dumps(row | found), flush=True)


if __name__ == "__main__":
    main()

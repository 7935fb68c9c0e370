"""How much it matters that CUBIC's chain has lines for some windows only, and that W_est grows as in Linux.

Run ``python validation/cubic.py`` (some minutes). T with the lines of `tcp.cubic`, a ratio of 1.1 apart, is compared
with T of lines a ratio of 1.02 apart; and so are late fractions of short stored videos, 1.03 apart. Then T with W_est
as in RFC 9438, Section 4.3, which grows by a packet a round from the window before the loss on, over T without.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any
from unittest import mock

import numpy as np

from tcpstream import Path, Video, stored, throughput

PATHS = [
    (0.1, 0.3), (0.02, 0.1), (0.02, 0.3), (5e-3, 0.05), (1e-3, 0.01), (1e-3, 0.1), (1e-3, 0.3), (1e-4, 0.01),
    (1e-4, 0.3),
]  # fmt: skip
VIDEOS = [((0.02, 0.3), 30), ((0.05, 0.1), 20), ((0.02, 0.1), 20)]
DELAYS = [0.0, 0.5, 1.0, 2.0]
SHORT = [(0.002, 0.02), (0.004, 0.02), (0.01, 0.02)]

module: Any = importlib.import_module("tcpstream.tcp.cubic")  # the package has the function by that name


def cubic(loss: float, rtt: float) -> Path:
    return Path(loss=loss, rtt=rtt, rto=rtt + 0.2, tcp="cubic")


def finer(ratio: float) -> Any:
    return mock.patch.object(module, "RATIO", ratio)


def rfc_growth(start: int, plateau: float, rtt: float, friendly_growth: float = module.ALPHA) -> Iterator[float]:
    """Yield windows as `tcp.cubic.growth`, with the W_est of the RFC; the window before is `start` over 0.7."""
    K = math.cbrt((plateau - start) / module.C)
    window = friendly = float(start)
    n = 0
    while True:
        yield window
        n += 1
        friendly += friendly_growth if friendly < start / module.BETA else 1.0
        window = max(window, friendly, min(module.C * (n * rtt - K) ** 3 + plateau, module.STEEPEST * window))


def main() -> None:
    """Print and record the comparisons."""
    T = []
    for where in PATHS:
        used = throughput(cubic(*where))
        with finer(1.02):
            T.append({"loss": where[0], "rtt_s": where[1], "difference": used / throughput(cubic(*where)) - 1})
        print(T[-1])
    f = []
    for where, duration in VIDEOS:
        video = Video(packet_rate=0.8 * throughput(cubic(*where)), duration=duration)
        used = stored(cubic(*where), video).late_fraction(DELAYS)
        with finer(1.03):
            reference = stored(cubic(*where), video).late_fraction(DELAYS)
        largest = float(np.abs(used / reference - 1).max())
        f.append({"loss": where[0], "rtt_s": where[1], "smallest_f": float(reference.min()), "difference": largest})
        print(f[-1])
    switched = []
    for where in SHORT:
        used = throughput(cubic(*where))
        with mock.patch.object(module, "growth", rfc_growth):
            switched.append({"loss": where[0], "rtt_s": where[1], "ratio": throughput(cubic(*where)) / used})
        print(switched[-1])
    found = {"throughput": T, "late_fraction": f, "rfc_over_linux": switched}
    (FilePath(__file__).parent / "results" / "cubic.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

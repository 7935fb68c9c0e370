"""How much it matters that the chains of independent losses have repairs and lines for some windows only.

Run ``python validation/cubic.py`` (some minutes). T of both chains with windows at a loss a ratio of 1.1 apart is
compared with T of windows a ratio of 1.02 apart; and so are late fractions of short stored videos, 1.03 apart.
"""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any
from unittest import mock

import numpy as np

from tcpstream import Path, Video, stored, throughput
from tcpstream.tcp import sack_recovery as recovery

PATHS = [
    (0.1, 0.3), (0.02, 0.1), (0.02, 0.3), (5e-3, 0.05), (1e-3, 0.01), (1e-3, 0.1), (1e-3, 0.3), (1e-4, 0.01),
    (1e-4, 0.3),
]  # fmt: skip
VIDEOS = [((0.02, 0.3), 30), ((0.05, 0.1), 20), ((0.02, 0.1), 20)]
DELAYS = [0.0, 0.5, 1.0, 2.0]


def path(loss: float, rtt: float, tcp: str = "cubic") -> Path:
    return Path(sender="classic", loss=loss, rtt=rtt, rto=rtt + 0.2, tcp=tcp)


def finer(ratio: float) -> Any:
    return mock.patch.object(recovery, "RATIO", ratio)


def main() -> None:
    """Print and record the comparisons."""
    T: dict[str, list[Any]] = {"cubic": [], "reno-sack": []}
    for tcp, found in T.items():
        for loss, rtt in PATHS:
            used = throughput(path(loss, rtt, tcp))
            with finer(1.02):
                found.append({"loss": loss, "rtt_s": rtt, "difference": used / throughput(path(loss, rtt, tcp)) - 1})
            print(tcp, found[-1])
    f = []
    for where, duration in VIDEOS:
        video = Video(packet_rate=0.8 * throughput(path(*where)), duration=duration)
        answered = stored(path(*where), video).late_fraction(DELAYS)
        with finer(1.03):
            reference = stored(path(*where), video).late_fraction(DELAYS)
        largest = float(np.abs(answered / reference - 1).max())
        f.append({"loss": where[0], "rtt_s": where[1], "smallest_f": float(reference.min()), "difference": largest})
        print(f[-1])
    answer = {"throughput": T, "late_fraction": f}
    (FilePath(__file__).parent / "results" / "cubic.json").write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()

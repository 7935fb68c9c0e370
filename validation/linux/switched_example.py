"""The capture ``examples/linux-varying.pcap.gz``: ``python validation/linux/switched_example.py FOLDER``, as root."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from hub import carry
from switched.cases import Case
from switched.flows import flow

EXAMPLE = Case(rates=(60.0, 25.0), mean_stay=(6.0, 4.0), rtt=0.1, p=5e-4, queue=12, load=1.5)

SECONDS, SEED = 240.0, 11


def main() -> None:
    """Make a download of four minutes, and compress its capture."""
    capture = Path(sys.argv[1]) / "linux-varying.pcap"
    carry([flow(EXAMPLE, SECONDS, (SEED,), capture=capture)])
    capture.with_suffix(".pcap.gz").write_bytes(gzip.compress(capture.read_bytes(), mtime=0))


if __name__ == "__main__":
    main()

"""Captures of one connection over each path, some minutes long, all at once."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from .cases import Case
from .network import CAPTURED_PORT, served
from .prediction import paths

MEMORY = Path("/dev/shm")
"""Where captures are written: no disk to wait for."""

LARGE = 1 << 30
"""Bytes of the file that is downloaded."""

SECONDS = 480.0
"""Length of a capture [s]."""


def capture(case: Case, seed: int) -> dict[str, Any]:
    """Return what a capture over the path of a case shows."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        file, large = Path(folder) / "download.pcap", Path(folder) / "download"
        with large.open("wb") as empty:
            empty.truncate(LARGE)
        path = {"p": case.p, "rtt": case.rtt, "seed": seed, "capture": str(file), "port": CAPTURED_PORT}
        with served(Path(folder), case.tcp, path) as router:
            download = subprocess.Popen([sys.executable, str(Path(__file__).with_name("download.py"))])
            time.sleep(SECONDS)
            download.kill()
            download.wait()
        found = paths(file)
    return {"path": case.path, "seconds": SECONDS, "router": router, "paths": found}


def captures(cases: Sequence[Case]) -> Iterator[dict[str, Any]]:
    """Return captures over the paths of some cases, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(cases), mp_context=context) as pool:
        yield from pool.map(capture, cases, range(1, len(cases) + 1))

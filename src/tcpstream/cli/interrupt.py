"""Ctrl-C, also where compiled code or a pool of threads does not heed it."""

from __future__ import annotations

import os
import signal
import sys
import time
from threading import Thread

INTERRUPTED = 130
"""Exit status."""

GRACE = 1.0
"""Seconds that the command has to end by itself."""

CLEAN = b"\r\x1b[2K\x1b[?25h"
"""What leaves a terminal without a bar, and with a cursor."""


def watch() -> None:
    """Let an interruption end this process: by `KeyboardInterrupt`, or a moment later in any case."""
    seen, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    Thread(target=_end, args=(seen,), daemon=True).start()


def _end(seen: int) -> None:
    while os.read(seen, 1) != bytes([signal.SIGINT]):
        continue
    time.sleep(GRACE)
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), CLEAN)
    os._exit(INTERRUPTED)

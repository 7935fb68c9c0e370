"""The kernel's TCP over paths whose bottleneck changes: ``python validation/linux/switched_runs.py FOLDER``, as root.

Makes the sessions, traces and captures of `switched/make.py` that are not recorded, captures in FOLDER: an hour and a
half in all. After an interruption it goes on where it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from namespaces import UnavailableError, check
from switched import make

PARTS = {
    "captures": lambda folder: make.make_captures(folder),
    "traces": lambda folder: make.make_traces(),  # noqa: ARG005
    "sessions": lambda folder: make.make_sessions(lambda line: print(line, flush=True)),  # noqa: ARG005
}


def main() -> int:
    """Make each part in a process of its own: its namespaces end with it."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        PARTS[sys.argv[2]](folder)
        return 0
    try:
        check()
    except UnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for part in PARTS:
        print(part, flush=True)
        subprocess.run([sys.executable, __file__, str(folder), part], env=environment, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

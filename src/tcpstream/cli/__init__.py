"""The command line: one small file per command, that parses, calls and presents."""

from __future__ import annotations

import os

from .interrupt import INTERRUPTED, interrupted, leave, watch

TYPE_CHECKING = False  # as in the package's root

if TYPE_CHECKING:
    from collections.abc import Sequence


THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Of linear algebra, whose matrices are small here: more than one wait for each other longer than they work."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv` and return the exit status; without one, on the process's own, and end it."""
    try:
        if argv is None:
            watch()
            os.environ.update({name: "1" for name in THREADS if name not in os.environ})  # before numpy is imported
        from .app import answer  # an interruption may come while this loads

        status = answer(argv)
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) or interrupted()):
            raise
        status = INTERRUPTED
    if argv is None:
        leave(status)
    return status


__all__ = ["main"]

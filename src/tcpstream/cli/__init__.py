"""The command line: one small file per command, that parses, calls and presents."""

from __future__ import annotations

from collections.abc import Sequence

from .interrupt import INTERRUPTED, watch


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv` (by default the process's own) and return the exit status."""
    try:
        if argv is None:
            watch()
        from .app import answer  # an interruption may come while this loads

        return answer(argv)
    except KeyboardInterrupt:
        return INTERRUPTED


__all__ = ["main"]

"""How the process ends: at once, and by Ctrl-C also where compiled code or a pool of threads does not heed it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False  # as in the package's root

if TYPE_CHECKING:
    from typing import Any, NoReturn

INTERRUPTED = 130
"""Exit status."""

GRACE = 0.5
"""Seconds that an interrupted command has to end by itself."""

CLEAN = b"\r\x1b[2K\x1b[?25h"
"""What leaves a terminal without a bar, and with a cursor."""

_interrupted = False
_owned = False
_kept = ""


def watch() -> None:
    """Let an interruption end this process: by `KeyboardInterrupt`, or a moment later in any case."""
    global _owned
    _owned = True
    import signal  # here, where an interruption is heeded already
    from threading import Thread

    def interrupt(*given: Any) -> None:
        global _interrupted
        _interrupted = True
        if _compiling():
            _end()
        signal.default_int_handler(*given)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # ignored, as under nohup
    seen, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    Thread(target=_await, args=(seen, signal.SIGINT), daemon=True).start()
    sys.unraisablehook = _unraisable
    sys.excepthook = _uncaught
    signal.signal(signal.SIGINT, interrupt)


def interrupted() -> bool:
    """Return whether this process was interrupted: what is raised then may be any exception, in what loads modules."""
    return _interrupted


def keeps(place: str) -> None:
    """Say where a command keeps what it has found so far, which is told when it is interrupted."""
    global _kept
    _kept = place


def owned() -> bool:
    """Return whether this process is the command's own, and ends with it."""
    return _owned


def leave(status: int) -> NoReturn:
    """End this process; unloading all that was compiled would take a while, and not heed Ctrl-C."""
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # full, closed, or not there
            continue
    if _interrupted:
        _end()
    os._exit(status)


def _compiling() -> bool:
    """Return whether this thread compiles: what LLVM leaves half done does not survive an exception."""
    lock = sys.modules.get("numba.core.compiler_lock")
    return lock is not None and hasattr(lock, "global_compiler_lock") and lock.global_compiler_lock.is_locked()


def _await(seen: int, wanted: int) -> None:
    while os.read(seen, 1) != bytes([wanted]):
        continue
    time.sleep(GRACE)
    _end()


def _unraisable(failed: Any) -> None:
    """End where an interruption came while something was called that cannot pass it on."""
    if issubclass(failed.exc_type, KeyboardInterrupt):
        _end()
    sys.__unraisablehook__(failed)


def _uncaught(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """End where an interruption came in what compiled code called, which would print it and go on."""
    if issubclass(kind, KeyboardInterrupt):
        _end()
    sys.__excepthook__(kind, error, trace)


def clean() -> None:
    """Leave a terminal without a bar."""
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), CLEAN)


def _end() -> NoReturn:
    clean()
    if _kept and os.path.exists(_kept):  # noqa: PTH110
        with suppress(OSError):
            told = (
                f"tcpstream: interrupted; what was found so far is in {_kept}: the same command continues from there\n"
            )
            os.write(2, told.encode())
    os._exit(INTERRUPTED)

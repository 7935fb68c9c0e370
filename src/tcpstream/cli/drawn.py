"""Sessions that ``tcpstream play`` draws: a table in a file, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ..errors import InputError, whole

if TYPE_CHECKING:
    from ..answers.viewing import Viewing

SEED = 1


class Draw:
    """What was asked for of sessions, judged before anything is solved.

    Attributes
    ----------
    sessions, seed : int
    out : str, optional
        The file; None where no sessions are asked for.
    """

    def __init__(self, sessions: float | None, seed: float | None, out: str | None, beside: list[str]) -> None:
        self.out = out
        if sessions is None or out is None:
            needed = {"--sessions N": sessions, "--out FILE": out}
            for name, value in (("--sessions", sessions), ("--seed", seed), ("--out", out)):
                if value is not None:
                    missing = [other for other, there in needed.items() if there is None]
                    raise InputError(f"{name} is for sessions that are drawn: give {' and '.join(missing)} as well")
            return
        if beside:
            raise InputError(
                "sessions are drawn of stored videos that TCP sends as fast as it can, or in segments, and of live "
                f"streams whose player waits: leave out --sessions, or {beside[0]}"
            )
        self.sessions = whole("sessions", sessions)
        self.seed = whole("seed", SEED if seed is None else seed, 0)
        check_file(out, "sessions", "session,")

    def write(self, result: Viewing, data: dict[str, Any], blocks: list[Any]) -> None:
        """Draw and write the sessions, and add what is said of them to the answer."""
        if self.out is None:
            return
        import numpy as np

        drawn = result.sessions(self.sessions, np.random.default_rng(self.seed))  # type: ignore[attr-defined]
        drawn.write_csv(self.out)
        stalled = int((drawn.stalls > 0).sum())
        data["sessions"] = {"drawn": self.sessions, "seed": self.seed, "with_stalls": stalled, "file": self.out}
        blocks.append(
            f"{self.sessions:,} sessions, {stalled:,} of them with stalls, are in {self.out} (seed {self.seed})."
        )


def check_file(out: str, what: str, header: str) -> None:
    """Raise `InputError` where a table of something, whose first line begins like this, cannot go to a file."""
    if FilePath(out).suffix != ".csv":
        raise InputError(f"a table of {what} is written as .csv, got {out}")
    if not os.path.isdir(FilePath(out).parent):  # noqa: PTH112
        raise InputError(f"cannot write {out}: no such folder")
    if not _may_replace(FilePath(out), header):
        raise InputError(f"{out} is there, and no table of {what}: give another --out, or remove it")


def _may_replace(file: FilePath, header: str) -> bool:
    """Return whether a file is not there, or such a table."""
    try:
        with file.open(encoding="utf-8") as there:
            return there.readline().startswith(header)
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False

"""Files that are never seen half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import IO

from ..errors import unwritable


@contextmanager
def aside(file: FilePath) -> Iterator[IO[bytes]]:
    """Open a hidden file beside the one that is wanted, which it becomes once it is complete."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    unfinished = FilePath(name)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        unfinished.chmod(0o644)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def written(file: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open what becomes a file once it is complete; a device stays what it is.

    Raises
    ------
    InputError, WriteError
        Where it cannot be written.
    """
    path = FilePath(file)
    try:
        with path.open("wb") if path.exists() and not path.is_file() else aside(path) as out:
            yield out
    except OSError as error:
        raise unwritable(f"write {file}", error) from None

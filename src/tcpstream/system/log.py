"""Records that are appended to a file one by one, a line of JSON each, and gone on from after an interruption."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from ..errors import unwritable


def whole_lines(file: FilePath) -> list[str]:
    """Return the lines of a file, without a last one that was cut off; none where there is no file."""
    return _whole(file).decode("utf-8", "replace").splitlines()


def read(file: FilePath) -> list[Any]:
    """Return what the lines of a file hold, without a last one that was cut off."""
    return [json.loads(line) for line in whole_lines(file)]


@contextmanager
def appending(file: FilePath, doing: str = "keep runs in") -> Iterator[Callable[[Any], None]]:
    """Remove a last line that was cut off, and yield what appends a record and flushes it.

    What cannot be written is an `InputError` or a `WriteError` that says what it was `doing`: see `unwritable`.
    """
    try:
        whole = _whole(file)
        with file.open("ab") as out:
            out.truncate(len(whole))
            if whole and not whole.endswith(b"\n"):
                out.write(b"\n")

            def append(record: Any) -> None:
                out.write(json.dumps(record).encode() + b"\n")
                out.flush()

            yield append
    except OSError as error:
        raise unwritable(f"{doing} {file}", error) from None


def _whole(file: FilePath) -> bytes:
    """Return what a file holds up to where it was cut off; of the last line no more than its end may be missing."""
    data = file.read_bytes() if file.exists() else b""
    end = data.rfind(b"\n") + 1
    try:
        json.loads(data[end:])
    except (ValueError, RecursionError):
        return data[:end]
    return data

"""What a sweep has computed, kept in a folder as it comes: a Parquet file for each chunk, and what they belong to."""

from __future__ import annotations

import hashlib
import json
import re
from os import PathLike
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ..errors import InputError, cause, unwritable
from ..system.whole_files import aside
from .columns import KINDS
from .frames import pandas, parquet

if TYPE_CHECKING:
    from pandas import DataFrame

MANIFEST = "sweep.json"
POINTS = "points.parquet"
PART = re.compile(r"part-(\d{6})\.parquet")

ABOUT = ("version", "kind", "alpha", "axes", "chunks", "digest", "sender")
"""What the answers depend on, in the manifest; sender is that of points which name none."""

BEFORE = {"sender": "classic"}
"""What manifests do not say that are older."""


class Store:
    """A folder of answers.

    Parameters
    ----------
    folder : path-like
        Made if there is none. Files are written under another name and renamed, so that none is ever cut off.
    points : DataFrame
        All points of the sweep.
    about : dict
        What the answers depend on besides the points, ready for JSON.

    Raises
    ------
    InputError
        For a folder that cannot be used, or that holds another sweep.
    WriteError
        When the disk is full.
    """

    def __init__(self, folder: str | PathLike[str], points: DataFrame, about: dict[str, Any]) -> None:
        parquet("a store")
        self.folder = FilePath(folder)
        about = about | {"digest": _digest(points)}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / MANIFEST).exists():
                if any(not _unfinished(file) for file in self.folder.iterdir()):
                    raise InputError(f"{folder} has other files: give an empty or a new folder")
                data = _parquet(points, folder)
                _write(self.folder / POINTS, data)
                kept = about | {"points": hashlib.sha256(data).hexdigest()}
                _write(self.folder / MANIFEST, (json.dumps(kept, indent=1) + "\n").encode())
        except OSError as error:
            raise unwritable(f"keep a sweep in {folder}", error) from None
        kept = _manifest(self.folder)
        differ = [name for name in about if (BEFORE | kept)[name] != about[name]]
        if differ:
            raise InputError(
                f"{folder} holds another sweep ({_difference(differ[0], kept, about)}): give another folder"
            )
        self.sweep = _sweep(kept)

    def done(self) -> dict[int, DataFrame]:
        """Return the answers that are there, by the number of their chunk."""
        return _answers(self.folder, self.sweep)

    def put(self, chunk: int, answers: DataFrame) -> None:
        """Keep the answers of a chunk."""
        file = self.folder / f"part-{chunk:06d}.parquet"
        marked = answers.copy(deep=False)
        marked.attrs = {"sweep": self.sweep, "chunk": chunk, "digest": _digest(answers)}
        try:
            _write(file, _parquet(marked, self.folder))
        except OSError as error:
            found = unwritable(f"write {file}", error)
            raise type(found)(f"{found}; what is kept stays, and the same call goes on after it") from None


def stored(folder: str | PathLike[str]) -> tuple[DataFrame, list[DataFrame], dict[str, Any]]:
    """Return the points of a store, the answers so far, and what they depend on.

    Raises
    ------
    InputError
        For a folder without a sweep, or a file in it that is damaged or belongs elsewhere.
    """
    where = FilePath(folder)
    about = _manifest(where)
    points = where / POINTS
    try:
        same = hashlib.sha256(points.read_bytes()).hexdigest() == about.get("points")
    except OSError as error:
        raise InputError(f"cannot read {points}: {cause(error)}") from None
    if not same:
        raise InputError(f"{points} is not as it was written: sweep into a new folder")
    answers = _answers(where, _sweep(about))
    return _read(points), [answers[number] for number in sorted(answers)], about


def _answers(folder: FilePath, sweep: str) -> dict[int, DataFrame]:
    """Return the answers that are there, by the number of their chunk, each as it was written."""
    found: dict[int, DataFrame] = {}
    for file in sorted(folder.glob("part-*.parquet")):
        named = PART.fullmatch(file.name)
        table = _read(file) if named else None
        if table is None or not named or not _belongs(table, sweep, int(named[1])):
            raise InputError(f"{file} is not what this sweep keeps there: move it away, and it is solved again")
        table.attrs = {}
        found[int(named[1])] = table
    return found


def _belongs(table: DataFrame, sweep: str, chunk: int) -> bool:
    marks = table.attrs
    return (marks.get("sweep"), marks.get("chunk"), marks.get("digest")) == (sweep, chunk, _digest(table))


def _read(file: FilePath) -> DataFrame:
    pd = pandas("a store")
    parquet("a store")
    try:
        table: DataFrame = pd.read_parquet(file)
    except Exception as error:  # a damaged file makes its reader raise anything
        reason = str(error).splitlines() or [type(error).__name__]
        raise InputError(f"cannot read {file}: {reason[0]}; move it away, and it is solved again") from None
    return table


def _parquet(table: DataFrame, folder: object) -> bytes:
    """Return a table as the bytes of a file."""
    try:
        data: bytes = table.to_parquet()
    except (ValueError, TypeError) as error:
        raise InputError(f"cannot keep these points in {folder}: {str(error).splitlines()[0]}") from None
    return data


def _manifest(folder: FilePath) -> dict[str, Any]:
    nothing = InputError(f"{folder} holds no sweep: it has no readable {MANIFEST}")
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise nothing from None
    if not isinstance(found, dict) or not set(ABOUT) <= (BEFORE | found).keys():
        raise nothing
    if found["kind"] not in KINDS or not isinstance(found["axes"], list) or not isinstance(found["version"], str):
        raise nothing
    return found


def _unfinished(file: FilePath) -> bool:
    """Return whether a file is what a sweep leaves that ended before its manifest was written."""
    return file.name == POINTS or file.name.startswith((f".{POINTS}.", f".{MANIFEST}."))


def _write(file: FilePath, data: bytes) -> None:
    with aside(file) as out:
        out.write(data)


def _sweep(about: dict[str, Any]) -> str:
    """Return what tells sweeps apart: all that their answers depend on, as far as a manifest says it."""
    return hashlib.sha256(json.dumps([about[name] for name in ABOUT if name in about]).encode()).hexdigest()


def _digest(table: DataFrame) -> str:
    """Return what tells tables apart: names, values, order."""
    text = json.dumps([list(table.columns), table.index.tolist(), table.to_dict("records")], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _difference(name: str, kept: dict[str, Any], about: dict[str, Any]) -> str:
    return "other points" if name == "digest" else f"{name} {(BEFORE | kept).get(name)}, not {about[name]}"

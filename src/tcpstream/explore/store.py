"""What a sweep has computed, kept in a folder as it comes: a Parquet file for each chunk, and what they belong to."""

from __future__ import annotations

import hashlib
import json
import os
from os import PathLike
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .frames import pandas, parquet

if TYPE_CHECKING:
    from pandas import DataFrame

MANIFEST = "sweep.json"
POINTS = "points.parquet"


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
    """

    def __init__(self, folder: str | PathLike[str], points: DataFrame, about: dict[str, Any]) -> None:
        parquet("a store")
        self.folder = FilePath(folder)
        about = about | {"digest": _digest(points)}
        manifest = self.folder / MANIFEST
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not manifest.exists():
                if any(self.folder.iterdir()):
                    raise InputError(f"{folder} has other files: give an empty or a new folder")
                self._write(POINTS, points)
                _replace(manifest, lambda file: file.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8"))
        except OSError as error:
            raise InputError(f"cannot keep a sweep in {folder}: {error.strerror}") from None
        kept = _manifest(self.folder)
        differ = [name for name in about if kept.get(name) != about[name]]
        if differ:
            raise InputError(
                f"{folder} holds another sweep ({_difference(differ[0], kept, about)}): give another folder"
            )

    def done(self) -> dict[int, DataFrame]:
        """Return the answers that are there, by the number of their chunk."""
        return {int(file.stem.partition("-")[2]): _read(file) for file in _parts(self.folder)}

    def put(self, chunk: int, answers: DataFrame) -> None:
        """Keep the answers of a chunk."""
        self._write(f"part-{chunk:06d}.parquet", answers)

    def _write(self, name: str, table: DataFrame) -> None:
        _replace(self.folder / name, table.to_parquet)


def stored(folder: str | PathLike[str]) -> tuple[DataFrame, list[DataFrame], dict[str, Any]]:
    """Return the points of a store, the answers so far, and what they depend on.

    Raises
    ------
    InputError
        For a folder without a sweep.
    """
    where = FilePath(folder)
    about = _manifest(where)
    return _read(where / POINTS), [_read(file) for file in _parts(where)], about


def _parts(folder: FilePath) -> list[FilePath]:
    return sorted(folder.glob("part-*.parquet"))


def _read(file: FilePath) -> DataFrame:
    pd = pandas("a store")
    parquet("a store")
    try:
        table: DataFrame = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {str(error).splitlines()[0]}") from None
    return table


def _manifest(folder: FilePath) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{folder} holds no sweep: it has no readable {MANIFEST}") from None
    return found


def _replace(file: FilePath, write: Any) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    write(unfinished)
    unfinished.replace(file)


def _digest(points: DataFrame) -> str:
    """Return what tells tables apart: names, values, order."""
    text = json.dumps([list(points.columns), points.to_dict("records")], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _difference(name: str, kept: dict[str, Any], about: dict[str, Any]) -> str:
    return "other points" if name == "digest" else f"{name} {kept.get(name)}, not {about[name]}"

"""``tcpstream schema``: what ``--json`` of each command prints, as a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click

from .report import Report
from .sections import Sectioned

SHARED = "common"
"""File of what several commands print."""

REFERENCE = "#/$defs/"


@click.command(cls=Sectioned)
@click.argument("command")
def schema(command: str) -> Report:
    """What --json of a command prints, as a JSON Schema.

    COMMAND is the name of a command, as delay. The schema (draft 2020-12) says which keys there are, their types and
    units. New keys may be added in any version; `schema` in the answer counts up where a key is removed or means
    something else.
    """
    from ..errors import choice

    choice("command", command, described())
    return _Document(of(command), [], as_json=True)


class _Document(Report):
    """A report that is its data and nothing else."""

    def write(self) -> None:
        """Print to stdout."""
        print(json.dumps(self.data, indent=2, ensure_ascii=False))


def described() -> tuple[str, ...]:
    """Return the commands that have a schema."""
    names = (file.name.removesuffix(".json") for file in _folder().iterdir() if file.name.endswith(".json"))
    return tuple(sorted(set(names) - {SHARED}))


def of(command: str) -> dict[str, Any]:
    """Return the schema of a command, with the shared definitions that it refers to."""
    found, shared = _read(command), _read(SHARED)["$defs"]
    wanted: dict[str, Any] = {}
    todo = list(_references(found))
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted[name] = shared[name]
            todo += _references(shared[name])
    return found | {"$defs": {name: wanted[name] for name in sorted(wanted)}}


def _folder() -> Any:
    return files(__package__).joinpath("schemas")


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_folder().joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return found


def _references(part: Any) -> Iterator[str]:
    """Yield the names of the definitions that a part of a schema refers to."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].removeprefix(REFERENCE)
        for one in part.values():
            yield from _references(one)
    elif isinstance(part, list):
        for one in part:
            yield from _references(one)

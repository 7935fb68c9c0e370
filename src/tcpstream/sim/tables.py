"""Tables of a file: nothing unknown in them, and dataclasses made of them, whose fields are what is accepted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from ..errors import InputError, shown

Made = TypeVar("Made")
Table = Mapping[str, Any]
Reader = Callable[[Any, str], Any]
"""From a value and the name of its place in the file to what the field wants."""


def made(kind: type[Made], table: Any, where: str, **readers: Reader) -> Made:
    """Return an object of a dataclass from a table of its fields, those with a reader read by it."""
    accepted = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    known(as_table(table, where), tuple(accepted), where)
    for name, field in accepted.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where}: {name} is needed")
        if name in table and field.type == "bool" and not isinstance(table[name], bool):
            raise InputError(f"{where}.{name} must be true or false, got {shown(table[name])}")
    values = {key: readers[key](value, f"{where}.{key}") if key in readers else value for key, value in table.items()}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def kind_of(table: Any, key: str, accepted: tuple[str, ...], where: str) -> tuple[str, Table]:
    """Return what a table says it is, and the rest of it."""
    kind = as_table(table, where).get(key)
    if kind not in accepted:
        raise InputError(f"{where}.{key} must be one of {', '.join(accepted)}, got {shown(kind)}")
    return kind, {name: value for name, value in table.items() if name != key}


def known(table: Table, accepted: tuple[str, ...], where: str) -> None:
    """Raise `InputError` if a table has a key that is not accepted."""
    for key in table:
        if key not in accepted:
            raise InputError(f"{where}: unknown key {shown(key)}; accepted are {', '.join(accepted)}")


def as_table(value: Any, where: str) -> Table:
    """Return a table, or raise `InputError` naming its place."""
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table, got {shown(value)}")
    return value


def as_list(value: Any, where: str, read: Reader) -> tuple[Any, ...]:
    """Return what `read` makes of each table of a list, whose places are counted from 1."""
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list of tables, got {shown(value)}")
    return tuple(read(item, f"{where}[{number}]") for number, item in enumerate(value, 1))


def as_names(value: Any, where: str) -> tuple[str, ...]:
    """Return names in a list."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where} must be a list of names of links, got {shown(value)}")
    return tuple(value)

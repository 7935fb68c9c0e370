"""Applications from Python files."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any, get_args, get_type_hints

from ..errors import InputError
from .application import Application
from .tables import Reader, Table, made


def read_application(folder: FilePath, name: str, settings: Table, where: str) -> Application:
    """Return an application whose class is in a Python file, which is run.

    Parameters
    ----------
    folder : path
        That the file's name is relative to.
    name : str
        ``FILE.py:CLASS``.
    settings : mapping
        Fields of the class; a table for a field that is a dataclass, as `Clip`.
    where : str
        Their place in the file that wants it.
    """
    file, _, kind = name.rpartition(":")
    found: Any = getattr(_module(folder / file, where), kind, None)
    usable = isinstance(found, type) and issubclass(found, Application) and is_dataclass(found)
    if not usable:
        raise InputError(f"{where}.kind: {folder / file} has no application {kind!r}, a dataclass")
    return application(found, settings, where)


def application(kind: type[Application], settings: Table, where: str) -> Application:
    """Return an application of a class from its fields."""
    try:
        return made(kind, settings, where, **_readers(kind))
    except InputError:
        raise
    except Exception as error:  # of a class that checks its settings in its own way
        raise InputError(f"{where}: {type(error).__name__}: {error}") from None


def _readers(kind: Any) -> dict[str, Reader]:
    """Return what reads each field."""
    try:
        hints = get_type_hints(kind)
    except (NameError, TypeError):  # types that only a type checker has
        hints = {}
    return {field.name: _reader(hints.get(field.name)) for field in fields(kind)}


def _reader(hint: Any) -> Reader:
    """Return what reads a field: tables into a dataclass, lists into tuples."""
    for kind in (hint, *get_args(hint)):  # get_args of an optional one
        if is_dataclass(kind) and isinstance(kind, type):
            return lambda table, where: made(kind, table, where)
    return lambda value, _: _frozen(value)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _module(file: FilePath, where: str) -> ModuleType:
    """Return the module in a file, read anew."""
    name = f"{file.resolve().parent}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InputError(f"{where}.kind: there is no Python file {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for the names of types
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{where}.kind: {file} does not run: {type(error).__name__}: {error}") from None
    return module

"""Paths that vary, from files: TOML with a table for each regime, beside what all have in common, or CSV with a row."""

from __future__ import annotations

import csv
from typing import Any

from ..errors import InputError, printable, shown
from ..path import PARAMETERS, Path
from ..system.text import is_number, of_percent

SHARED = ("sender", *(one.name for one in PARAMETERS))
"""Parameters of a path, which stand in each table or, for all regimes, before the tables."""

TO = "to_"
"""What the columns of a CSV begin with that have probabilities of a change."""


def regimes_of(table: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what `Varying` takes, of the tables of a file, with parameters of all regimes that are given beside it.

    Raises
    ------
    InputError
        For names that are not known, what is missing or given twice, and values as `Path` refuses them.
    """
    regimes = {name: dict(value) for name, value in table.items() if isinstance(value, dict)}
    shared = {name: value for name, value in table.items() if name not in regimes}
    start = shared.pop("start", None)
    _check(shared, SHARED, "beside the regimes")
    if not regimes:
        raise InputError("a path that varies has a table for each regime, as [good] with loss, rtt and mean_stay")
    names, paths, stays, leads = list(regimes), [], [], []
    for name, regime in regimes.items():
        _check(regime, (*SHARED, "mean_stay", "to"), f"regime {name}")
        if "mean_stay" not in regime:
            raise InputError(f"regime {name}: mean_stay [s] is missing")
        stays.append(regime.pop("mean_stay"))
        leads.append(_leads(regime.pop("to", None), name, names))
        for other, where in ((shared, "before the tables"), (given, "beside the file")):
            if twice := sorted(other.keys() & regime.keys()):
                raise InputError(f"regime {name}: {twice[0]} is given {where} as well")
        if twice := sorted(shared.keys() & given.keys()):
            raise InputError(f"{twice[0]} is given in the file and beside it")
        paths.append(_path(shared | given | regime, name))
    return {"regimes": paths, "mean_stay": stays, "to": leads, "names": names, "start": start}


def tables_of(text: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a CSV as `regimes_of` takes tables: columns regime, those of a table, and to_NAME.

    Raises
    ------
    InputError
        For a header without ``regime``, or with a column twice, a row of another length, and a regime twice.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(map(str.strip, row))]
    header = rows[0] if rows else []
    if "regime" not in header or len(set(header)) < len(header):
        raise InputError("the first line names the columns, each once, as regime,mean_stay,loss,rtt")
    tables: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            raise InputError(f"row {number} has {len(row)} values for {len(header)} columns")
        values = {name: _cell(name, cell) for name, cell in zip(header, row) if cell and name != "regime"}
        name = row[header.index("regime")]
        if not name or name in tables:
            raise InputError(f"row {number}: a regime has a name of its own, got {shown(name)}")
        to = {one.removeprefix(TO): values.pop(one) for one in list(values) if one.startswith(TO)}
        tables[name] = values | ({"to": to} if to else {})
    return tables


def _cell(name: str, text: str) -> Any:
    """Return a number if it is one, also in percent where it is a probability, else the text."""
    if (name == "loss" or name.startswith(TO)) and text.endswith("%") and is_number(text[:-1]):
        return of_percent(text[:-1].strip())
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _path(values: dict[str, Any], name: str) -> Path:
    if missing := [one for one in ("loss", "rtt") if one not in values]:
        raise InputError(f"regime {name}: {' and '.join(missing)} missing")
    try:
        return Path(**values)
    except InputError as error:
        raise InputError(f"regime {name}: {error}") from None


def _leads(to: Any, name: str, names: list[str]) -> list[Any]:
    """Return the probabilities of a change to each regime; all others are as probable where nothing is said."""
    if to is None:
        return [1 / (len(names) - 1) if other != name else 0.0 for other in names] if len(names) > 1 else [0.0]
    if not isinstance(to, dict):
        raise InputError(f"regime {name}: to has a probability for each regime, as {{bad = 1.0}}, got {shown(to)}")
    _check(to, names, f"regime {name}: to")
    return [to.get(other, 0.0) for other in names]


def _check(table: dict[str, Any], known: tuple[str, ...] | list[str], where: str) -> None:
    for name in table:
        if name not in known:
            raise InputError(f"{where}: {name} is not known: one of {', '.join(known)}")


def regimes_text(comment: str, shared: dict[str, Any], tables: dict[str, dict[str, Any]]) -> str:
    """Return the text of a file that `regimes_of` reads.

    Parameters
    ----------
    comment : str
        Its first line.
    shared : dict
        Parameters of all regimes, None left out.
    tables : dict of dict
        Those of each regime, by its name: letters, digits and underscores, as all keys.
    """
    lines = [f"# {printable(comment)}", *_lines(shared)]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *_lines(table)]
    return "\n".join(lines) + "\n"


def _lines(table: dict[str, Any]) -> list[str]:
    return [f"{name} = {_value(one)}" for name, one in table.items() if one is not None]


def _value(one: Any) -> str:
    """Return a value as TOML has it; a number keeps all its digits."""
    if isinstance(one, dict):
        return "{" + ", ".join(f"{name} = {_value(value)}" for name, value in one.items()) + "}"
    if isinstance(one, str):
        return f'"{one}"'
    return repr(one if isinstance(one, int) else float(one))

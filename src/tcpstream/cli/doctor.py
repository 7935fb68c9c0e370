"""``tcpstream doctor``: what is installed, and what is missing."""

from __future__ import annotations

from typing import Any

import click

from .._version import __version__
from . import installation
from .blocks import Table
from .options import json_option
from .report import Report
from .sections import Sectioned

INCOMPLETE = 1


@click.command(cls=Sectioned)
@json_option
def doctor(as_json: bool) -> Report:
    """What is installed, and what is missing.

    Versions of tcpstream, Python and the packages that it needs; which extras are there, and how the others are
    installed; the folder where compiled kernels are kept, without which each process compiles them again; cores. Exit
    status 1 where something is missing that every command needs.
    """
    from ..answers.answer import SCHEMA

    needed = installation.requirements()
    extras = {name: needed.get(name, []) for name in installation.EXTRAS}
    lacking = [one for one in needed.get("", []) if not one.fits]
    kernels = installation.kernels()
    problems = _problems(lacking, known=bool(needed)) + _of_kernels(kernels)
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": {},
        "python": installation.python(),
        "packages": {one.name: _plain(one) for one in needed.get("", [])},
        "extras": {
            name: {
                "complete": all(one.fits for one in packages) and bool(packages),
                "packages": {one.name: _plain(one) for one in packages},
                "install": _install(name),
            }
            for name, packages in extras.items()
        },
        "kernels": {
            "folder": kernels.folder,
            "writable": kernels.writable,
            "kept": kernels.kept,
            "compiled": kernels.compiled,
        },
        "cores": installation.cores(),
        "problems": problems,
    }
    return Report(data, _blocks(data), as_json, status=INCOMPLETE if lacking else 0)


def _plain(one: installation.Package) -> dict[str, Any]:
    return {"installed": one.installed, "at_least": one.least or None, "fits": one.fits}


def _install(extra: str) -> str:
    return f"pip install 'tcpstream[{extra}]'"


def _problems(lacking: list[installation.Package], *, known: bool) -> list[str]:
    if not known:
        return ["tcpstream itself is not installed, so its requirements are unknown: run pip install . in its folder"]
    return [
        f"{one.name} is {'missing' if one.installed is None else f'too old: {one.installed}'}: "
        f"pip install '{one.name}>={one.least}'"
        for one in lacking
    ]


def _of_kernels(kernels: installation.Kernels) -> list[str]:
    if not kernels.compiled:
        return ["numba compiles nothing, so that solves take far longer: unset NUMBA_DISABLE_JIT"]
    if not kernels.writable:
        place = "no folder for compiled kernels" if kernels.folder is None else f"{kernels.folder} cannot be written to"
        return [f"{place}, so each process compiles again: set NUMBA_CACHE_DIR to a folder of yours"]
    return []


def _blocks(data: dict[str, Any]) -> list[str | Table]:
    kernels, cores, found = data["kernels"], data["cores"], data["python"]
    kept = f"{kernels['folder']}, {'can' if kernels['writable'] else 'cannot'} be written to, {kernels['kept']} files"
    rows = [
        ("tcpstream", data["version"]),
        ("Python", f"{found['version']}, {found['implementation']}, {found['executable']}"),
        ("system", found["system"]),
        *((name, _version(one)) for name, one in data["packages"].items()),
        ("compiled kernels", "none" if kernels["folder"] is None else kept),
        ("cores", f"{cores['usable']} of {cores['machine']} usable"),
    ]
    extras = [
        (name, installation.EXTRAS[name], _extra(one), "" if one["complete"] else one["install"])
        for name, one in data["extras"].items()
    ]
    told = data["problems"] or ["Everything that every command needs is there."]
    return ["\n".join(told), Table(rows), Table(extras, ("extra", "for", "packages", "install with"))]


def _version(one: dict[str, Any]) -> str:
    if one["fits"]:
        return str(one["installed"])
    return f"{one['installed'] or 'missing'}, {one['at_least']} or later is needed"


def _extra(one: dict[str, Any]) -> str:
    if one["complete"]:
        return "there"
    return ", ".join(f"{name} {'too old' if each['installed'] else 'missing'}"
                     for name, each in one["packages"].items() if not each["fits"]) or "not known"  # fmt: skip

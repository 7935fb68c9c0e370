"""What is installed here: packages and the versions that they need, extras, the folder of compiled kernels."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path as FilePath
from tempfile import TemporaryFile

EXTRAS = {
    "capture": "packet captures",
    "plot": "plots",
    "tables": "pandas tables",
    "explore": "sweeps",
    "fit": "regimes of throughput traces",
    "dask": "sweeps and scores on a cluster",
    "notebook": "JupyterLab",
}
"""Extras that users may want, and what each is for; the others are for work on the package itself."""

_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:>=\s*([\d.]+))?[^;]*(?:;.*?extra\s*==\s*['\"]([\w-]+)['\"])?")


@dataclass(frozen=True)
class Package:
    """A package that is needed: its name, the least version that will do, and the one that is there, if one is."""

    name: str
    least: str
    installed: str | None

    @property
    def fits(self) -> bool:
        """Whether it is there, and not older than needed."""
        return self.installed is not None and numbers(self.installed) >= numbers(self.least)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with, as 2.4.6 of 2.4.6rc1, without zeros at its end."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in found[0].split(".")] if found else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def requirements(lines: Sequence[str] | None = None) -> dict[str, list[Package]]:
    """Return what the package needs, under an empty name, and what each extra needs, by its name.

    Without `lines`, as the installed package says; nothing where it is not installed but run from its source.
    """
    if lines is None:
        try:
            lines = metadata.requires("tcpstream") or []
        except metadata.PackageNotFoundError:
            lines = []
    found: dict[str, list[Package]] = {}
    for line in lines:
        if parsed := _REQUIREMENT.match(line):
            name, least, extra = parsed.groups()
            found.setdefault(extra or "", []).append(Package(name, least or "", _installed(name)))
    return found


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Kernels:
    """Where compiled kernels are kept: the folder, if any, whether it can be written to, and how many are there."""

    folder: str | None
    writable: bool
    kept: int
    compiled: bool


def kernels() -> Kernels:
    """Return where compiled kernels are kept; numba is loaded for it."""
    from ..kernels import rows

    cache = getattr(rows.clear, "_cache", None)
    compiled, place = cache is not None, getattr(cache, "cache_path", None)
    if place is None:
        return Kernels(None, False, 0, compiled)
    folder = FilePath(place)
    return Kernels(str(folder), _can_write(folder), sum(1 for _ in folder.glob("*.nbi")), compiled)


def _can_write(folder: FilePath) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def python() -> dict[str, str]:
    """Return the version of Python, its kind, and the system."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
    }


def cores() -> dict[str, int]:
    """Return the cores of the machine, and those that this process may use."""
    from ..system.threads import cores as usable

    return {"machine": os.cpu_count() or 1, "usable": usable()}

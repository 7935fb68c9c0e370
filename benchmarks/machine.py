"""Where and with what the numbers were made."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("tcpstream", "numpy", "scipy", "numba", "llvmlite", "quantecon", "stormpy")


def machine() -> dict[str, str | int | float]:
    """Return processor, cores, memory and system."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return Python's version, those of the packages, and the commit."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    found["pydtmc"] = _pydtmc()
    return found | {"commit": commit()}


def commit() -> str:
    """Return the short commit, with a "+" where the sources differ from it."""
    short = _output(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"])
    changed = _output(["git", "-C", str(ROOT), "status", "--porcelain", "--", "src"])
    return (short or "unknown") + ("+" if changed else "")


def _pydtmc() -> str:
    found = list((Path(sys.prefix) / "peers" / "pydtmc").glob("lib/python*/site-packages/*ydtmc-*.dist-info")) + list(
        (Path(sys.prefix) / "peers" / "pydtmc").glob("lib/python*/site-packages/*yDTMC-*.dist-info")
    )
    return found[0].name.split("-")[1].removesuffix(".dist") if found else "not installed"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _output(arguments: list[str]) -> str:
    try:
        return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""

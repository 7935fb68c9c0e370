"""How the package is laid out: no circle of files, none too long, no name for two things."""

import ast
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "tcpstream"
FILES = sorted(PACKAGE.rglob("*.py"))

LONGEST, MEDIAN, ROOT = 349, 110, 8
"""Lines of a file and of the median one; files in the package's root."""

MIRRORS = {
    "backlogged": ("kernels", "transient"),  # a kernel, and the object that holds its arrays
    "burst": ("stationary", "tcp", "transient"),  # a family of chains, and what follows it
    "chain": ("explicit", "tcp"),
    "claims": ("cli", "paper"),  # a command, and what it asks
    "cubic": ("sim/engine", "tcp"),  # what CUBIC does packet by packet, and in rounds
    "estimate": ("cli", "traces"),
    "experiment": ("cli", "sim"),
    "figure": ("cli", "paper"),
    "growth": ("kernels", "tcp"),  # what grows, and how mass follows it
    "independent": ("stationary", "tcp", "transient"),
    "links": ("sim", "sim/engine"),  # what a link is, and what it does to packets
    "live": ("answers", "cli", "explicit"),  # answers, their command, and the same with every state written out
    "play": ("answers", "cli"),
    "player": ("answers", "sim"),  # settings, which the simulator takes without the model
    "rate": ("answers", "cli"),
    "rows": ("kernels", "numerics"),
    "select": ("stationary", "transient"),  # which operator follows a chain, of each engine
    "stored": ("answers", "cli", "explicit"),
    "study": ("paper", "testbeds"),  # runs of the model's paper, and of those with a test bed
    "sweep": ("cli", "explore"),
    "timeouts": ("kernels", "transient"),
    "written_out": ("stationary", "transient"),
}
"""Files of one name, since one mirrors the other: the folders, by that name."""


def module(file):
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(file): file for file in FILES}


def imported(name):
    """Modules that a file imports anywhere: at its top, in a function, for types alone."""
    file, found = MODULES[name], set()
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = {f"{base}.{one.name}" for one in node.names}
            found |= {one if one in MODULES else base for one in names}
    return found & MODULES.keys() - {name}


def circles(imports):
    """What is left of a graph when what imports nothing that is left is taken away, again and again; and the reverse.

    On a circle, or on a way from one circle to another.
    """
    left = {name: set(others) for name, others in imports.items()}
    while True:
        wanted = set().union(*left.values()) if left else set()
        gone = {name for name, others in left.items() if not others or name not in wanted}
        if not gone:
            return left
        left = {name: others - gone for name, others in left.items() if name not in gone}


def test_circles():
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}).keys() == {"b", "c"}


def test_every_way_to_import_counts():
    assert "tcpstream.cli.rendering" in imported("tcpstream.cli.report")  # in a function
    assert "tcpstream.path" in imported("tcpstream.answers.interval")  # for types


def test_no_file_imports_itself_through_others():
    assert not circles({name: imported(name) for name in MODULES})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_no_file_is_long(file):
    assert lines(file) <= LONGEST


def test_most_files_are_short():
    assert median(map(lines, FILES)) <= MEDIAN


def test_the_root_is_small():
    assert len(list(PACKAGE.glob("*.py"))) <= ROOT


def test_names_that_two_files_have():
    names = Counter(file.stem for file in FILES if file.stem != "__init__")
    found = {
        name: tuple(sorted(file.parent.relative_to(PACKAGE).as_posix() for file in FILES if file.stem == name))
        for name, count in names.items()
        if count > 1
    }
    assert found == MIRRORS


def lines(file):
    return len(file.read_text(encoding="utf-8").splitlines())


def test_modules_of_tests_have_names_of_their_own():
    """Pytest imports each by its name alone: of two with one name it refuses the second, where both are run."""
    names = [file.name for file in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)

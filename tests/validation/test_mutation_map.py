"""The map of mutants: what it names exists."""

import ast
from pathlib import Path

import pytest

from mutants import named
from mutation_map import NAMED, TESTS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tcpstream"


@pytest.mark.parametrize("file", TESTS)
def test_files_and_tests_exist(file):
    assert (SOURCE / file).is_file()
    for test in TESTS[file]:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert not name or name.partition("[")[0] in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("mutant", NAMED)
def test_named_mutants_change_a_line(mutant):
    file, before, after = mutant
    text = (SOURCE / file).read_text(encoding="utf-8")
    assert named(file, text, before, after).text != text

"""Compiled functions with and without a place for what was compiled."""

import importlib
import sys

import numba
import pytest

from tcpstream.system import compiler
from tcpstream.system.compiler import contents, kept


def twice(x):
    return 2 * x


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder of the compiler's cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_compiled_is_kept(place):
    assert kept()(twice)(3) == 6
    again = kept()(twice)
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_cache_that_cannot_be_written(place):
    function = kept()(twice)
    for folder in place.iterdir():
        folder.rmdir()
        folder.write_text("in the way")
    assert function(3) == 6


def test_a_damaged_cache(place):
    assert kept()(twice)(3) == 6
    for file in place.rglob("*.nb*"):
        file.write_bytes(b"\x80")
    assert kept()(twice)(3) == 6


def test_no_cache_at_all(monkeypatch):
    from numba.core.caching import CacheImpl

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    assert kept()(twice)(3) == 6


def test_what_a_function_calls_in_another_file_is_part_of_its_key(place, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    helper, caller = tmp_path / "kept_helper.py", tmp_path / "kept_caller.py"
    caller.write_text(
        "from kept_helper import plus\nfrom tcpstream.system.compiler import kept\n\n"
        "@kept()\ndef raised(x):\n    return plus(x)\n"
    )
    found, hits = [], []
    for added in (1, 1, 20):
        helper.write_text(f"import numba\n\n@numba.njit\ndef plus(x):\n    return x + {added:2d}\n")
        importlib.invalidate_caches()
        contents.cache_clear()
        for name in ("kept_helper", "kept_caller"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        raised = importlib.import_module("kept_caller").raised
        found.append(raised(3))
        hits.append(sum(raised.stats.cache_hits.values()))
    assert found == [4, 4, 23]
    assert hits == [0, 1, 0]


def test_kernels_are_part_of_every_key(place, tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("a = 1\n")
    monkeypatch.setattr(compiler, "KERNELS", tmp_path)
    assert kept()(twice)(3) == 6
    (tmp_path / "one.py").write_text("a = 2\n")
    contents.cache_clear()
    again = kept()(twice)
    assert again(3) == 6
    assert not again.stats.cache_hits

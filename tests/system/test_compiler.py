"""Compiled functions with and without a place for what was compiled."""

import numba
import pytest

from tcpstream.system.compiler import kept


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

"""Functions that compiled code alone calls."""

import numba
import numpy as np
import pytest
from numba.core.codegen import CPUCodeLibrary

from tcpstream.system import compiled_parts
from tcpstream.system.compiled_parts import part
from tcpstream.system.compiler import kept


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


@part()
def least(a, b):
    return min(a, b)


@part(nogil=True)
def left(values, at):
    return values[least(at, len(values) - 1)]


@part(forceinline=True)
def room(n):
    if n < 0:
        raise ValueError("less than no room")
    return np.zeros(least(n, 10))


def filled(n, at):
    """Two parts, with a part in common."""
    values = room(n)
    for k in range(len(values)):
        values[k] = k * k
    return left(values, at) + values.sum()


def test_it_computes_what_it_says(place):
    function = kept()(filled)
    for n, at in [(4, 2), (4, 40), (1, 0), (20, 9), (20, 3)]:
        values = [k * k for k in range(min(n, 10))]
        assert function(n, at) == values[min(at, len(values) - 1)] + sum(values)
    with pytest.raises(ValueError, match="less than no room"):
        function(-1, 0)


def test_it_is_kept_for_the_next_time(place):
    assert kept()(filled)(4, 2) == 4 + 14
    again = kept()(filled)
    assert again(4, 2) == 4 + 14
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("known", [compiled_parts.KNOWN, (0, 0)], ids=["", "a later numba, as usual"])
def test_only_what_python_calls_is_optimised(known, place, monkeypatch):
    optimised = []
    optimise = CPUCodeLibrary._optimize_final_module

    def seen(library):
        optimised.append(library.name.rpartition(".")[2])
        optimise(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", seen)
    monkeypatch.setattr(compiled_parts, "KNOWN", known)

    @part()
    def next_to(n):
        return n + 1

    def after_next(n):
        return next_to(n) + 1

    assert kept()(after_next)(3) == 5
    assert [name for name in optimised if "next" in name] == ["next_to"] * (known == (0, 0)) + ["after_next"]


def test_this_numba_is_known():
    assert numba.version_info.short <= compiled_parts.KNOWN, "a newer numba: raise KNOWN, once all tests pass with it"

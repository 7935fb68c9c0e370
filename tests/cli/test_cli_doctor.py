"""The doctor names what is there, what is missing, and the command that helps."""

import importlib.metadata
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tcpstream
from tcpstream.cli import installation

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def without(monkeypatch, *missing, **versions):
    """Let some packages be missing, and others have other versions."""
    real = importlib.metadata.version

    def version(name):
        if name in missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions.get(name) or real(name)

    monkeypatch.setattr("tcpstream.cli.installation.metadata.version", version)


def test_versions_are_those_that_are_imported(run):
    import numba
    import numpy
    import scipy

    found = run("doctor --json")
    assert (found.status, found.err) == (0, "")
    packages = found.answer["packages"]
    assert found.answer["version"] == tcpstream.__version__
    for module in (numba, numpy, scipy):
        assert packages[module.__name__]["installed"] == module.__version__
    assert found.answer["problems"] == []
    assert found.answer["kernels"]["folder"]


def test_it_knows_what_the_project_says():
    needed = installation.requirements()
    assert sorted(f"{one.name}>={one.least}" for one in needed[""]) == sorted(PROJECT["dependencies"])
    assert set(installation.EXTRAS) <= set(PROJECT["optional-dependencies"])
    assert [one.name for one in needed["tables"]] == ["pandas"]


def test_a_missing_extra_comes_with_the_command_that_installs_it(run, monkeypatch):
    without(monkeypatch, "matplotlib", "dpkt", zstandard="0.1")
    done = run("doctor")
    assert done.status == 0
    assert "matplotlib missing" in done.out
    assert "pip install 'tcpstream[plot]'" in done.out
    extras = run("doctor --json").answer["extras"]
    assert not extras["plot"]["complete"]
    assert extras["tables"]["complete"]
    assert extras["capture"]["packages"]["zstandard"] == {"installed": "0.1", "at_least": "0.23", "fits": False}


def test_what_every_command_needs_is_a_problem(run, monkeypatch):
    without(monkeypatch, "scipy", numba="0.60.2")
    done = run("doctor")
    assert done.status == 1
    assert "scipy is missing: pip install 'scipy>=1.13'" in done.out
    assert "numba is too old: 0.60.2: pip install 'numba>=0.61'" in done.out


def test_a_package_that_is_not_installed_says_so(run, monkeypatch):
    def nothing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("tcpstream.cli.installation.metadata.requires", nothing)
    assert run("doctor").out.startswith("tcpstream itself is not installed")


def test_a_folder_that_cannot_be_written_to(run, monkeypatch):
    def refuse(dir):
        raise PermissionError(dir)

    monkeypatch.setattr("tcpstream.cli.installation.TemporaryFile", refuse)
    done = run("doctor")
    assert done.status == 0
    assert "cannot be written to, so each process compiles again: set NUMBA_CACHE_DIR" in done.out


def test_without_the_compiler(process):
    done = process("doctor", NUMBA_DISABLE_JIT="1")
    assert done.out.startswith("numba compiles nothing")


def test_cache_elsewhere(process, tmp_path):
    assert process("doctor --json", NUMBA_CACHE_DIR=str(tmp_path)).answer["kernels"]["folder"].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("older", "newer"), [("0.9", "0.10"), ("1.9", "2"), ("2.0.0rc1", "2.0.1"), ("2024.7", "2024.10"), ("", "0.1")]
)
def test_order_of_versions(older, newer):
    assert installation.numbers(older) < installation.numbers(newer)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_zeros_at_the_end_do_not_count(parts):
    text = ".".join(map(str, parts))
    assert installation.numbers(text) == installation.numbers(f"{text}.0")


def test_requirements_are_read_as_wheels_write_them():
    lines = [
        "numpy>=2.0",
        'dpkt>=1.9.8; extra == "capture"',
        "stormpy>=1.9; (sys_platform == 'linux') and extra == 'test'",
        "click",
    ]
    found = installation.requirements(lines)
    assert {name: [(one.name, one.least) for one in packages] for name, packages in found.items()} == {
        "": [("numpy", "2.0"), ("click", "")],
        "capture": [("dpkt", "1.9.8")],
        "test": [("stormpy", "1.9")],
    }

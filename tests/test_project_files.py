"""What a project has beside its code: each file can be read, and says the same as pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import tcpstream

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_USERS = ("capture", "plot", "tables", "explore", "fit", "dask")
"""Extras of which the oldest versions are tested, and that the recipe names."""

CONDA = {"matplotlib": "matplotlib-base"}
"""Packages whose name is another one there."""


def parsed(name):
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def lines(name):
    """Lines of a requirements file without comments."""
    found = (line.partition("#")[0].strip() for line in (ROOT / name).read_text("utf-8").splitlines())
    return [line for line in found if line]


def lower_bounds(requirements):
    """The version of ``>=``, which is all that pyproject.toml asks for, by package."""
    found = [Requirement(text) for text in requirements]
    return {one.name: next(iter(one.specifier)).version for one in found if one.name != "tcpstream"}


RUN = lower_bounds(PROJECT["dependencies"])
OPTIONAL = lower_bounds(text for extra in FOR_USERS for text in EXTRAS[extra])
JOBS = parsed(".github/workflows/ci.yml")["jobs"]


def commands(job):
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_every_dependency_has_a_lower_bound_and_nothing_else():
    for text in [*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]:
        one = Requirement(text)
        assert one.name == "tcpstream" or [part.operator for part in one.specifier] == [">="], text


def test_ci_runs_every_python_that_is_promised():
    promised = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    matrix = JOBS["test"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"
    assert matrix["dependencies"] == ["newest"]
    assert matrix["include"] == [{"python": promised[0], "dependencies": "oldest"}]


def test_ci_runs_what_the_readme_says():
    assert "| `make test` |" in (ROOT / "README.md").read_text("utf-8")
    assert commands("test")[-1] == "make test"
    assert commands("everything") == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert ".github/oldest.txt" in commands("test")[0]


def test_the_oldest_dependencies_are_the_lower_bounds():
    pinned = [Requirement(text) for text in lines(".github/oldest.txt")]
    exact = {one.name: next(iter(one.specifier)) for one in pinned if "==" in str(one.specifier)}
    assert {name: one.version for name, one in exact.items()} == RUN | OPTIONAL


def test_the_recipe_asks_for_the_same():
    recipe = parsed("recipe/meta.yaml")
    asked = {key: dict(text.split(" >=") if " >=" in text else (text, "") for text in recipe["requirements"][key])
             for key in ("host", "run", "run_constrained")}  # fmt: skip
    python = PROJECT["requires-python"].removeprefix(">=")
    assert asked["run"] == RUN | {"python": python}
    assert asked["run_constrained"] == {CONDA.get(name, name): version for name, version in OPTIONAL.items()}
    built = lower_bounds(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"])
    assert asked["host"] == built | {"python": python, "pip": ""}
    assert recipe["package"] == {"name": PROJECT["name"], "version": tcpstream.__version__}
    assert recipe["about"] == {
        "summary": PROJECT["description"],
        "license": PROJECT["license"],
        "license_file": "LICENSE",
    }
    assert recipe["build"]["entry_points"] == [f"{name} = {call}" for name, call in PROJECT["scripts"].items()]


def test_the_lock_has_versions_alone_and_those_that_are_allowed():
    locked = [Requirement(line) for line in lines("requirements-dev.lock")]
    assert all([part.operator for part in one.specifier] == ["=="] and one.url is None for one in locked)
    names = {one.name for one in locked}
    for name, least in lower_bounds(
        [*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]
    ).items():
        assert name in names
        for one in locked:
            assert one.name != name or Version(next(iter(one.specifier)).version) >= Version(least)


def test_citation():
    citation = parsed("CITATION.cff")
    assert str(citation["version"]) == tcpstream.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert {"cff-version", "message", "title", "type"} <= citation.keys()


def test_the_changelog_has_what_is_not_released_first_and_then_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", tcpstream.__version__]


@pytest.mark.parametrize("form", ["bug", "question"])
def test_forms_ask_for_something_by_name(form):
    found = parsed(f".github/ISSUE_TEMPLATE/{form}.yml")
    assert found["name"]
    assert found["description"]
    names = [field["id"] for field in found["body"]]
    assert len(set(names)) == len(names)
    assert all(field["attributes"]["label"] for field in found["body"])
    assert any(field.get("validations", {}).get("required") for field in found["body"])
    assert ("tcpstream doctor" in str(found)) == (form == "bug")


def test_hooks_are_the_programs_of_make_check():
    hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rules = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    called = re.findall(r"\$\(BIN\)/(\S+(?: (?:check|format))?)", rules)
    assert [hook["entry"].removeprefix(".venv/bin/").removesuffix(" --force-exclude") for hook in hooks] == called


def test_the_sdist_has_what_this_module_reads():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    included = settings["targets"]["sdist"]["include"]
    for name in ("/.github", "/.ci", "/recipe", "/requirements-dev.lock", "/.pre-commit-config.yaml", "/CITATION.cff"):
        assert name in included
        assert (ROOT / name[1:]).exists()

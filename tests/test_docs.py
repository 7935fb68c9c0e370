"""The documentation names everything that is public, and nothing that does not exist."""

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

import tcpstream
from tcpstream import sim
from tcpstream.cli.app import group

DOCS = Path(__file__).parent.parent / "docs"
MAP = (DOCS / "theory.md").read_text("utf-8").partition("## From the paper to the code")[2]
NAMED = sorted(set(re.findall(r"`((?:\w+\.)*\w+)`", MAP)) - {"tcpstream", "ceiling"})


def found(name):
    """Return what a name below tcpstream stands for, or raise."""
    value = tcpstream
    for position, part in enumerate(parts := name.split(".")):
        if not hasattr(value, part) and part not in getattr(value, "__annotations__", {}):
            value = import_module(".".join(["tcpstream", *parts[: position + 1]]))
        else:
            value = getattr(value, part, None)
    return value


@pytest.mark.parametrize("name", NAMED)
def test_the_map_from_the_paper_to_the_code_names_what_exists(name):
    found(name)


def test_a_name_that_does_not_exist_is_seen():
    with pytest.raises(ImportError):
        found("tcp.westwood")
    with pytest.raises(ImportError):
        found("stationary.epoch.clamber")


@pytest.mark.parametrize("command", group.commands)
def test_every_command_is_on_the_command_line_page(command):
    assert f"\n$ tcpstream {command} --help\n" in (DOCS / "command-line.md").read_text("utf-8")


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text("utf-8") for page in (DOCS / "api").glob("*.rst"))
    described = set(re.findall(r"^\.\. auto(?:class|function|exception):: (\S+)$", pages, re.MULTILINE))
    public = {f"tcpstream.{name}" for name in tcpstream.__all__} | {f"tcpstream.sim.{name}" for name in sim.__all__}
    assert public - described == {"tcpstream.__version__"}


@pytest.mark.parametrize("name", sorted(set(tcpstream.__all__) - {"__version__"}))
def test_every_public_name_has_an_example_that_calls_it(name):
    """That each prints what it says: ``pytest --doctest-modules src/tcpstream``."""
    _, heading, examples = inspect.getdoc(getattr(tcpstream, name)).partition("\nExamples\n--------\n")
    assert heading
    assert [line for line in examples.splitlines() if line.startswith(">>> ")]


def test_pages_are_checked_by_name():
    pages = runpy.run_path(str(DOCS / "check.py"))["pages"]
    assert pages(["stalls", "docs/estimate.md"]) == [DOCS / "estimate.md", DOCS / "stalls.md"]
    assert len(pages([])) > 30
    with pytest.raises(ValueError, match="no such page: stals"):
        pages(["estimate", "stals"])


def test_a_file_that_a_page_shows_is_the_file():
    shown = re.search(r"^```toml\n(.*?)^```$", (DOCS / "varying.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = (DOCS.parent / "examples" / "regimes.toml").read_text("utf-8").splitlines(keepends=True)
    assert shown is not None
    assert shown[1] == "".join(line for line in lines if not line.startswith("#"))

"""docs/architecture.md names files that exist, and its drawing has the arrows that there are."""

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tcpstream"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
CAPTURE = PAGE.partition("## From a capture to a path")[2].partition("\n## ")[0]
MOST_STEPS = 8


def steps(text):
    return re.findall(r"^(\d)\. `([\w/]+\.py)`", text, re.MULTILINE)


@pytest.fixture(scope="module")
def drawing():
    """What the program of the drawing knows; it reads each package once."""
    own = runpy.run_path(str(ROOT / "docs" / "figures" / "architecture.py"))["check"].__globals__
    own["imports"] = cache(own["imports"])
    return own


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.(?:py|toml)|[\w/]+/)`", PAGE))))
def test_every_file_exists(name):
    folders = [ROOT, PACKAGE] + [PACKAGE / "traces"] * (f"`{name}`" in CAPTURE)
    assert any((folder / name).exists() for folder in folders)


def test_steps_are_few():
    numbers = [int(number) for number, _ in steps(PAGE)]
    assert len(numbers) >= 2 * MOST_STEPS
    assert max(numbers) <= MOST_STEPS


def test_every_package_is_in_the_table(drawing):
    table = PAGE.partition("| package |")[2].partition("\n\n")[0]
    described = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert sorted(described) == sorted(name for row in drawing["layers"]() for name in row)


def test_the_drawing_is_of_today(drawing):
    assert drawing["check"](), "python docs/figures/architecture.py"


def test_arrows(drawing):
    layer = {name: i for i, row in enumerate(drawing["layers"]()) for name in row}
    arrows = drawing["arrows"]()
    assert arrows["cli"] == ["fits", "scores", "testbeds"]  # all else that it imports follows
    assert "kernels" in drawing["imports"]("answers")
    assert "kernels" not in arrows["answers"]
    assert all(layer[a] < layer[b] for a, others in arrows.items() for b in others)

"""Every notebook runs from top to bottom, and what it asserts holds."""

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.md"))


def execute(notebook, folder):
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()


@pytest.fixture(autouse=True)
def own_history(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_its_assertions_hold(file):
    notebook = jupytext.read(file)
    execute(notebook, FOLDER)
    assert any(line.startswith("assert ") for cell in notebook.cells for line in cell.source.splitlines())
    drawn = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert drawn


def test_an_assertion_that_fails_in_a_notebook_fails_here(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 + 1 == 3")])
    with pytest.raises(CellExecutionError):
        execute(notebook, tmp_path)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_uses_public_names_only(file):
    code = "\n".join(cell.source for cell in jupytext.read(file).cells if cell.cell_type == "code")
    imported = re.findall(r"^\s*(?:from|import) (tcpstream\S*)", code, re.MULTILINE)
    assert imported
    assert set(imported) <= {"tcpstream", "tcpstream.explicit"}
    assert not re.search(r"(?<![\w)\]])\w+\._[a-z]", code)


def test_the_list_of_notebooks_is_complete():
    listed = re.findall(r"\]\(([0-9][\w-]*\.md)\)", (FOLDER / "README.md").read_text("utf-8"))
    assert listed == [file.name for file in NOTEBOOKS]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.md")), ids=lambda file: file.stem)
def test_links_of_a_notebook_lead_somewhere(file):
    for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", file.read_text("utf-8")):
        assert (FOLDER / link).exists(), link

"""Every notebook runs from top to bottom, and what it asserts holds."""

import re
import runpy
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from myst_parser.config.main import MdParserConfig
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.md"))


def execute(notebook, folder):
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place, record_timing=False).execute()


@pytest.fixture(autouse=True)
def own_history(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.fixture(scope="module")
def shown():
    """Where the documentation looks for notebooks that have run."""
    settings = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    assert settings["nb_execution_mode"] == "cache"
    return get_cache(ROOT / settings["nb_execution_cache_path"])


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_its_assertions_hold(file, shown):
    """It need not run again for the documentation, which reads it in another way."""
    notebook = jupytext.read(file)
    execute(notebook, FOLDER)
    assert any(line.startswith("assert ") for cell in notebook.cells for line in cell.source.splitlines())
    drawn = [out for cell in notebook.cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    assert drawn
    made = shown.cache_notebook_bundle(CacheBundleIn(notebook, str(file)), check_validity=False, overwrite=True)
    text = file.read_text("utf-8")
    reader = create_nb_reader(str(file), MdParserConfig(), NbParserConfig(), text)
    assert shown.match_cache_notebook(reader.read(text)).pk == made.pk


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

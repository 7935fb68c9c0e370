"""``tcpstream figure`` and ``tcpstream claims``: files, JSON, and what is refused."""

import copy
import json

import pytest

from tcpstream import paper
from tcpstream.paper import claims as module
from tcpstream.paper.claim import Claim


@pytest.fixture(scope="module")
def made():
    """Figure 11b, of small windows: less to solve."""
    return paper.FIGURES["11b"](max_window=8)


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_figure(run, tmp_path, monkeypatch, made, form):
    monkeypatch.setitem(paper.FIGURES, "11b", lambda: made)
    folder = tmp_path / "new" / "folder"
    done = run(f"figure 11b --out {folder} --format {form} --json")
    assert (done.status, done.err) == (0, "")
    assert done.answer["parameters"] == {"figure": "11b", "format": form}
    assert done.answer["files"] == {"11b": [f"{folder}/figure-11b.{form}", f"{folder}/figure-11b.csv"]}
    assert sorted(file.name for file in folder.iterdir()) == sorted(["figure-11b.csv", f"figure-11b.{form}"])
    assert (folder / "figure-11b.csv").read_text().startswith("curve,rtt_ms,required_startup_delay_s,timeout_ratio,")


def test_all_keeps_what_is_done_before_a_failure(run, tmp_path, monkeypatch, made):
    from tcpstream.errors import AccuracyError

    made = copy.copy(made)

    def fail():
        assert (tmp_path / "figure-8b.png").exists()
        raise AccuracyError("lost 1e-3")

    monkeypatch.setattr(paper, "FIGURES", dict.fromkeys(paper.FIGURES, lambda: made) | {"9a": fail})
    monkeypatch.setattr(type(made), "number", "8b", raising=False)
    object.__setattr__(made, "number", "8b")
    done = run(f"figure all --out {tmp_path}")
    assert done.status == 1
    assert done.err == "tcpstream: error: lost 1e-3\n"


def test_people_read_the_names_of_the_files(run, tmp_path):
    rows = run(f"figure 5 --out {tmp_path}").out.splitlines()
    assert rows[2].split() == ["5", f"{tmp_path}/figure-5.png", f"{tmp_path}/figure-5.csv"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("figure 12", "figure must be one of 4, 5, 8a, 8b, 9a, 9b, 10a, 10b, 11a, 11b, all, got '12'"),
        ("figure 5 --format gif", "--format must be one of png, svg, pdf, got 'gif'"),
        ("figure 5 --out {file}/in", "--out {file}/in: Not a directory"),
        ("figure", "missing argument"),
    ],
)
def test_bad_input(run, tmp_path, line, words):
    file = tmp_path / "file"
    file.touch()
    done = run(line.format(file=file))
    assert (done.status, done.out) == (2, "")
    assert words.format(file=file) in done.err
    assert len(done.err.splitlines()) == 1


def test_claims(run, monkeypatch):
    found = [
        Claim("one", "6.1", "what it says", "1 s and 2 s", True),
        Claim("two", "6.3", "something else", "3 s", False),
    ]
    monkeypatch.setattr(module, "claims", lambda: iter(found))
    answer = json.loads(run("claims --json").out)
    assert [claim["holds"] for claim in answer["claims"]] == [True, False]
    assert answer["claims"][0] == {
        "key": "one", "section": "6.1", "says": "what it says", "found": "1 s and 2 s", "holds": True, "basis": "T",
        "authors": "", "within": "", "changes_with": [], "tried": 0,
    }  # fmt: skip
    out = run("claims").out
    assert "6.1 one: holds\n  claim     what it says\n  evidence  1 s and 2 s\n" in out
    assert "6.3 two: DOES NOT HOLD" in out
    assert out.endswith("1 of 2 claims hold.\n")

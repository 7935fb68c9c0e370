"""What was solved is kept as it comes, and used again."""

import numpy as np
import pandas as pd
import pytest

import tcpstream
from tcpstream import InputError
from tcpstream.scores import choose
from tcpstream.scores.kept import Store
from tcpstream.scores.one_session import Solved
from tcpstream.scores.question import Case, Question

ASKED = {"packet_rate": 40, "duration": 8, "sender": "classic"}
CASE = Case("loss", 0.02, 0.1, None, 40.0, 8.0)


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"rtt_s": rng.uniform(0.05, 0.15, 60), "loss": rng.uniform(0.01, 0.04, 60)})


@pytest.fixture
def solves(monkeypatch):
    """Count what is solved, and end at the number that is set."""
    seen = {"number": 0, "most": 10_000}

    def solve(case, question, *, all_of_it=True):
        if all_of_it:
            seen["number"] += 1
            if seen["number"] > seen["most"]:
                raise KeyboardInterrupt
        return real(case, question, all_of_it=all_of_it)

    real = choose.solve
    monkeypatch.setattr(choose, "solve", solve)
    return seen


def test_an_interrupted_call_goes_on(table, solves, tmp_path):
    file = tmp_path / "kept.jsonl"
    whole = tcpstream.score(table, np.random.default_rng(1), solves=12, **ASKED).to_pandas()
    solves |= {"number": 0, "most": 5}
    with pytest.raises(KeyboardInterrupt):
        tcpstream.score(table, np.random.default_rng(1), solves=12, store=file, **ASKED)
    solves |= {"number": 0, "most": 10_000}
    again = tcpstream.score(table, np.random.default_rng(1), solves=12, store=file, **ASKED).to_pandas()
    assert solves["number"] == 12 - 5
    pd.testing.assert_frame_equal(again, whole)
    solves["number"] = 0
    tcpstream.score(table, np.random.default_rng(1), solves=12, store=file, **ASKED)
    assert solves["number"] == 0


def test_a_larger_table_begins_with_what_is_known(table, solves, tmp_path):
    file = tmp_path / "kept.jsonl"
    tcpstream.score(table.head(8), solves=8, store=file, **ASKED)
    solves["number"] = 0
    found = tcpstream.score(table, solves=20, store=file, **ASKED)
    assert found.solved == 20
    assert solves["number"] == 12
    assert (found.to_pandas().head(8)["answered_by"] == "solved").all()


def test_a_line_that_was_cut_off_is_written_anew(tmp_path):
    file = tmp_path / "kept.jsonl"
    Store(Question(), "a", file).put(CASE, Solved(0.02, 57.2, 1.0, 0.1, 0.2, 0.01))
    whole = file.read_text()
    file.write_text(whole + whole[:40])
    store = Store(Question(), "a", file)
    assert store.get(CASE) == Solved(0.02, 57.2, 1.0, 0.1, 0.2, 0.01)
    assert file.read_text() == whole
    assert list(store.others()) == []
    assert [case for case, _ in Store(Question(), "b", file).others()] == [CASE]


def test_answers_to_other_questions_are_not_used(tmp_path):
    file = tmp_path / "kept.jsonl"
    Store(Question(), "a", file).put(CASE, Solved(0.02, 57.2, 1.0, 0.1, 0.2, 0.01))
    assert Store(Question(start=1.0), "a", file).get(CASE) is None
    assert Store(Question(time_limit=1.0), "a", file).get(CASE) is not None


def test_what_took_too_long_is_tried_again(tmp_path):
    file = tmp_path / "kept.jsonl"
    store = Store(Question(), "a", file)
    store.put(CASE, Solved(refused="the time limit of 1 s is over"))
    assert store.get(CASE).whole
    assert Store(Question(), "a", file).get(CASE) is None


@pytest.mark.parametrize("text", ["{}\n", "hello\n", "[1]\n", '{"case": {}, "answers": {}}\n', "\xff\n"])
def test_another_file_is_refused(tmp_path, text):
    file = tmp_path / "kept.jsonl"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="line 1: this is not what solved sessions are kept as"):
        Store(Question(), "a", file)


def test_a_file_in_no_folder_is_refused(table, tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        tcpstream.score(table.head(1), store=tmp_path / "none" / "kept.jsonl", **ASKED)


@pytest.mark.parametrize("text", ["notes\nwithout an end", "without an end", '{"other": 1'])
def test_another_file_stays_as_it_is(text, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with pytest.raises(InputError, match="line 1: this is not what solved sessions are kept as"):
        Store(Question(), "table", file)
    assert file.read_text() == text


def test_a_first_line_that_was_cut_off_is_written_anew(tmp_path):
    file = tmp_path / "kept.jsonl"
    file.write_text('{"version": "0.1')
    Store(Question(), "table", file).put(CASE, Solved(delay=1.0))
    found = Store(Question(), "table", file).get(CASE)
    assert found is not None
    assert found.delay == 1

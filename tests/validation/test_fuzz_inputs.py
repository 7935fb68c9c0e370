"""A small part of what validation/fuzz_inputs.py tries, without its processes."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

VALIDATION = Path(__file__).parents[2] / "validation"


@pytest.fixture(scope="module")
def fuzz():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(VALIDATION))
        yield runpy.run_path(str(VALIDATION / "fuzz_inputs.py"))


@pytest.mark.parametrize(
    ("family", "numbers"), [("TOML files", range(10)), ("saved runs and stores", range(20)), ("reports", range(10))]
)
def test_every_case_ends_in_an_answer_or_one_line(fuzz, family, numbers):
    assert [fault for _, fault in (fuzz["try_case"](family, number) for number in numbers) if fault] == []


@pytest.mark.parametrize(
    ("ending", "fault"),
    [
        ((1, "", "Traceback (most recent call last):\n"), "something else than messages on stderr"),
        ((0, "1", "x.py:1: RuntimeWarning: overflow\n"), "something else than messages on stderr"),
        ((2, "", "tcpstream: error: \x1b[31m\n"), "a control character"),
        ((2, "", "tcpstream: error: a\ntcpstream: error: b\n"), "not one line"),
        ((1, "", ""), "not one line"),
        ((2, "1", "tcpstream: error: a\n"), "an answer to bad input"),
        ((0, "", ""), "no answer"),
        ((-11, "", ""), "exit status -11"),
        ((1, "", "tcpstream: error: no answer: OverflowError: x; please report this\n"), "a failure to be reported"),
        ((0, "{NaN", ""), "no JSON"),
        ((0, "{}", ""), ""),
    ],
)
def test_what_must_not_be_in_an_ending(fuzz, ending, fault):
    assert fuzz["wrong"](fuzz["Done"](*ending), as_json=True) == fault

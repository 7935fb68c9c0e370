"""The classic sender is what the default was: its answers are those recorded before the default changed."""

import json

import pytest

from classic_answers import CASES, RECORDED, answer, cases, machine

STORED = json.loads(RECORDED.read_text(encoding="utf-8"))
WITHIN = 1e-10 if STORED["machine"] == machine() else 1e-8
"""Other libraries and processors add in another order; so do the threads and kernels that OpenBLAS takes on one."""
ITERATED = 1e-6
"""Where an answer is iterated, its last digits are those of where the iteration ended."""


SLOW = (31, 37, 49, 65, 122, 124, 125, 151, 176, 185, 186, 276)
"""Live streams that take seconds each; the five others do not."""

BOTH = list(zip(cases(), STORED["answers"], strict=True))


def as_recorded(number):
    case, wanted = BOTH[number]
    wanted = [float.fromhex(value) for value in wanted]
    got, iterated = answer(case, sender="classic")
    within = ITERATED if iterated else WITHIN
    assert got[0] == pytest.approx(wanted[0], rel=WITHIN, abs=WITHIN), case
    assert got == pytest.approx(wanted, rel=within, abs=WITHIN), case


@pytest.mark.parametrize("first", range(0, CASES, 30))
def test_answers_are_those_before_the_default_changed(first):
    for number in range(first, first + 30):
        if number not in SLOW:
            as_recorded(number)


@pytest.mark.long
@pytest.mark.parametrize("number", SLOW)
def test_slow_answers_are_those_before_the_default_changed(number):
    as_recorded(number)

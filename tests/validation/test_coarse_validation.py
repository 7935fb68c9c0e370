"""The check of stated errors: what it calls right and wrong."""

from __future__ import annotations

import json

import pytest

import coarse
import tcpstream
from benchmarks.ordinary_inputs import Input

PATH = "--loss 0.05 --rtt 100ms --rto 300ms --max-window 12 --sender classic"
STORED = Input.of(f"delay {PATH} --rate 0.2Mbps --duration 15s")
LIVE = Input.of(f"delay {PATH} --rate 240kbps --live")


class Stating:
    """An answer that is off by some share, and states another."""

    def __init__(self, result, off, stated):
        self.result, self.off, self.stated = result, off, stated

    def __getattr__(self, name):
        return getattr(self.result, name)

    def late_fraction(self, delays):
        return self.result.late_fraction(delays) * (1 + self.off)

    def relative_error(self, _delay):
        return self.stated

    no_late_error = relative_error


SIMULATE, SPLIT = coarse.simulate, coarse.split


def quickly(*arguments, **named):
    return SIMULATE(*arguments, **(named | {"runs": 3000, "batch": 1000}))


def split_quickly(*arguments, **named):
    return SPLIT(*arguments, **(named | {"base": 100_000}))


@pytest.mark.parametrize("one", [STORED, LIVE], ids=["stored", "live"])
@pytest.mark.parametrize("by", ["exact", "simulated"])
@pytest.mark.parametrize(("off", "stated", "verdict"), [(0.04, 0.05, "right"), (0.9, 0.05, "wrong")])
def test_a_difference_above_what_is_stated_is_wrong(monkeypatch, one, by, off, stated, verdict):
    def solved(one, accuracy=None, quantum=None):
        solve = tcpstream.live if one.kind == "live" else tcpstream.stored
        result = solve(tcpstream.Path(**one.path), tcpstream.Video(**one.video))
        if accuracy == "fine":
            return Stating(result, off, stated)
        if by == "simulated":
            raise TypeError
        return result

    monkeypatch.setattr(coarse, "case", lambda _: one)
    monkeypatch.setattr(coarse, "solved", solved)
    monkeypatch.setattr(coarse, "limited", lambda _, work, *arguments: work(*arguments))
    monkeypatch.setattr(coarse, "simulate", quickly)
    monkeypatch.setattr(coarse, "split", split_quickly)
    monkeypatch.setattr(coarse, "TARGETS", (1e-1, 1e-2, 1e-3))
    record = coarse.judged(0)
    assert (record["verdict"], record["by"]) == (verdict, by)
    assert sum(x is not None for x in record["f_excess"]) >= 2
    json.dumps(record)
    assert verdict in coarse.summary([record])


def test_a_library_that_states_no_errors_is_told(monkeypatch):
    def solved(one, **how):
        raise TypeError("unexpected keyword argument 'accuracy'")

    monkeypatch.setattr(coarse, "solved", solved)
    with pytest.raises(coarse.NotStatedError, match="accuracy"):
        coarse.fine(STORED)


def test_cases_are_drawn_by_their_number():
    assert coarse.case(3) == coarse.case(3)
    assert len({coarse.case(number).command for number in range(6)}) == 6

"""Answers to ordinary inputs and their table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.ordinary import DELAYS, METHODS, answered
from benchmarks.ordinary_inputs import Input
from benchmarks.ordinary_table import table
from benchmarks.peers.chain_monte_carlo import passing
from benchmarks.rows import ROWS


@pytest.mark.parametrize(
    "asked", ["delay --duration 20s", "delay --live", "live --duration 20s --delay 1,2", "rate --live --delay 8"]
)
def test_every_kind_of_input_is_answered(asked):
    question, *others = asked.split()
    rate = "" if question == "rate" else "--rate 0.12Mbps"
    one = Input.of(
        " ".join([question, "--loss 0.05 --rtt 100ms --rto 300ms --sender classic --max-window 3", rate, *others])
    )
    found = answered(one, 1)
    assert len(found["f"]) == len(found["delays"]) == DELAYS
    assert ("no_late" in found) == (one.kind == "stored")
    enough = np.array(found["delays"]) >= found["required"]
    assert enough.any()
    assert (np.array(found["f"])[enough] <= 1e-4 * (1 + 1e-9)).all()


def test_every_input_has_a_row_and_a_simulation():
    names = [row.method for row in ROWS if row.case == "ordinary"]
    assert set(METHODS) <= set(names)
    assert {f"Monte Carlo {n:02}" for n in range(1, 61)} <= set(names)


def test_the_table_has_a_line_for_each_input_whatever_came_of_it():
    figures = {"verdict": "answered", "T/mu": 2.0, "relative_error": None, "required": 3.0, "command_seconds": 1.0}
    rows = [
        {"method": METHODS[0], "seconds": [0.5], "figures": figures, "memory_bytes": 2**28},
        {"method": METHODS[1], "seconds": [], "figures": {"verdict": "refused"}, "note": "refused: too long"},
        {"method": METHODS[2], "seconds": [60.0], "figures": {"verdict": "stopped"}},
        {"method": METHODS[3], "seconds": [80.0], "note": "did not finish"},
        {"method": "Monte Carlo 01", "seconds": [50.0], "figures": {}},
        {"method": "simulator 04", "seconds": [100.0], "note": "fast", "figures": {}},
        {"method": "ns-2 04", "seconds": [], "note": "not installed", "figures": {}},
    ]
    text = "\n".join(table(rows))
    assert "50 s, 100 times ours" in text
    assert "refused: too long" in text
    assert "stopped after 60 s" in text
    assert text.endswith("1 of 4 answered: 1 in 2 s of CPU, 1 in 10 s, 1 in 60 s; 0 of them with more than 1 GiB.")


def test_a_target_is_found_between_its_neighbours():
    delay, before, after = passing(np.array([0.0, 1.0, 2.0]), np.array([1e-2, 1e-3, 1e-5]), 1e-4)
    assert (delay, before, after) == pytest.approx((1.5, 1.0, 2.0))
    assert passing(np.array([0.0, 1.0]), np.array([1e-5, 0.0]), 1e-4)[0] == 0

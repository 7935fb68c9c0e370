"""The record of flows that share a bottleneck: whole, its conditions as they are drawn now, solved as they are now."""

import numpy as np
import pytest

import tcpstream
from shared import CONDITIONS, RESULTS, conditions, table
from tcpstream.system.log import read

ROWS = sorted(read(RESULTS), key=lambda one: one["number"])


def errors(measured, model):
    return [abs(one[model] / one[measured] - 1) for one in ROWS]


def test_conditions_are_recorded_once_and_as_they_are_drawn():
    assert [one["number"] for one in ROWS] == list(range(CONDITIONS))
    for one, row in zip(conditions(), ROWS):
        assert one._asdict() == {name: row[name] for name in one._fields}


@pytest.mark.parametrize("number", [0, 3, 6])
def test_the_model_is_as_recorded(number):
    one, row = conditions()[number], ROWS[number]
    found = tcpstream.shared_bottleneck(
        bottleneck=one.packets, buffer=one.buffer, rtt=one.base_rtt, flows=one.flows, tcp=one.tcp
    )
    assert (found.loss, found.rtt) == pytest.approx((row["p_model"], row["R_model"]), rel=1e-3)


def test_what_the_page_says():
    """Half and nine tenths of the conditions; and nearer than independent windows."""
    for measured, model, half, most in (
        ("p", "p_model", 0.2, 0.45),
        ("R", "R_model", 0.04, 0.1),
        ("u", "u_model", 0.01, 0.03),
    ):
        assert np.quantile(errors(measured, model), [0.5, 0.9]) == pytest.approx([0, 0], abs=most)
        assert np.median(errors(measured, model)) < half
    assert np.median(errors("R", "R_model")) < np.median(errors("R", "R_independent")) / 1.5
    assert max(one["residual"] for one in ROWS) < 1e-4


def test_the_tables_of_the_page():
    page = (RESULTS.parents[2] / "docs" / "shared.md").read_text("utf-8")
    rows = [line for line in table(ROWS) if line.startswith("|")]
    assert len(rows) > 12
    assert [line for line in rows if line not in page] == []

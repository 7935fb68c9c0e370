"""Late packets of a live stream under TFRC: the record is whole, on its page, and what the model says."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pytest

from paced_late import DELAYS, PLACES, RESULTS, SEED, Place, near, table, verdicts
from tcpstream.layered import late_of_paced
from tcpstream.system.log import read

ROWS = read(RESULTS)


def test_every_place_is_recorded_and_on_the_page() -> None:
    page = (FilePath(__file__).parents[2] / "docs" / "zink.md").read_text(encoding="utf-8")
    assert tuple(Place(*row["place"]) for row in ROWS) == PLACES
    assert table(ROWS) in page
    assert verdicts(ROWS) in page


@pytest.mark.parametrize("number", [0, len(PLACES) - 1])
def test_the_record_has_what_the_model_says(number: int) -> None:
    """With as many streams as are drawn there, p and R rounded."""
    row, place = ROWS[number], PLACES[number]
    found = late_of_paced(place.loss or row["p"], row["rtt"], place.made, DELAYS, np.random.default_rng(SEED))
    assert row["model"] == pytest.approx(found.fractions, abs=0.01)


def test_what_is_near() -> None:
    """Within .05; within a factor of 2 where 1 in 100 is late."""
    simulated = [[0.1, 0.0, 0.2], [0.1, 0.0, 0.2], [0.009, 0.0, 0.1]]
    assert near({"simulated": simulated, "model": [0.16, 0.04, 0.001]}) == [(False, True), (False, False), (True, None)]

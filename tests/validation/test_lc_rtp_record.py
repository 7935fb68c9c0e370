"""What is recorded of copies that LC-RTP repairs: all seeds, none incomplete, and the page shows it."""

from __future__ import annotations

from pathlib import Path

from lc_rtp import BLOCK, RESULTS, SEEDS, table
from tcpstream.system.log import read

ROWS = read(RESULTS)


def test_all_seeds_are_recorded_once() -> None:
    assert sorted(row["first"] for row in ROWS) == list(range(0, SEEDS, BLOCK))


def test_every_copy_is_what_it_has_to_be() -> None:
    for row in ROWS:
        assert (row["ended"], row["incomplete"], row["wrong"]) == (BLOCK, 0, 0)
        assert row["ended_0"] == row["exact_0"] == BLOCK


def test_ten_tries_leave_as_many_incomplete_as_the_arithmetic_says() -> None:
    few, expected, variance = (sum(row[name] for row in ROWS) for name in ("few", "few_expected", "few_variance"))
    assert abs(few - expected) < 4 * variance**0.5


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "zink.md").read_text(encoding="utf-8")
    assert table(ROWS) in page

"""Studies of test beds: runs are kept, gone on with, and judged under each assumption."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from tcpstream.cli.claims import PAPERS
from tcpstream.errors import InputError
from tcpstream.paper.claim import Claim
from tcpstream.testbeds import study
from tcpstream.testbeds.bed import Bed, Variant
from tcpstream.testbeds.measured import Seen
from tcpstream.testbeds.papers import NAMES, bed


class Coin(Bed):
    """Two conditions that show a number, which one assumption shifts."""

    name = "coin"
    title = "A coin"
    runs = 3
    assumed: ClassVar[Mapping[str, tuple[float, ...]]] = {"shift": (0.0, 5.0), "idle": (1.0, 2.0)}

    def conditions(self) -> tuple[str, ...]:
        return "one", "two"

    def simulate(self, condition: str, assumed: Mapping[str, float], rng: np.random.Generator) -> dict[str, Any]:
        number = rng.random() + (condition == "two") + assumed["shift"]
        return {"number": number, "none": float("nan")}

    def rows(self, seen: Seen) -> Iterator[Claim]:
        small = seen.of("one", "number").mean
        yield Claim("small", "1", "It is small", f"{small}", small < 2)
        yield Claim("positive", "1", "It is positive", f"{small}", small > 0, "R")


@pytest.fixture
def coin(monkeypatch: pytest.MonkeyPatch) -> Coin:
    one = Coin()
    monkeypatch.setattr(study, "bed", lambda _: one)
    monkeypatch.setattr(study, "_each", lambda name, todo: (study.made(name, job) for job in todo))
    return one


def test_an_interrupted_study_goes_on(coin: Coin, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    study.run_study(coin, whole)
    lines = whole.read_text().splitlines()
    assert len(lines) == len(study.jobs(coin)) == 3 * 2 * 3
    cut.write_text("\n".join(lines[:7]) + "\n" + lines[7][:10])
    steps: list[int] = []
    study.run_study(coin, cut, lambda: steps.append(1))
    assert len(steps) == len(lines)
    assert sorted(cut.read_text().splitlines()) == sorted(lines)


def test_runs_draw_the_same_whatever_is_assumed(coin: Coin) -> None:
    as_it_is, shifted, idle = (
        study.made("coin", study.Job(variant, "one", 1))["figures"]["number"]
        for variant in (Variant(), Variant("shift", 5.0), Variant("idle", 2.0))
    )
    assert shifted == pytest.approx(as_it_is + 5, abs=1e-12)
    assert idle == as_it_is


def test_rows_tell_what_assumptions_change(coin: Coin, tmp_path: Path) -> None:
    study.run_study(coin, tmp_path / "runs.jsonl")
    small, positive = study.judged(coin, study.kept(coin, tmp_path / "runs.jsonl"))
    assert small.holds
    assert small.changes_with == ("shift = 5",)
    assert not small.says_nothing
    assert positive.says_nothing
    assert positive.tried == 2


def test_conditions_that_an_assumption_leaves_alone_need_no_runs(
    coin: Coin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Coin, "repeats", lambda _, variant, condition: 0 if variant.name and condition == "two" else 3)
    study.run_study(coin, tmp_path / "runs.jsonl")
    monkeypatch.setattr(Coin, "rows", lambda _, seen: iter([Claim("sum", "1", "", "", _both(seen) < 4)]))
    (row,) = study.judged(coin, study.kept(coin, tmp_path / "runs.jsonl"))
    assert row.holds
    assert row.changes_with == ("shift = 5",)


def _both(seen: Seen) -> float:
    return seen.of("one", "number").mean + seen.of("two", "number").mean


def test_numbers_that_are_none_do_not_count(coin: Coin) -> None:
    record = study.made("coin", study.Job(Variant(), "one", 0))
    assert json.loads(json.dumps(record, allow_nan=False))["figures"]["none"] is None
    assert np.isnan(Seen([record]).of("one", "none").mean)


@pytest.mark.parametrize(
    "line", ["{}", "3", '{"assumption": "", "value": 0, "condition": "three", "run": 0, "figures": {}}']
)
def test_other_files_are_refused(coin: Coin, tmp_path: Path, line: str) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(InputError, match="holds other runs than those of --paper coin"):
        study.run_study(coin, file)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_studies_are_whole(name: str) -> None:
    of = bed(name)
    assert {study.key(record) for record in study.recorded(of)} == set(study.jobs(of))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_run_is_made_again_bit_for_bit(name: str) -> None:
    of = bed(name)
    record = study.recorded(of)[0]
    assert json.loads(json.dumps(study.made(name, study.key(record)))) == record


def test_the_command_offers_every_test_bed() -> None:
    assert ("wang", *NAMES) == PAPERS
    assert [bed(name).name for name in NAMES] == list(NAMES)

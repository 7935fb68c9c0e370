"""`validation/viewing.py`: it agrees with what is right, finds what is wrong, and goes on where it was."""

import json
import sys

import numpy as np
import pytest

import viewing
from tcpstream import transfer_time
from viewing_parts import cases, evidence, judge, record
from viewing_parts.cases import Case, draw

TRANSFER = Case(
    0, "transfer", "classic", {"loss": 0.05, "rtt": 0.1, "max_window": 9, "tcp": "reno-sack", "detection": "rack"}, {},
    {"packets": 12, "setup_round_trips": 1},
)  # fmt: skip

SEGMENTS = Case(
    1, "segments", "reno-sack",
    {"loss": 0.02, "rtt": 0.07, "max_window": 9, "tcp": "reno-sack", "rounds_per_increase": 2, "initial_window": 9,
     "detection": "rack"},
    {"packet_rate": 50.0, "duration": 8.0}, {"segment": 0.5, "client_buffer": 1.4, "idle": "keep",
                                             "setup_round_trips": 0},
)  # fmt: skip


@pytest.mark.parametrize("case", [TRANSFER, SEGMENTS], ids=["transfer", "segments"])
def test_a_case_that_is_right(case):
    """Of segments also the rounds at a window, of two that it takes to grow, and a window that begins as it is."""
    found = judge.judged(case, 400_000)
    assert found["verdict"] == "agrees", found
    assert len(found["metrics"]) >= 7
    assert json.loads(json.dumps(found)) == found
    assert "1 agrees" in record.summary([found])


def test_an_answer_that_is_wrong(monkeypatch):
    monkeypatch.setattr(judge, "solve", lambda case: transfer_time(case.to_path(), packets=13, setup_round_trips=1))
    found = judge.judged(TRANSFER, 400_000)
    assert found["verdict"] == "disagrees"
    assert "DISAGREES: case 0, transfer" in record.summary([found])


def test_standard_errors_of_rare_events():
    """Seen once in 1000, of probability 1e-5: as rare as 1 - exp(-0.01), 2.33 standard errors of a normal law."""
    hits = np.arange(1000) == 0
    assert evidence.share(hits).off(1e-5) == pytest.approx(2.33, abs=0.01)
    assert evidence.share(~hits).off(1.0) < -10
    assert not evidence.mean(hits.astype(float)).enough
    values = np.arange(100.0)
    assert evidence.quantile(values, 49.0, 0.5).off(0.5) == 0
    assert evidence.quantile(values, 40.0, 0.5).off(0.9) < -5
    assert evidence.quantile(values, 90.0, 0.5).off(0.5) > 5


def test_cases_cover_all_players_and_chains():
    drawn = [draw(number) for number in range(80)]
    assert draw(7) == drawn[7]
    assert {(one.kind, one.chain) for one in drawn} >= {
        (kind, chain) for kind in cases.KINDS for chain in cases.CHAINS if kind != "segments"
    }


def test_the_command_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(viewing, "draw", lambda number: Case(**(TRANSFER.to_dict() | {"number": number})))
    monkeypatch.setattr(viewing, "judged", lambda case: judge.judged(case, 100_000))
    file = tmp_path / "viewing.jsonl"
    for many in ("1", "2"):
        monkeypatch.setattr(sys, "argv", ["viewing.py", "--cases", many, "--record", str(file)])
        assert viewing.main() == 0
    assert [json.loads(line)["number"] for line in file.read_text().splitlines()] == [0, 1]
    assert "2 cases: 2 agrees" in capsys.readouterr().out

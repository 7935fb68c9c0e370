"""The harness of `validation/differential.py`: it agrees with what is right, and finds what is wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest

from differential_parts import beside_agent, identities, judge, record, shrink
from differential_parts.agent import Agent
from differential_parts.cases import CHAINS, KINDS, OPTIONS, Case, draw, with_load
from differential_parts.evidence import STAGES, Claim, of_events, of_runs
from tcpstream import Path, Video

USUAL = {"tcp": "reno", "loss": 0.06, "rtt": 0.2, "timeout_ratio": 2.5, "max_window": 5}

SMALL = {
    "stored": Case("stored", USUAL, {"packet_rate": 8.0, "duration": 6.0}),
    "paper": Case("stored", USUAL | {"rounds_per_increase": 2}, {"packet_rate": 8.0, "duration": 6.0}, horizon="paper"),
    "curve": Case("stored", USUAL | {"tcp": "cubic"}, {"curve": ((0.0, 1.0, 2.0), (0.0, 12.0, 15.0)), "duration": 2.0}),
    "finite": Case("finite", USUAL | {"initial_window": 2}, {"packet_rate": 10.0, "duration": 6.0}),
    "endless": Case("endless", USUAL | {"tcp": "reno-sack", "detection": "rack"}, {"packet_rate": 5.0}),
}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    monkeypatch.setattr(beside_agent, "ROUNDS", 100_000)
    monkeypatch.setattr(beside_agent, "LEARNING", 100_000)


@pytest.mark.parametrize("name", SMALL)
def test_a_case_that_is_right(name):
    found = judge.judge(SMALL[name], checks=("range", "monotone", "JSON", "Theorem 1", "twin", "agent"))
    assert found["verdict"] == "agrees", found["wrong"]
    assert found["agent"] == "asked"
    assert sum(one.startswith("f(") for one in found["judged"]) >= 4
    assert found.get("twin", False) == (name in ("stored", "paper", "curve"))


@pytest.mark.parametrize(("name", "fault"), [("stored", "agent f"), ("finite", "agent f"), ("endless", "agent f")])
def test_late_fractions_that_are_twelve_percent_too_large_are_found(name, fault, monkeypatch):
    solve = identities.solve

    def wrong(case):
        result = solve(case)
        late_at = result._late_at
        result._late_at = lambda tau: 1.12 * late_at(tau)
        return result

    monkeypatch.setattr(identities, "solve", wrong)
    found = judge.judge(SMALL[name], checks=("agent",))
    assert found["verdict"] == "disagrees"
    assert fault in shrink.kinds(found["wrong"])


def test_an_identity_that_fails_is_found_and_made_simple(monkeypatch):
    """Where m is above 1.3 the answer rises in the delay; the simplest such case found has few digits, no options."""
    solve = identities.solve

    def wrong(case):
        result = solve(case)
        if result.video.packet_rate * result.path.rtt > 1.3:
            late_at = result._late_at
            result._late_at = lambda tau: late_at(tau) * (0.5 if 0.01 < tau < 0.06 else 1)
        return result

    monkeypatch.setattr(identities, "solve", wrong)
    case = replace(SMALL["stored"], path=USUAL | {"halving": "ceil", "loss": 0.0612345})
    found = judge.judge(case, checks=("monotone",))
    assert shrink.kinds(found["wrong"]) == {"monotone"}
    simple, why = shrink.shrunk(case, found["wrong"])
    assert shrink.kinds(why) == {"monotone"}
    assert "halving" not in simple.path
    assert simple.path["loss"] == 0.06
    assert simple.video["packet_rate"] * simple.path["rtt"] > 1.3


def test_a_process_that_raises_is_a_disagreement(monkeypatch):
    monkeypatch.setattr(identities, "solve", lambda _: 1 / 0)
    found = judge.judge(SMALL["stored"])
    assert found["verdict"] == "disagrees"
    assert "ZeroDivisionError" in found["wrong"][0]["found"]


def test_a_window_of_one_by_hand():
    """Each packet alone: after one that is lost, level by level, until two in a row arrive."""
    p, T_O = 0.2, 2.0
    backoff = [T_O * 2 ** min(e, 6) for e in range(1, 8)]
    again, fresh = np.zeros(8), np.zeros(8)  # mean packets and rounds until the timeout is over, by level
    rounds = [np.zeros(8), np.zeros(8)]
    for _ in range(2000):
        for e in range(6, -1, -1):
            up = min(e + 1, 6)
            fresh[e] = (1 - p) + p * again[up]
            again[e] = (1 - p) * (1 + fresh[e]) + p * again[up]
            rounds[1][e] = (1 - p) + p * (backoff[e] + rounds[0][up])
            rounds[0][e] = (1 - p) * (1 + rounds[1][e]) + p * (backoff[e] + rounds[0][up])
    T = ((1 - p) + p * again[0]) / ((1 - p) + p * (T_O + rounds[0][0]))
    rng = np.random.default_rng(1)
    for tcp in CHAINS:
        path = Path(sender="classic", loss=p, rtt=1.0, timeout_ratio=T_O, max_window=1, tcp=tcp)
        seen = Agent(path, rng).packets_per_round(100, 10_000, rng)
        assert abs(seen.mean() - T) < 4 * seen.std(ddof=1) / 10


def test_runs_reject_an_answer_on_its_side_only():
    rng = np.random.default_rng(2)
    sample = of_runs(rng.exponential(0.01, 4000))
    assert [Claim("f", value, 0.0).side(sample) for value in (0.008, 0.01, 0.012)] == [1, 0, -1]
    assert Claim("f", 0.008, 0.003).side(sample) == 0
    events = of_events(40, 4000)
    assert [Claim("P", value, 0.0, "share").side(events) for value in (0.005, 0.01, 0.02)] == [1, 0, -1]
    nothing = of_runs(np.zeros(4000))
    assert [Claim("f", value, 0.0).side(nothing) for value in (1e-4, 1e-2)] == [0, -1]
    assert not Claim("f", 1e-4, 0.0).judged(nothing)


def test_right_answers_are_hardly_ever_rejected_in_one_sample():
    """Exponential runs; an alarm needs four such rejections in a row."""
    rng = np.random.default_rng(3)
    rejected = sum(Claim("f", 0.01, 0.0).side(of_runs(rng.exponential(0.01, 400))) != 0 for _ in range(4000))
    assert rejected < 40
    assert len(STAGES) == 4


def test_cases_cover_every_chain_and_option_and_come_back_from_json():
    count = {}
    for number in range(4 * 3 * len(OPTIONS) * 3):
        case = draw(number, 14)
        for name in (case.kind, case.path["tcp"], case.focus):
            count[name] = count.get(name, 0) + 1
        assert draw(number, 14) == case
    assert min(count[name] for name in (*KINDS, *CHAINS, *OPTIONS)) >= 30
    case = with_load(draw(59, 14), 20.0, 14)
    assert "curve" in case.video
    assert Case.of(case.to_dict()) == case
    assert case.to_video() == Video(**case.video)


def test_a_record_that_was_cut_off_is_read(tmp_path):
    path = tmp_path / "record.jsonl"
    lines = [json.dumps({"number": n, "verdict": "not run", "too long": 8, "passed over": 0}) + "\n" for n in (1, 2, 3)]
    path.write_text("".join(lines)[:-5])
    records = record.read(path)
    assert [one["number"] for one in records] == [1, 2]
    assert "16 forecast above 30 s" in record.summary(records)

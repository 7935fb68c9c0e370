"""The backlog of a live stream in steps of several rounds, against the same followed packet by packet."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.coarse.backlog import Backlog
from tcpstream.coarse.excess import Excess
from tcpstream.coarse.stationary_backlog import long_run
from tcpstream.coarse.steps import Steps
from tcpstream.coarse.ways import Ways
from tcpstream.kernels import backlog_paths
from tcpstream.kernels.backlog_paths import EMPTY, resting, rests
from tcpstream.kernels.backlog_turns import growth
from tcpstream.tcp import chain_of

landing = numba.njit(backlog_paths.landing.py_func)

PATHS = {
    "reno": Path(sender="classic", loss=0.01, rtt=0.1, rto=0.35),
    "reno-sack": Path(
        sender="classic", loss=0.01, rtt=0.1, rto=0.35, tcp="reno-sack", initial_window=10, detection="rack"
    ),
    "cubic": Path(sender="classic", loss=0.02, rtt=0.1, rto=0.35, tcp="cubic", initial_window=10, max_window=48),
}


def ways(name: str, step: int, due: float) -> Ways:
    return Ways.of(Steps.of(chain_of(PATHS[name]), step, 1.15, due), due)


@settings(max_examples=200, deadline=None)
@given(due=st.floats(0.3, 200), factor=st.floats(1.001, 30))
def test_the_backlog_at_rest(due: float, factor: float) -> None:
    sent = due * factor
    ratio = due / (sent - due)
    assume(abs(ratio - round(ratio)) > 2 * EMPTY * ratio * (1 + ratio))  # whole: rounding decides when it is empty
    mean, silent = resting(sent, due)
    backlog, found, silences, rounds = due, [due], 0, 0  # D after each round that sends; empty: a silent one follows
    while True:
        backlog += due - sent
        rounds += 1
        if backlog <= 0:
            silences += 1
            break
        found.append(backlog)
    assert mean == pytest.approx(np.mean(found), rel=1e-6)
    assert silent == pytest.approx(silences / rounds)


@pytest.mark.parametrize(("mean", "variance", "ordered"), [(30.0, 75.0, 15.0), (12.0, 20.0, 12.0), (40.0, 200.0, 20.0)])
@pytest.mark.parametrize("backlog", [0.0, 6.0, 40.0])
def test_a_round_with_a_loss_and_its_repair(mean: float, variance: float, ordered: float, backlog: float) -> None:
    due, rounds = 10.0, 2 if mean > ordered else 6
    rng = np.random.default_rng(5)
    found = []
    for packets in mean + math.sqrt(3 * variance) * rng.uniform(-1, 1, 100_000):
        first = packets * ordered / mean
        second = packets - first
        after = backlog + due - first
        if ordered < mean:
            after = due if after <= 0 else after
            after += due - second
            after = due if after <= 0 else after
            after += due * (rounds - 2)
        else:
            after = max(after, 0.0) + due * (rounds - 1)
        found.append(after)
    one, two, _ = landing(backlog, due, rounds, mean, variance, ordered, mean > ordered, 1)
    assert one == pytest.approx(np.mean(found), abs=0.03 * math.sqrt(variance))
    assert math.sqrt(two - one**2) == pytest.approx(np.std(found), abs=0.05 * math.sqrt(variance))


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("step", [1, 3])
def test_a_step_keeps_probability_and_what_the_chain_does(name: str, step: int) -> None:
    one = ways(name, step, 5.0)
    backlog = Backlog(one, 1.5, 2000.0)
    ladder, rng = backlog.ladder, np.random.default_rng(1)
    assert len(ladder.levels) > 1
    vector = rng.random((ladder.entries, ladder.size)) / ladder.size
    vector[one.rest == 0, 0] = 0.0
    entries, found = vector.sum(axis=1), backlog.step(vector).sum(axis=1)
    expected = np.bincount(one.target, entries[one.source] * one.weight, ladder.entries)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", PATHS)
def test_steps_until_they_turn_back(name: str) -> None:
    backlog = Backlog(ways(name, 2, 5.0), 1.5, 2000.0)
    ladder = backlog.ladder
    vector = np.random.default_rng(1).random((ladder.entries, ladder.size)) / ladder.size
    steps, back = backlog.until_turns(vector)
    turned = np.zeros_like(vector)
    turned[backlog.entries.turns] = back.reshape(-1, ladder.size)
    np.testing.assert_allclose(steps - backlog.step(steps), vector - turned, atol=1e-12)
    np.testing.assert_array_equal(backlog.turned(turned), back)
    np.testing.assert_allclose(backlog.turn(back), backlog.until_turns(turned)[1], atol=1e-15)
    np.testing.assert_allclose(backlog.all_steps(back, vector), backlog.until_turns(turned + vector)[0], atol=1e-15)


def lasting() -> Ways:
    """Return ways of CUBIC with lines that end in states which lead to themselves until a loss."""
    chain = chain_of(Path(loss=0.005, rtt=0.1, max_window=60))
    due = chain.packets_per_round / 1.6
    return Ways.of(Steps.of(chain, 1, 1.2, due, 24.0), due, (), 0.2)


@pytest.mark.long
def test_entries_that_lead_to_themselves_take_few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    one, counts, found = lasting(), [], []
    turn = Backlog.turn
    for again in (Backlog._repeated, lambda backlog: np.zeros(backlog.ladder.entries, dtype=np.int64)):
        calls: list[int] = []
        monkeypatch.setattr(Backlog, "_repeated", again)
        monkeypatch.setattr(
            Backlog, "turn", lambda backlog, turned, calls=calls: calls.append(1) or turn(backlog, turned)
        )
        found.append(long_run(one, one.due / 16, 1000.0, from_start=False).late_fraction(10.0))
        counts.append(len(calls))
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert counts[0] < counts[1] / 2


def test_how_long_what_an_entry_hands_on_to_itself_lasts() -> None:
    """The kernel against steps of whole vectors, of which one entry alone is kept."""
    backlog = Backlog(lasting(), 1.5, 1000.0)
    same = backlog.ways.source == backlog.ways.target
    entries, rng = np.unique(backlog.ways.source[same])[::15], np.random.default_rng(2)
    held = rng.normal(size=backlog.ladder.size)
    found = growth(held, entries, 40, backlog._lattices, backlog._shifts, backlog._landings, backlog._room)
    for entry, factor in zip(entries, found):
        vector = np.zeros((backlog.ladder.entries, backlog.ladder.size))
        vector[entry] = held
        sizes = []
        for _ in range(40):
            vector[entry] = backlog.step(vector)[entry]
            sizes.append(np.abs(vector[entry]).sum())
        expected = (sizes[39] / sizes[19]) ** (1 / 20) if sizes[19] > 0 else 0.0
        assert factor == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", PATHS)
def test_a_deep_backlog_changes_as_the_chain_delivers(name: str) -> None:
    """Far from an empty backlog the mean changes by what is due and delivered, on every level."""
    one = ways(name, 2, 5.0)
    backlog = Backlog(one, 1.5, 3000.0)
    ladder = backlog.ladder
    for i, level in enumerate(ladder.levels[:-1]):
        offset = 1 + sum(low.end - low.first for low in ladder.levels[:i])
        for s in range(0, ladder.entries, 19):
            at = level.base + 3 * (level.end - level.base) // 4
            vector = np.zeros((ladder.entries, ladder.size))
            vector[s, offset + at - level.first] = 1.0
            held = ladder.spread_out(backlog.step(vector))
            mean = sum(float((a.backlogs * own).sum()) for a, own in zip(ladder.levels, held.rows))
            mine = (one.source == s) & (one.floor < level.backlogs[s, at])
            if not mine[one.source == s].all():
                continue
            short = one.weight[mine] @ (one.lag[mine] < 20)  # long waits leave the ladder
            if short < 1 - 1e-12:
                continue
            expected = level.backlogs[s, at] + one.weight[mine] @ one.change[mine]
            assert mean == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.tuples(st.floats(-5, 50), st.floats(0.01, 1)), min_size=1, max_size=20), st.floats(-10, 60))
def test_excess(points: list[tuple[float, float]], y: float) -> None:
    values, mass = (np.array(column) for column in zip(*points))
    expected = float((np.maximum(values - y, 0) * mass).sum())
    assert float(Excess(values, mass)(np.array([y]))[0]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("factor", [1 - 1e-5, 1.0, 1 + 1e-5])
def test_rounds_that_send_just_what_is_due_empty_the_backlog(factor: float) -> None:
    """Steps scale what is sent a little; whether a backlog is empty may not depend on that."""
    due = 3.0
    assert rests(2 * due * factor, due, 1)
    assert resting(2 * due * factor, due)[1] == 1.0
    after, _, silent = landing(0.0, due, 1, due * factor, 0.0, due * factor, False, 1)
    assert (after, silent) == (due, 1.0)

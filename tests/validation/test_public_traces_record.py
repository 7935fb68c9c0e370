"""Predictions of public traces: how sessions are cut and judged, and the record with what the page says of it."""

from itertools import pairwise

import numpy as np
import pytest

import public_traces
from public_traces_parts import drawn
from public_traces_parts.judged import PREDICTORS, Questions, bins, brier, calibration, lost, questions, scores
from public_traces_parts.predictions import GROUPS, groups, record
from public_traces_parts.replay import BUFFER, DELAYS, RATES, delivered, opportunities, replayed, stalled
from public_traces_parts.sessions import FEW, LONGEST_GAP, MEAN, SECONDS, SETS, Session, TraceSet, halves, of_phone
from public_traces_parts.sessions import sessions as cut
from tcpstream.system.log import read
from tcpstream.traces import ThroughputTrace

ROWS = read(public_traces.RESULTS)


def test_sessions_keep_the_bits_of_a_trace():
    trace = ThroughputTrace(np.append(0, np.cumsum(np.full(200, 1.5))), 1e6 * (1 + np.arange(200) % 7))
    kept, gone = cut(trace)
    assert (len(kept), gone) == (2, 0)
    assert all(len(one) == SECONDS for one in kept)
    of_both = np.interp(2 * SECONDS, trace.edges, np.append(0, np.cumsum(trace.throughput * 1.5)))
    assert sum(one.sum() for one in kept) == pytest.approx(of_both)


def test_a_session_with_a_gap_is_left_out():
    edges = [0.0, 10.0, 11.0 + LONGEST_GAP, *range(80, 80 + 2 * SECONDS)]
    kept, gone = cut(ThroughputTrace(edges, np.ones(len(edges) - 1)))
    assert (len(kept), gone) == (1, 1)


@pytest.mark.parametrize("count", [FEW - 2, FEW])
def test_halves_are_of_sessions_or_of_traces(tmp_path, count):
    for number in range(count):
        lines = [f"{time} {number + 1}" for time in range(1, 2 * SECONDS + 1)]
        (tmp_path / f"{number:03}.txt").write_text("\n".join(lines))
    made = halves(TraceSet("made", "*.txt"), tmp_path)
    shared = {one.trace for one in made.first} & {one.trace for one in made.second}
    assert len(shared) == (count if count < FEW else 0)
    assert len(made.first) == len(made.second) == count
    assert np.mean([one.packets.mean() for one in made.first]) == pytest.approx(MEAN)


def test_the_log_of_a_phone(tmp_path):
    file = tmp_path / "log.csv"
    seconds = "2020.02.14_09.38.59", "2020.02.14_09.38.59", "2020.02.14_09.39.02"
    file.write_text("Timestamp,DL_bitrate\n" + "\n".join(f"{at},{rate}" for at, rate in zip(seconds, (1, 3, 8))))
    trace = of_phone(file)
    assert (np.diff(trace.edges).tolist(), trace.throughput.tolist()) == ([1, 3], [2000, 8000])


def test_a_replay_carries_what_the_link_can():
    session = Session(0, np.where(np.arange(SECONDS) % 20 < 10, 30.0, 70.0))
    could = round(session.packets.sum())
    assert len(opportunities(session)) == could + 1
    times = delivered(session)
    assert (np.diff(times) >= 0).all()
    assert 0.95 * could < len(times) <= could
    assert stalled(times, 55, 2.0)
    assert not stalled(times, 25, 2.0)
    assert len(delivered(Session(0, np.zeros(SECONDS)))) <= 1


def test_replays_of_one_trace_have_no_error_of_their_own():
    slow, fast = (Session(0, np.full(SECONDS, rate)) for rate in (20.0, 90.0))
    found = replayed([slow, fast], MEAN)
    assert np.array(found["stalled"])[-1].tolist() == [0.5, 0.5]
    assert np.array(found["standard_error"]).max() == pytest.approx(0)


def test_a_constant_path_stalls_where_the_video_is_faster():
    found = record([Session(0, np.full(SECONDS, 35.0) + np.arange(SECONDS) % 2)], "1 constant path", 1.0)
    p = np.array([one["p"] for one in found["answers"]])
    assert found["pps"] == pytest.approx([35.5])
    assert p[:3].max() < 1e-3
    assert p[3:].min() > 0.9


def test_groups_are_of_similar_throughput():
    half = [Session(0, np.full(SECONDS, float(rate))) for rate in (9, 1, 5, 3, 7, 2, 8, 4, 6)]
    for what, count in (("1 fit", 1), ("4 fits", 4), ("8 sessions", 8)):
        found = list(groups(half, what))
        assert len(found) == count
        assert sum(weight for weight, _ in found) == pytest.approx(1)
        means = [[one.packets[0] for one in each] for _, each in found]
        assert all(max(a) < min(b) for a, b in pairwise(means))


def test_drawn_regimes_last_as_the_fit_says():
    P, shares = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.75, 0.25])
    found = drawn.regimes(P, shares, 400, np.random.default_rng(1))
    assert found.shape == (drawn.SESSIONS, 400)
    assert found.mean() == pytest.approx(0.25, abs=0.01)
    assert (found[:, 1:][found[:, :-1] == 0] == 1).mean() == pytest.approx(0.1, abs=0.005)
    series = drawn._sessions(np.array([[2.0, 4.0]]), 65.0)
    assert (series[0].packets[[0, 64, 65, 129]]).tolist() == pytest.approx([2, 2, 4, 4])


def test_scores_by_hand():
    found = Questions(*(np.array(each) for each in ([0.1, 0.15, 0.9], [0.2, 0.0, 1.0], [0.0] * 3, [10.0, 30.0, 10.0])))
    by_hand = (10 * (0.2 * 0.81 + 0.8 * 0.01) + 30 * 0.15**2 + 10 * 0.01) / 50
    assert brier(found) == pytest.approx(by_hand)
    first, second = bins(found)
    assert (first.pairs, second.pairs) == (40, 10)
    assert (first.predicted, first.observed) == pytest.approx((0.1375, 0.05))
    unanswered = found._replace(predicted=np.array([np.nan, 0.15, 0.9]))
    assert sum(one.pairs for one in bins(unanswered)) == 40


def test_the_record_is_whole():
    cases = [(row["set"], row["what"], row["half"], row["part"]) for row in ROWS]
    assert len(set(cases)) == len(cases) == 2 * len(SETS) * (1 + sum(GROUPS.values())) + 2
    for row in ROWS:
        if row["what"] == "replay":
            assert np.shape(row["stalled"]) == (len(RATES), len(DELAYS))


def test_the_stated_fit_is_of_the_stated_path():
    for row in ROWS:
        if row["what"] == "1 fit":
            assert np.dot(row["pps"], row["shares"]) == pytest.approx(MEAN, rel=0.15)
            assert BUFFER == 20


def test_regimes_predict_better_than_constant_paths():
    for name in (one.name for one in SETS):
        score = {what: brier(questions(ROWS, name, what)) for what in PREDICTORS}
        assert max(score["1 fit"], score["4 fits"]) < score["20 constant paths"] < score["1 constant path"]


def test_bins_hold_at_least_thirty_sessions():
    for name in (one.name for one in SETS):
        assert min(one.pairs for one in bins(questions(ROWS, name, "1 fit"))) >= 30


def test_the_one_fit_is_closer_to_its_own_half():
    for name in (one.name for one in SETS):
        found = questions(ROWS, name, "1 fit", own=True)
        assert brier(found) < brier(questions(ROWS, name, "20 constant paths", own=True))


def test_the_tables_of_the_page_are_of_the_record():
    page = (public_traces.RESULTS.parents[2] / "docs" / "varying.md").read_text("utf-8")
    assert [line for line in [*scores(ROWS), *calibration(ROWS, "1 fit"), *lost(ROWS)] if line not in page] == []

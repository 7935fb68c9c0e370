"""Sessions that are inferred from others, beside what they are when they are solved."""

import numpy as np
import pandas as pd
import pytest

import tcpstream
from tcpstream import InputError
from tcpstream.scores.between import bounds
from tcpstream.scores.choose import Solver
from tcpstream.scores.distinct import sessions
from tcpstream.scores.kept import Store
from tcpstream.scores.question import Question
from tcpstream.scores.scored import ANSWERS

ASKED = {"packet_rate": 40, "duration": 3, "sender": "classic"}


def drawn(count, seed=5):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "isp": rng.choice(["A", "B"], count),
            "rtt_s": 0.08 * np.exp(0.4 * rng.standard_normal(count)),
            "loss": 0.015 * np.exp(0.6 * rng.standard_normal(count)),
        }
    )


@pytest.fixture(scope="module")
def table():
    return drawn(600)


@pytest.fixture(scope="module")
def scores(table):
    return tcpstream.score(table, np.random.default_rng(2), solves=60, group_by="isp", **ASKED)


@pytest.fixture(scope="module")
def solved(table):
    """Return the same as the first 50 are when each is solved."""
    return tcpstream.score(table.head(50), solves=50, **ASKED)


def test_stated_errors_hold(scores, solved):
    told, true = scores.to_pandas().head(50), solved.to_pandas()
    for name, error in (("stall_probability",) * 2, ("required_delay_s", "required_delay_error_s")):
        error = "stall_probability_error" if name == error else error
        off = np.abs(told[name] - true[name])
        assert (off <= told[error] + true[error] + 1e-12).mean() >= 0.95
    assert np.abs(told["stall_probability"] - true["stall_probability"]).mean() < 0.01
    assert told["T_over_mu"].to_numpy() == pytest.approx(true["T_over_mu"].to_numpy(), rel=0.1)


def test_solved_sessions_are_those_of_the_library(scores):
    rows = scores.to_pandas()
    rows = rows[rows["answered_by"] == "solved"]
    assert len(rows) == scores.solved == 60
    for _, row in rows.iloc[:1].iterrows():
        path = tcpstream.Path(loss=row["loss"], rtt=row["rtt_s"], sender="classic")
        video = tcpstream.Video(packet_rate=40, duration=3)
        seen = tcpstream.play(path, video, tcpstream.Player(start=2), accuracy="exact")
        assert row["stall_probability"] == pytest.approx(
            seen.stall_probability, abs=row["stall_probability_error"] + seen.longer_than_error(0.0)
        )
        assert row["required_delay_s"] == pytest.approx(
            tcpstream.stored(path, video, accuracy="fast").required_delay(1e-4),
            abs=row["required_delay_error_s"] + 0.02 * row["required_delay_s"],
        )
        assert row["T_over_mu"] == pytest.approx(tcpstream.throughput(path) / 40, rel=0.1)


def test_the_mean_lies_within_its_interval(scores, table):
    whole, first, second = scores.groups
    assert (whole.group, first.group, second.group) == ("", "A", "B")
    assert whole.sessions == first.sessions + second.sessions == 600
    assert first.sessions == (table["isp"] == "A").sum()
    rows = scores.to_pandas()
    for one, part in ((whole, rows), (first, rows[rows["isp"] == "A"])):
        assert one.stalled_share == pytest.approx(part["stall_probability"].mean())
        assert one.stalled_share_interval[0] <= one.stalled_share <= one.stalled_share_interval[1]
        assert one.required_delay_s["0.9"] == pytest.approx(part["required_delay_s"].quantile(0.9))
        low, high = one.required_delay_interval_s["0.9"]
        assert low <= one.required_delay_s["0.9"] <= high


def test_the_interval_covers_the_mean_of_another_draw(scores):
    """Of 60 sessions of the same networks, all of them solved."""
    other = tcpstream.score(drawn(60, seed=6), solves=60, **ASKED).groups[0]
    low, high = scores.groups[0].stalled_share_interval
    assert low - 0.08 < other.stalled_share < high + 0.08


def test_the_same_seed_gives_the_same_answers(table):
    scores, again = (tcpstream.score(table, np.random.default_rng(2), solves=12, **ASKED) for _ in range(2))
    pd.testing.assert_frame_equal(again.to_pandas(), scores.to_pandas())


def test_coverage_is_that_of_the_checks(scores, solved):
    assert scores.coverage == pytest.approx(20 / 21)
    assert solved.coverage == 1


def test_input_columns_are_kept(table, scores):
    found = scores.to_pandas()
    pd.testing.assert_frame_equal(found[list(table.columns)], table)
    assert list(found.columns) == [*table.columns, *ANSWERS]


def test_rows_keep_their_order_and_index(table):
    some = table.iloc[[7, 3, 3]].assign(rtt_s=[0.1, -1, 0.05])
    found = tcpstream.score(some, **ASKED).to_pandas()
    assert found.index.tolist() == [7, 3, 3]
    assert found["no_answer"].tolist() == ["", "rtt must be 1e-06 to 1000 s, got -1 s", ""]
    assert found["stall_probability"].isna().tolist() == [False, True, False]


def test_a_session_without_losses_does_not_tell_its_loss_rate():
    table = pd.DataFrame({"rtt_ms": [100, 100], "loss_percent": [0, 60]})
    assert tcpstream.score(table, **ASKED).to_pandas()["no_answer"].tolist() == [
        "loss is 0: a session without losses does not tell the loss rate of its path",
        "loss must be 1e-09 to 0.5, got 0.6, from loss_percent 60",
    ]


def test_a_throughput_stands_for_a_loss_rate():
    path = tcpstream.Path(loss=0.02, rtt=0.1, sender="classic")
    table = pd.DataFrame({"rtt_ms": [100, 100], "throughput_pps": [tcpstream.throughput(path), 1e6]})
    rows = tcpstream.score(table, **ASKED).to_pandas()
    assert rows["p"][0] == pytest.approx(0.02, rel=1e-5)
    assert "is not what this path can have" in rows["no_answer"][1]


def test_throughputs_of_many_sessions_are_told():
    rng = np.random.default_rng(4)
    table = drawn(300)
    table["throughput_pps"] = 75 * np.exp(0.4 * rng.standard_normal(300))
    scores = tcpstream.score(table.drop(columns="loss"), solves=12, **ASKED)
    rows = scores.to_pandas()
    for _, row in rows.iloc[:5].iterrows():
        path = tcpstream.Path.from_throughput(row["throughput_pps"], rtt=row["rtt_s"], sender="classic")
        assert row["p"] == pytest.approx(path.loss, rel=0.05)
    assert rows["T_over_mu"].to_numpy() == pytest.approx(table["throughput_pps"].to_numpy() / 40)


@pytest.mark.long
def test_durations_that_vary():
    table = drawn(200).assign(duration_s=np.random.default_rng(1).uniform(8, 30, 200))
    asked = ASKED | {"duration": None}
    told = tcpstream.score(table, solves=60, **asked).to_pandas().head(60)
    true = tcpstream.score(table.head(60), solves=60, **asked).to_pandas()
    off = np.abs(told["stall_probability"] - true["stall_probability"])
    assert (off <= told["stall_probability_error"] + 1e-9).mean() > 0.9


@pytest.mark.long
def test_a_timer_that_is_missing_is_that_of_linux():
    """Given as R + 0.2 s, or left out: the same answers, row by row of a table that has both."""
    asked = ASKED | {"duration": 20}
    table = drawn(30)
    given = table.assign(rto_s=table["rtt_s"] + 0.2)
    some = given.assign(rto_s=given["rto_s"].where(np.arange(30) % 2 == 0))
    whole, mixed = (tcpstream.score(one, solves=30, **asked).to_pandas() for one in (given, some))
    assert whole["stall_probability"].to_numpy() == pytest.approx(mixed["stall_probability"].to_numpy())
    told = tcpstream.score(some, solves=15, **asked).to_pandas()
    off = np.abs(told["stall_probability"] - whole["stall_probability"])
    assert (off <= told["stall_probability_error"] + 1e-9).mean() > 0.9


def test_order_of_answers():
    """A session between two solved ones lies between their answers; one that is better is bounded from above alone."""
    table = pd.DataFrame({"rtt_s": [0.1, 0.1, 0.1, 0.05], "loss": [0.01, 0.02, 0.04, 0.005]})
    question = Question(sender={"sender": "classic"})
    cases = sessions(table, question, {}, 40.0, 20.0)
    solver = Solver(cases, question, Store(question), lambda: None)
    solved = solver.every()
    paths = solver.paths(np.random.default_rng(1))
    ends = {i: one for i, one in solved.items() if cases.numbers[i, 0] in (0.01, 0.04)}
    found = bounds(cases, paths, ends)
    middle, best = (int(np.flatnonzero(cases.numbers[:, 0] == loss)[0]) for loss in (0.02, 0.005))
    assert found.stall_low[middle] < solved[middle].stall < found.stall_high[middle] < 1
    assert found.delay_low[middle] < solved[middle].delay < found.delay_high[middle]
    assert found.stall_low[best] == found.delay_low[best] == 0
    assert found.delay_high[best] == min(one.delay for one in ends.values())


def test_a_solve_that_takes_too_long_has_no_answer():
    table = pd.DataFrame({"rtt_ms": [100], "loss": [0.02]})
    scores = tcpstream.score(table, time_limit=1e-9, **ASKED)
    assert "time limit" in scores.to_pandas()["no_answer"][0]
    assert scores.groups[0].answered == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"group_by": "city"}, "no column 'city' to group by"),
        ({"solves": 0}, "solves must be"),
        ({"accuracy": "best"}, "accuracy must be"),
        ({"loss": 0.1}, "loss is a column of the table"),
        ({"bitrate": 1e6}, "give packet_rate or bitrate, not both"),
        ({"target": 2}, "target"),
        ({"start": -1}, "start must not be negative"),
        ({"sender": "quick"}, "sender must be"),
        ({"duration": -1}, "duration must be"),
    ],
)
def test_what_cannot_be_asked(more, words):
    with pytest.raises(InputError, match=words):
        tcpstream.score(pd.DataFrame({"rtt_ms": [100], "loss": [0.02]}), **(ASKED | more))


def test_what_is_no_table():
    with pytest.raises(InputError, match="sessions are a pandas or Dask table, or a file of one, got 3"):
        tcpstream.score(3)
    answered = pd.DataFrame({"rtt_ms": [100], "loss": [0.02], "p": [1]})
    with pytest.raises(InputError, match="has a column p already"):
        tcpstream.score(answered, **ASKED)


def test_no_session_with_an_answer():
    scores = tcpstream.score(pd.DataFrame({"rtt_ms": [-1], "loss": [0.02]}), **ASKED)
    assert (scores.groups[0].sessions, scores.groups[0].answered, scores.cases) == (1, 0, 0)
    assert "0 of 1 sessions" in scores.summary()

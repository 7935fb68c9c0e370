"""Who watches a long computation, and when its time is over."""

import pickle
import threading

import numpy as np
import pytest

import tcpstream
from tcpstream import AccuracyError, InputError, NoFiniteDelayError, Path, TimeLimitError, Video, time_limit
from tcpstream.answers.interval import between
from tcpstream.explicit import explicit_live, explicit_stored
from tcpstream.explore.chunk import solve as solve_chunk
from tcpstream.system import watch
from tcpstream.system.threads import on_cores

PATH = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2, max_window=8)
VIDEO = Video(packet_rate=30, duration=4)
OVER = 1e-9
"""A limit that is over at once [s]."""


class Clock:
    """Seconds that only pass when they are told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(watch, "monotonic", clock)
    return clock


def work(clock, steps, total, *instead, seconds=1):
    for done in range(steps):
        watch.at(done, total, *instead)
        clock.now += seconds


def message(clock, limit, *given):
    """What is said of work that makes a step a second."""
    with time_limit(limit), pytest.raises(TimeLimitError) as found:
        work(clock, *given)
    return str(found.value)


def test_nobody_watches():
    watch.at()
    watch.at(1, 2)


def test_what_is_said_when_the_time_is_over(clock):
    assert message(clock, 10, 20, 50, watch.SHORTER) == (
        "the time limit of 10 s is over, with 20% of this pass done, whose rest would take about 40 s, and others may "
        "follow: give a longer time_limit, a shorter duration or a smaller max_window"
    )
    assert "about 16 min, and others may follow: give a longer time_limit or a smaller max_window" in message(
        clock, 10, 20, 1000
    )
    assert "about 27.8 h" in message(clock, 10, 20, 100_010)
    assert "over, and how much is left is not known:" in message(clock, 10, 20, None)


def test_a_pass_that_has_not_moved_has_no_forecast(clock):
    with time_limit(1):
        clock.now = 2
        with pytest.raises(TimeLimitError, match="with 40% of this pass done: give"):
            watch.at(4, 10)


def test_the_forecast_is_that_of_the_present_pass(clock):
    with time_limit(105):
        work(clock, 10, 10, seconds=10)
        with pytest.raises(TimeLimitError, match="50% of this pass done, whose rest would take about 5 s, and others"):
            work(clock, 10, 10)


def test_the_shorter_limit_holds(clock):
    with time_limit(5):
        assert "limit of 3 s" in message(clock, 3, 9, 9)
    clock.now = 0
    with time_limit(3):
        assert "limit of 3 s" in message(clock, 5, 9, 9)
    watch.at()


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "30s", None])
def test_bad_limits(limit):
    with pytest.raises(InputError, match="time limit must be"):
        time_limit(limit)


def test_what_is_shown(clock):
    seen = []
    with watch.watching(seen.append):
        for done in range(100):
            watch.at(done, 100)
            clock.now += watch.EVERY / 10
        with time_limit(1000):
            clock.now += 1
            watch.at()
    assert seen == [pytest.approx(i / 10, abs=0.02) for i in range(10)] + [None]


def test_pieces_show_their_common_share(clock, monkeypatch):
    monkeypatch.setattr("tcpstream.system.threads.cores", lambda: 1)
    seen = []

    def work(item):
        for done in range(2):
            clock.now += 1
            watch.at(done, 2)
        clock.now += 1
        watch.at()  # nobody knows: it is not less far
        return -item

    with watch.watching(seen.append):
        assert on_cores(work, [1, 2]) == [-1, -2]
    assert seen == [0, 0.25, 0.25, 0.5, 0.75, 0.75]


def test_threads_are_watched_as_their_caller(monkeypatch):
    monkeypatch.setattr("tcpstream.system.threads.cores", lambda: 2)
    meet = threading.Barrier(2, timeout=20)

    def work(_item):
        meet.wait()
        watch.at()

    with time_limit(OVER), pytest.raises(TimeLimitError):
        on_cores(work, [1, 2])
    on_cores(work, [1, 2])


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tcpstream.stored(PATH, VIDEO).late_fraction(1.0),
        lambda: tcpstream.stored(PATH, VIDEO).no_late_probability(1.0),
        lambda: tcpstream.stored(PATH, VIDEO).no_late_probability([1.0, 2.0]),
        lambda: tcpstream.stored(PATH, VIDEO).buffer_quantiles(1.0),
        lambda: tcpstream.live(PATH, Video(packet_rate=20)),
        lambda: tcpstream.live(PATH, VIDEO),
        lambda: tcpstream.live_many([(PATH, Video(packet_rate=20)), (PATH, Video(packet_rate=10))]),
        lambda: tcpstream.largest_rate(PATH, delay=2),
        lambda: Path.from_throughput(100, sender="classic", rtt=0.1),
        lambda: explicit_live(PATH, Video(packet_rate=20), 1.0, depth=20).late_fraction(1.0),
        lambda: explicit_stored(PATH, VIDEO).late_fraction(1.0),
        lambda: explicit_stored(PATH, VIDEO).arrivals(3),
        lambda: between([PATH, PATH], lambda path: tcpstream.stored(path, VIDEO).late_fraction(1.0), 0, 1),
    ],
)
def test_every_solver_heeds_the_limit(ask):
    with time_limit(OVER), pytest.raises(TimeLimitError, match="the time limit of 1e-09 s is over"):
        ask()


def test_an_interrupted_result_is_unharmed(clock, monkeypatch):
    """What is asked again goes on from the rows that there are, and gets the same bits."""
    expected = tcpstream.stored(PATH, VIDEO).late_fraction([0.0, 1.0, 3.0])
    result = tcpstream.stored(PATH, VIDEO)
    at = watch.Watch.at

    def later(self, *given):
        clock.now += 0.1
        at(self, *given)

    monkeypatch.setattr(watch.Watch, "at", later)
    with time_limit(1), pytest.raises(TimeLimitError):
        result.late_fraction(3.0)
    assert 5 < result._arrivals.record.rounds < 15
    np.testing.assert_array_equal(result.late_fraction([0.0, 1.0, 3.0]), expected)


def test_no_finite_delay_is_still_said():
    with time_limit(OVER), pytest.raises(NoFiniteDelayError):
        tcpstream.live(PATH, Video(packet_rate=1000))


def test_a_sweep_records_nothing_of_what_was_not_ready():
    pd = pytest.importorskip("pandas")
    points = pd.DataFrame({"loss": [0.02], "rtt": [0.1], "packet_rate": [20.0], "duration": [4.0], "delay": [1.0]})
    for kind in ("stored", "live"):
        with time_limit(OVER), pytest.raises(TimeLimitError):
            solve_chunk(points, kind, False)


def test_the_error_is_one_of_accuracy_and_crosses_borders():
    error = pickle.loads(pickle.dumps(TimeLimitError("over")))
    assert isinstance(error, AccuracyError)
    assert str(error) == "over"

"""Results are values: whoever asks what, and in whatever order, gets the same bits."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path as FilePath

import numpy as np
import pytest

from tcpstream import AccuracyError, Path, Video, live, stored, stored_many
from tcpstream.sim import Link, Scenario, simulate, single_path
from tcpstream.transient.burst import BackloggedBurst

PATH = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=2, max_window=8)
VIDEO = Video(packet_rate=30, duration=4)
DELAYS = [0.0, 0.4, 3.0, 12.0]

pytestmark = pytest.mark.filterwarnings("ignore::tcpstream.InputWarning")  # delays longer than the video


def concurrency():
    """Return the module of validation/concurrency.py."""
    file = FilePath(__file__).parents[2] / "validation" / "concurrency.py"
    specification = spec_from_file_location("concurrency", file)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def restless(monkeypatch):
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("number", [5, 6, 7, 18, 19])  # one of each chain; stored alone and with others
def test_threads_pickles_and_copies_get_the_serial_answers(number, restless):
    study = concurrency()
    _, _, make, asked = study.draw(number, seed=6)
    assert study.disagreements(make, asked, np.random.default_rng(number), None) == []


def test_the_answers_and_their_bound_do_not_depend_on_what_was_asked_before():
    fresh, used = stored(PATH, VIDEO), stored(PATH, VIDEO)
    used.late_fraction(40.0)
    used.no_late_probability(DELAYS)
    assert used.error_bound == fresh.error_bound
    assert used.to_dict([0.4]) == fresh.to_dict([0.4])
    assert pickle.dumps(used) == pickle.dumps(fresh)


def test_a_pickle_of_a_live_stream_is_the_same_whatever_was_asked_before():
    """Nothing is added to it that a pickle in another thread could meet half way."""
    used, fresh = (live(PATH, Video(packet_rate=20)) for _ in range(2))
    _ = used.late_fraction([0, 1]), used.lattice_error(1), used.decay_rates, used.required_delay()
    assert pickle.dumps(used) == pickle.dumps(fresh)
    assert vars(used.backlogs[0]).keys() == vars(fresh.backlogs[0]).keys()


def test_the_error_bound_holds_at_every_delay():
    """A video that TCP needs five times as long for: until all is delivered, no more is lost than the bound says."""
    result = stored(PATH, Video(packet_rate=200, duration=5))
    assert result.load > 3
    far = result.required_delay(1e-9)
    assert result._arrivals.unaccounted(result._rounds(10 * far)) < result.error_bound < 1e-11
    assert result.late_fraction(10 * far) < 1e-9


def test_an_answer_that_loses_more_than_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr("tcpstream.answers.stored_rounds.MARGIN", 0.05)
    monkeypatch.setattr("tcpstream.answers.stored_rounds.LEAST", 0.0)
    result = stored(PATH, VIDEO)
    with pytest.raises(AccuracyError, match=r"startup delay 0\.4 s.*error bound"):
        result.late_fraction(0.4)
    with pytest.raises(AccuracyError, match="error bound"):
        result.no_late_probability(0.4)


def test_results_of_many_are_independent_of_each_other():
    cases = [(PATH, VIDEO), (PATH, Video(packet_rate=60, duration=9))]
    asked, other = stored_many(cases)
    expected = stored_many(cases)[1].to_dict(DELAYS)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(asked.late_fraction, np.linspace(0, 90, 50))
        assert pool.submit(other.to_dict, DELAYS).result() == expected
    alone = pickle.loads(pickle.dumps(other))
    assert alone.to_dict(DELAYS) == expected


def test_a_pickle_of_one_of_many_is_small():
    """Of cases of which no more is ever due than of another, nothing is kept."""
    videos = [Video(packet_rate=20 + i % 20, duration=10 + i // 20) for i in range(400)]
    assert len(pickle.dumps(stored_many([(PATH, video) for video in videos])[7])) < 2000


@pytest.mark.parametrize(
    "where", ["tcpstream.answers.arrivals.tabulate", "tcpstream.transient.burst.BackloggedBurst.distribution"]
)
def test_an_interrupted_question_leaves_nothing_behind(where, monkeypatch):
    """Ctrl-C while a row is made: what is asked next gets the right answer."""
    expected = stored(PATH, VIDEO).late_fraction(DELAYS)
    result = stored(PATH, VIDEO)
    result.late_probability_per_round(0.0)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            result.late_fraction(3.0)
    np.testing.assert_array_equal(result.late_fraction(DELAYS), expected)


def test_a_question_that_takes_too_much_memory_spoils_no_other(monkeypatch):
    expected = stored(PATH, VIDEO).late_fraction(1.0)
    result = stored(PATH, VIDEO)
    result.late_fraction(0.0)
    used = 8 * int(result._arrivals.record.starts[result._arrivals.record.rounds])
    with monkeypatch.context() as patch:
        patch.setattr("tcpstream.answers.arrivals.MEMORY_LIMIT", used + 5000)
        for _ in range(2):
            with pytest.raises(AccuracyError, match="GiB"):
                result.late_fraction(12.0)
        assert result.late_fraction(0.0) == stored(PATH, VIDEO).late_fraction(0.0)
    assert pickle.loads(pickle.dumps(result)).late_fraction(1.0) == expected


def test_threads_do_not_wait_for_rows_they_do_not_need(monkeypatch):
    """While one thread is at a late round, another gets answers from the rows that there are."""
    result = stored(PATH, VIDEO)
    expected = result.late_fraction(0.0)
    held, go_on = threading.Event(), threading.Event()
    step = BackloggedBurst.step

    def slow(self, *given):
        held.set()
        assert go_on.wait(20)
        return step(self, *given)

    monkeypatch.setattr("tcpstream.transient.burst.BackloggedBurst.step", slow)
    with ThreadPoolExecutor(1) as pool:
        far = pool.submit(result.late_fraction, 6.0)
        assert held.wait(20)
        assert result.late_fraction(0.0) == expected
        go_on.set()
        assert far.result() <= expected


ROUND_TRIPS = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", ROUND_TRIPS)
def test_round_trips(way):
    again = ROUND_TRIPS[way]
    curve = Video(curve=([0, 5, 10], [0, 500, 600]))
    scenario = single_path(Link(delay=0.05, rate=1e6, queue=20), Link(delay=0.05))
    for one in (PATH, VIDEO, curve, scenario):
        assert again(one) == one
    for result in (stored(PATH, VIDEO), stored(PATH, curve, horizon="paper", quantum=2)):
        assert again(result).to_dict(DELAYS) == result.to_dict(DELAYS)
    endless = live(PATH, Video(packet_rate=30))
    assert again(endless).to_dict(DELAYS) == endless.to_dict(DELAYS)
    run = simulate(scenario, 3.0, np.random.default_rng(1))
    assert isinstance(run.scenario, Scenario)
    np.testing.assert_array_equal(again(run).flows[0].times, run.flows[0].times)

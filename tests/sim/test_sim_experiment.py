"""Repetitions: their generators, their intervals, what is reported."""

import math

import numpy as np
import pytest

from tcpstream import InputError, Video
from tcpstream.sim import Bernoulli, Experiment, Link, Steady, interval, replicate, simulate, single_path

PATH = single_path(Link(0.05, loss=Bernoulli(0.05)), Link(0.05), source=Steady(25))


def test_interval_by_hand():
    # mean 2, deviation 1, n = 3: t(0.975, 2) = 4.302653
    assert interval([1, 2, 3]) == pytest.approx((2, 2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)))


def test_intervals_of_few():
    assert interval([4.0, math.nan])[0] == 4
    assert np.isnan(interval([4.0])[1:]).all()
    assert np.isnan(interval([math.nan])).all()


def test_intervals_cover_the_mean():
    """95 of 100 do; with 2000 intervals the error of that share is 0.5%."""
    rng = np.random.default_rng(2)
    ends = np.array([interval(rng.normal(3, 2, 5))[1:] for _ in range(2000)])
    assert np.mean((ends[:, 0] < 3) & (ends[:, 1] > 3)) == pytest.approx(0.95, abs=0.02)


def test_runs_are_those_of_their_spawned_generators():
    ticks = []
    runs = replicate(lambda _rng: PATH, 5, 3, 50.0, lambda: ticks.append(1))
    assert len(ticks) == len(runs) == 5
    alone = [simulate(PATH, 50.0, rng).flows[0].times for rng in np.random.default_rng(3).spawn(5)]
    assert all((run.flows[0].times == times).all() for run, times in zip(runs, alone))
    assert len({run.flows[0].times.tobytes() for run in runs}) == 5
    fewer = replicate(lambda _rng: PATH, 2, 3, 50.0)
    assert all((a.flows[0].times == b.flows[0].times).all() for a, b in zip(fewer, runs))


def test_a_scenario_is_drawn_with_the_generator_of_its_run():
    drawn = []

    def make(rng):
        drawn.append(float(rng.random()))
        return PATH

    replicate(make, 4, 1, 1.0)
    assert sorted(drawn) == sorted(float(rng.random()) for rng in np.random.default_rng(1).spawn(4))


def test_outcome_is_of_the_runs():
    experiment = Experiment(lambda _rng: PATH, 0.0, Video(packet_rate=25), (0.2, 1.0), seconds=100, runs=4, seed=2)
    runs = experiment.run()
    found = experiment.outcome(runs)
    for i, tau in enumerate((0.2, 1.0)):
        late = [run.flows[0].late_fraction(tau) for run in runs]
        mean, low, high = interval(late)
        assert found["late_fraction"][i] == mean
        assert found["intervals"]["late_fraction"][i] == [max(low, 0), high]
        assert found["no_late_share"][i] == np.mean([fraction == 0 for fraction in late])
        stalls = [run.flows[0].stalls(tau) for run in runs]
        assert found["stalls"][i] == np.mean([number for number, _ in stalls])
        assert found["stalled_s"][i] == pytest.approx(np.mean([seconds for _, seconds in stalls]))
    assert found["loss"] == np.mean([run.flows[0].loss_rate for run in runs])
    assert found["timeout_ratio"] == np.mean([run.flows[0].rto / run.flows[0].rtt for run in runs])


def test_a_stored_video_is_watched_to_its_end():
    experiment = Experiment(lambda _rng: PATH, 3.0, Video(packet_rate=25, duration=8), (1.0, 2.5), runs=1)
    assert experiment.seconds == 10.5
    assert experiment.run()[0].duration == 13.5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"delays": (-1.0,)}, "startup delay must be at least 0 s, got -1 s"),
        ({"runs": 0}, "number of runs must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seconds": 0}, "simulated time must be greater than 0 s, got 0 s"),
        ({"delays": (5.0,), "seconds": 5.0}, "simulated time must be longer than the longest startup delay, 5 s"),
    ],
)
def test_bad_experiments(changes, words):
    with pytest.raises(InputError, match=words):
        Experiment(**{"make": lambda _rng: PATH, "start": 0.0, "video": Video(packet_rate=25), "delays": ()} | changes)

"""A population of paths: beside arithmetic, sessions drawn one by one, and a path that hardly ever changes."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import monte_carlo
from tcpstream import (
    AccuracyError,
    InputError,
    InputWarning,
    Path,
    Population,
    TimeLimitError,
    Varying,
    Video,
    stored,
    stored_population,
    time_limit,
)


def path(loss, **given):
    return Path(**{"sender": "classic", "loss": loss, "rtt": 0.1, "rto": 0.3, "max_window": 16} | given)


VIDEO = Video(packet_rate=40, duration=8)
GOOD, FAIR, BAD = path(0.005), path(0.02, rtt=0.14, rto=0.4), path(0.04)
DELAYS = np.array([0.5, 1.0, 2.5])


@pytest.fixture(scope="module")
def three():
    return stored_population(Population([GOOD, FAIR, BAD], [2, 1, 1], ["fibre", "cable", "radio"]), VIDEO)


def test_answers_are_means_over_sessions(three):
    alone = [stored(one, VIDEO) for one in (GOOD, FAIR, BAD)]
    f = [sum(w * one.late_fraction(tau) for w, one in zip((0.5, 0.25, 0.25), alone)) for tau in DELAYS]
    assert three.late_fraction(DELAYS) == pytest.approx(f, rel=1e-12)
    P = np.array([[1 - one.no_late_probability(tau) for tau in DELAYS] for one in alone])
    stalled, errors = three.stalled(DELAYS)
    assert stalled == pytest.approx((2 * P[0] + P[1] + P[2]) / 4, rel=1e-12)
    assert errors == pytest.approx(np.mean([one.stalled(DELAYS)[1] for one in (alone[0], *alone)], axis=0), rel=1e-9)
    variance = (2 * P[0] ** 2 + P[1] ** 2 + P[2] ** 2) / 4 - stalled**2
    assert three.between(DELAYS) == pytest.approx(variance / (stalled * (1 - stalled)), rel=1e-9)
    assert three.throughput == pytest.approx([one.throughput for one in alone])
    rows = three.by_path(1.0)
    assert rows["path"] == ["fibre", "cable", "radio"]
    assert rows["stall_probability"] == pytest.approx(P[:, 1])
    assert rows["weight"] @ rows["late_fraction"] == pytest.approx(three.late_fraction(1.0))


def test_errors_of_lattices_are_means_too():
    population = Population([path(0.01, rtt=0.05), path(0.02, rtt=0.05)], [1, 3])
    rough = stored_population(population, Video(packet_rate=120, duration=20), accuracy="fast")
    off = [one.late_fraction(1.0) * one.relative_error(1.0) + one.error_bound for one in rough.results]
    assert rough.late_fraction_error(1.0) == pytest.approx((off[0] + 3 * off[1]) / 4, rel=1e-9)
    assert rough.late_fraction_error(1.0) > 1e-5


def test_equal_paths_are_one_path():
    alone = stored(FAIR, VIDEO)
    for paths in ([FAIR], [FAIR, path(0.02, rtt=0.14, rto=0.4)]):
        same = stored_population(Population(paths), VIDEO)
        assert len(set(same.results)) == 1
        assert same.late_fraction(DELAYS) == pytest.approx(alone.late_fraction(DELAYS), abs=1e-12)
        assert np.array(same.stalled(DELAYS)) == pytest.approx(np.array(alone.stalled(DELAYS)), abs=1e-12)
        assert same.between(DELAYS) == pytest.approx(0, abs=1e-12)
        assert same.required_delay(0.01) == alone.required_delay(0.01)
        assert same.required_delay(no_late=0.9) == alone.required_delay(no_late=0.9)


def test_agrees_with_sessions_drawn_one_by_one():
    """Each draws its path, then its packets; the agent knows nothing of the chain."""
    rng = np.random.default_rng(5)
    paths, weights, runs = [GOOD, BAD], [0.7, 0.3], 40_000
    stalled, f, total = np.zeros(3), np.zeros(3), 0
    for one, n in zip(paths, rng.multinomial(runs, weights)):
        seen = monte_carlo.stored(one, VIDEO, DELAYS, int(n), rng)
        stalled, f, total = stalled + n * (1 - seen.alpha), f + n * seen.f, total + n
    ours = stored_population(Population(paths, weights), VIDEO)
    P, _ = ours.stalled(DELAYS)
    assert total == runs
    assert (np.abs(stalled / runs - P) < 4 * np.sqrt(P * (1 - P) / runs)).all()
    spread = np.sqrt(ours.late_fraction(DELAYS) / runs)  # a fraction has at most the variance of a 0 or 1
    assert (np.abs(f / runs - ours.late_fraction(DELAYS)) < 4 * spread).all()


def test_a_path_that_hardly_ever_changes_is_a_population():
    """Of regimes that last 1e6 s, 8 s meet one: what stands beside is another model of the library."""
    good, bad = (path(p, losses="independent", max_window=8) for p in (0.01, 0.06))
    varying = stored(Varying([good, bad], [1e6, 3e6]), VIDEO, accuracy="exact")
    constant = stored_population(Population([good, bad], [1, 3]), VIDEO, accuracy="exact")
    assert constant.late_fraction(DELAYS) == pytest.approx(varying.late_fraction(DELAYS), rel=1e-4)
    assert constant.stalled(DELAYS)[0] == pytest.approx(varying.stalled(DELAYS)[0], rel=1e-4)
    mixed = stored_population(Population([Varying([good, bad], [2, 2]), bad]), VIDEO, accuracy="exact")
    assert mixed.results[0].late_fraction(1.0) < mixed.late_fraction(1.0) < mixed.results[1].late_fraction(1.0)


def test_what_decides():
    never, always = path(1e-9, max_window=32), path(0.2)
    split = stored_population(Population([never, always]), VIDEO)
    assert split.between(1.5) == pytest.approx(1, abs=1e-6)
    assert split.stalled([1.5])[0] == pytest.approx([0.5], abs=1e-6)
    sure = stored_population(Population([never, path(1e-9, max_window=33)]), VIDEO)
    assert sure.between(2.0) < 1e-6
    assert split.between([[0.0], [1.5]]).shape == (2, 1)
    assert split.between(0.0) == 0  # every session stalls


def test_required_delays_meet_their_targets(three):
    tau = three.required_delay(0.01)
    assert three.late_fraction(tau) <= 0.01 < three.late_fraction(tau - 0.01)
    tau = three.required_delay(no_late=0.9)
    assert three.stalled([tau])[0] <= 0.1 < three.stalled([tau - 0.1])[0]
    assert tau < max(one.required_delay(no_late=0.9) for one in three.results)
    with pytest.raises(InputError, match="not both"):
        three.required_delay(0.1, no_late=0.9)
    with pytest.raises(AccuracyError, match=r"late fraction of 1\.0e-14 is finer"):
        three.required_delay(1e-14)
    with pytest.raises(AccuracyError, match=r"probability of a stall of .* is finer"):
        three.required_delay(no_late=1 - 1e-14)


def test_forms():
    two = stored_population(Population([GOOD, BAD], names=["fibre", "radio"]), Video(packet_rate=40, duration=2))
    assert two.to_pandas().index[-1] == two.required_delay()
    found = two.to_dict([1.0, 2.0])
    assert found["stall_probability"] == two.stalled([1.0, 2.0])[0].tolist()
    assert [one["name"] for one in found["parameters"]["paths"]] == ["fibre", "radio"]
    assert "over 2 paths" in two.summary()
    assert "radio" in two._repr_html_()
    assert "<td" in two.population._repr_html_()
    many = Population([path(0.001 * i) for i in range(1, 31)])
    assert many.rows()[-1] == ("others", "10 paths")
    for again in (copy.deepcopy(two), pickle.loads(pickle.dumps(two))):
        assert again.to_dict([1.0]) == two.to_dict([1.0])
    assert Population([GOOD, BAD], [1, 1]) == Population([GOOD, BAD])


def test_long_delays_are_noted_once(three):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        three.late_fraction(101.0)
    assert [one.category for one in caught] == [InputWarning]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"paths": GOOD}, "paths must be a sequence of Path or Varying, got Path"),
        ({"paths": []}, "1 to 1000 paths, got 0"),
        ({"paths": [GOOD] * 1001}, "1 to 1000 paths, got 1001"),
        ({"paths": [GOOD, 3]}, "path 2 must be a Path or Varying, got 3"),
        ({"weights": [1]}, r"weights must be a number > 0 for each of 2 paths, got \[1\]"),
        ({"weights": "ab"}, "weights must be a number > 0 for each of 2 paths, got 'ab'"),
        ({"weights": [1, 0]}, "weight 2 must be greater than 0, got 0"),
        ({"weights": [1, np.inf]}, "weight 2 must be finite, got inf"),
        ({"names": ["a", "a"]}, r"names must be a string of its own for each of 2 paths, got \['a', 'a'\]"),
        ({"names": "ab"}, "names must be a string of its own"),
        ({"names": ["a", 1]}, "names must be a string of its own"),
    ],
)
def test_bad_populations(given, message):
    with pytest.raises(InputError, match=message):
        Population(**{"paths": [GOOD, BAD]} | given)


def test_bad_questions(three):
    with pytest.raises(InputError, match="population must be a Population, got"):
        stored_population([GOOD, BAD], VIDEO)
    with pytest.raises(InputError, match="needs the duration"):
        stored_population(three.population, Video(packet_rate=40))
    with pytest.raises(InputError, match="startup delay must not be negative, got -1 s"):
        three.stalled([1.0, -1.0])
    far = Population([GOOD, path(0.02, rtt=2.5, rto=3)], names=["near", "far"])
    with pytest.raises(InputError, match=r"^path far: duration must be at least one round trip time"):
        stored_population(far, Video(packet_rate=40, duration=2))


def test_a_solve_that_is_refused_names_its_path(monkeypatch):
    seen = stored_population(Population([GOOD, BAD], names=["fibre", "radio"]), VIDEO)

    def refused(_):
        raise AccuracyError("too much is lost")

    monkeypatch.setattr(seen.results[1], "stalled", refused)
    with pytest.raises(AccuracyError, match=r"^path radio: too much is lost$"):
        seen.stalled([1.0])
    with time_limit(1e-9), pytest.raises(TimeLimitError, match=r"^path fibre: the time limit"):
        stored_population(Population([path(0.006), BAD], names=["fibre", "radio"]), VIDEO).late_fraction(1)

"""Values between points, and what leaving points out says of their errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.scores.surface import Surface, conformal, fit, left_out, nearest


@given(count=st.integers(1, 500), wanted=st.floats(0.5, 0.999))
def test_the_error_taken_covers_a_new_one_often_enough(count, wanted):
    """The rank of a new error among count + 1 is even: it is at most the k-th of the others with k / (count + 1)."""
    place, coverage = conformal(count, wanted)
    assert 0 <= place < count
    assert (place + 1) / (count + 1) >= coverage - 1e-9
    assert coverage == wanted or place == count - 1


def test_too_few_errors_cover_less():
    assert conformal(19, 0.99) == (18, 0.95)
    assert conformal(99, 0.99) == (98, 0.99)


def test_coverage_is_held_by_errors_drawn_at_random():
    """99 errors and a new one, 20,000 times: at least .99 within three standard errors of .0007."""
    drawn = np.random.default_rng(3).exponential(size=(20_000, 100))
    place, coverage = conformal(99, 0.99)
    held = drawn[:, -1] <= np.sort(drawn[:, :-1], axis=1)[:, place]
    assert held.mean() == pytest.approx(coverage, abs=0.0021)


def test_a_plane_is_met_everywhere():
    rng = np.random.default_rng(1)
    points, where = rng.uniform(-1, 1, (30, 2)), rng.uniform(-1, 1, (50, 2))
    plane = np.array([2.0, -0.5])
    value, error = fit(points, points @ plane + 1).at(where)
    assert value == pytest.approx(where @ plane + 1, abs=1e-9)
    assert error.max() < 1e-9


def test_errors_of_a_smooth_function_hold():
    """As they are to: with 30 of 31, calibrated at places drawn at random."""

    def function(where):
        return np.sin(3 * where[:, 0]) * where[:, 1]

    rng = np.random.default_rng(2)
    points, checks, where = (rng.uniform(-1, 1, (count, 2)) for count in (60, 30, 400))
    surface = fit(points, function(points)).held(checks, function(checks))
    value, error = surface.at(where)
    off = np.abs(value - function(where))
    assert surface.coverage == pytest.approx(30 / 31)
    assert (off <= error).mean() >= 0.96
    assert off.mean() < 0.05


def test_errors_solved_elsewhere_widen_a_surface():
    points = np.linspace(0, 1, 11)[:, None]
    flat = fit(points, np.zeros(11))
    held = flat.held(np.array([[0.55], [0.75]]), np.array([0.1, 0.0]))
    assert held.coverage == pytest.approx(2 / 3)
    assert held.at(np.array([[0.55]]))[1][0] == pytest.approx(0.1)
    assert flat.held(points[:1], np.zeros(1)).scale == flat.scale


def test_too_few_points_take_the_nearest():
    points, values = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([3.0, 5.0])
    surface = fit(points, values)
    assert isinstance(surface, Surface)
    assert surface.at(np.array([[0.1, 0.0], [0.9, 1.2]]))[0].tolist() == [3.0, 5.0]


def test_points_on_a_line_have_a_surface():
    points = np.column_stack([np.arange(6.0), np.arange(6.0)])
    assert np.isfinite(left_out("thin_plate_spline", points, np.arange(6.0))).all()


def test_the_second_nearest_is_no_point_itself():
    points = np.array([[0.0], [1.0], [3.0]])
    assert nearest(points, points, 2)[0].tolist() == [1.0, 1.0, 2.0]

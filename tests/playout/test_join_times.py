"""When a buffer is filled, where transitions interpolate with weights of both signs."""

import numpy as np

from tcpstream.answers.joined import rounds_within
from tcpstream.playout.fineness import Fineness
from tcpstream.playout.lattice import Joint
from tcpstream.playout.sessions import join_times

BY_PACKETS = Fineness(1.0, 1, True, 16, 1, 1.0, 6)


def weighted(first):
    """A round of one packet, then rounds of as many as the state that it led to: 1, 2, ..., by their weights."""
    states = np.arange(len(first) + 1)
    received = np.append(np.ones(len(first), dtype=int), states[1:])
    target, chance = np.append(states[1:], states[1:]), np.append(first, np.ones(len(first)))
    return Joint(np.append(0, len(first) + states), target, np.ones_like(received), received, received, chance)


def test_the_law_goes_on_after_it_came_to_1():
    """Eleven packets have come with round 1 + 10 / k, the first of which is 0."""
    first = np.array([-0.5, 1.5])
    law = join_times(weighted(first), 0, BY_PACKETS, 100.0, [11.0])[0]
    wanted = np.zeros_like(law)
    wanted[[5, 10]] = 1.5, -0.5
    np.testing.assert_allclose(law, wanted, atol=1e-15)


def test_it_ends_where_it_is_1_in_between():
    first = np.array([0.3, -0.3, 0.0, 0.0, 1.0])
    law = join_times(weighted(first), 0, BY_PACKETS, 100.0, [11.0])[0]
    wanted = np.zeros_like(law)
    wanted[[2, 5, 10]] = 1.0, -0.3, 0.3
    np.testing.assert_allclose(law, wanted, atol=1e-15)


def test_a_quantile_is_where_the_law_first_comes_to_it():
    assert rounds_within(np.array([0.5, 0.6, -0.2, 0.1]), 0.95) == 1

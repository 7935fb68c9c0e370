"""What is recorded is what plain loops do, in every run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.stationary.program import CHAINS, Program


def ran(record, *rows):
    """Record on rows with these values, run twice, and return all rows: nothing may be left over from a run."""
    program = Program()
    addresses = [program.room(len(row)) for row in rows]
    result = record(program, *addresses)
    program.ready()
    for _ in range(2):
        for address, row in zip(addresses, rows):
            program.row(address, len(row))[:] = row
        program.run()
    return [program.row(address, len(row)).copy() for address, row in zip(addresses, rows)], result


@given(st.integers(1, 60), st.integers(1, 3 * CHAINS), st.floats(-0.9, 0.9), st.integers(0, 2**32))
def test_recur(count, distance, ratio, seed):
    row, scratch = np.random.default_rng(seed).random((2, count))
    found, (solved, other) = ran(lambda p, y, z: p.recur(y, z, count, ratio, distance), row, scratch)
    expected = row.copy()
    for k in range(distance, count):
        expected[k] += ratio * expected[k - distance]
    assert {solved, other} == {0, count}
    np.testing.assert_allclose(found[solved > other], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_steps(count):
    """Of any length, none included; of several at a time, one by one."""
    x, y = np.arange(1.0, 7), np.arange(10.0, 16)
    assert ran(lambda p, t, s: p.add(t, s, count, 2.0), x, y)[0][0].tolist() == [*(x + 2 * y)[:count], *x[count:]]
    assert ran(lambda p, t, s: p.set(t, s, count, 2.0), x, y)[0][0].tolist() == [*2 * y[:count], *x[count:]]
    assert ran(lambda p, t: p.clear(t, count), x)[0][0].tolist() == [0.0] * count + [*x[count:]]
    total = ran(lambda p, t, s: p.total(t + 1, s, count, 3.0), x, y)[0][0]
    assert total.tolist() == [1, 2 + 3 * y[:count].sum(), 3, 4, 5, 6]
    several = ran(lambda p, t, s: p.add(t + np.array([1, 0]), s, np.array([count, 1]), np.array([1, 2])), x, y)[0][0]
    both = x + 2 * y[0] * (np.arange(6) == 0)
    both[1 : 1 + count] += y[:count]
    assert several.tolist() == both.tolist()


@given(st.integers(-12, 12), st.integers(1, 9))
def test_put_and_place(start, count):
    """What lies below 0 is lost, what lies past the last position stays there."""
    target, chain = np.ones(6), np.arange(1.0, count + 1)
    expected = np.zeros(6)
    for k, value in enumerate(chain):
        if k + start >= 0:
            expected[min(k + start, 5)] += 0.5 * value
    put = ran(lambda p, t, s: p.put(t, 6, s, count, start, 0.5), target, chain)[0][0]
    np.testing.assert_allclose(put, 1 + expected)
    place = ran(lambda p, t, s: p.place(t, 6, s, count, start, 0.5), target, chain)[0][0]
    np.testing.assert_allclose(place, expected)

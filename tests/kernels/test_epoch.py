"""The kernels of live streaming against slow twins."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream import Path
from tcpstream.kernels.shifts import gather, put, scatter
from tcpstream.stationary.back_off import back_off
from tcpstream.stationary.epoch import climb
from tcpstream.stationary.playback import Playback
from tcpstream.stationary.program import Program
from tcpstream.stationary.random_walk import HalfLine, next_fast
from tcpstream.stationary.windows import Windows, one_return
from tcpstream.tcp import chain_of, reno


@st.composite
def queues(draw):
    """Playback slower than the largest window, backlogs with a trace and without, and mass anywhere."""
    W, b, steps_per_packet = draw(st.integers(5, 10)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    drop, trace = draw(st.integers(2, W * steps_per_packet - 2)), draw(st.integers(0, 1))
    halving = draw(st.sampled_from(["floor", "ceil"]))
    path = Path(
        loss=draw(st.floats(0.05, 0.5)), rtt=1, timeout_ratio=2, max_window=W, rounds_per_increase=b, halving=halving,
        initial_window=draw(st.sampled_from([None, W])),
    )  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return chain_of(path), steps_per_packet, drop, trace, rng, draw(st.integers(40, 60))


def slow_epoch(entries, chain, rows, steps_per_packet, drop, trace):
    """The climb, the losses and the recoveries, each by its own slow twin."""
    p, W, n = chain.loss, chain.max_window, entries.shape[1]
    cap = n - 1
    growth = list(zip(*chain.growth.lists()))
    total, sending = naive.climb(entries, chain.windows, growth, p, steps_per_packet, drop, trace)
    short = naive.lose(sending, chain.windows, p, steps_per_packet, cap, n)
    recovered, frozen = np.zeros((rows.max() + 1, n + 2 * steps_per_packet * W)), np.zeros((rows.max() + 1, W))
    naive.recover(sending, chain.windows, rows, p, steps_per_packet, -(10**6), cap, recovered, frozen)
    for row, j in np.argwhere(frozen):
        for i in range(3, j + 1):
            law = (1 - p) ** i * (1 if i == j else p)
            recovered[row, cap - drop - trace + i * steps_per_packet] += law * frozen[row, j]
    for row in short:
        paused = np.zeros(n)
        paused[cap] = row[cap]
        row += naive.down(paused, drop + trace)
    following = np.array([naive.down(row, drop) for row in recovered])
    following[:, cap] = following[:, cap:].sum(axis=1)
    return total.sum(axis=0), short, following[:, :n]


def fast_epoch(entries, entered, states, steps_per_packet, drop, trace, height):
    """Record the climb and run it twice: nothing may be left over from a run."""
    program, n = Program(), entries.shape[1]
    start, active, short, following = (program.room(rows * n) for rows in (len(entries), 1, 3, height))
    climb(Playback(program, n, steps_per_packet, drop, trace), states, start, entered, active, short, following, height)
    program.ready()
    for _ in range(2):
        program.row(start, *entries.shape)[:] = entries
        program.run()
    return program.row(active, n), program.row(short, 3, n), program.row(following, height, n)


@settings(max_examples=20)
@given(queues())
def test_climb(made):
    chain, steps_per_packet, drop, trace, rng, n = made
    b, W = chain.rounds_per_increase, chain.max_window
    entries = rng.random((chain.size, n)) * (rng.random((chain.size, n)) < 0.2)
    halves, inverse = np.unique(chain.recover_to[4:], return_inverse=True)
    rows = np.concatenate([np.zeros(4, dtype=int), inverse])[chain.windows]
    feedback = np.linalg.inv(np.eye(b) - one_return(b, W, steps_per_packet, drop, trace, (1 - chain.loss) ** W))
    branches = {int(s): [] for s in chain.branches.to_state}
    for state, target, share in zip(*chain.branches.lists()):
        branches[target].append((state, share))
    states = Windows(chain.windows, rows, chain.loss, feedback, (), chain.n_preamble, branches)
    made = fast_epoch(entries, np.arange(chain.size), states, steps_per_packet, drop, trace, len(halves))
    expected = slow_epoch(entries, chain, rows, steps_per_packet, drop, trace)
    for fast, slow in zip(made, expected):
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-11)


def test_climb_keeps_a_deep_tail():
    """What is computed of a small mass does not depend on the large masses nearer to the ceiling."""
    chain = reno(Path(loss=0.02, rtt=1, timeout_ratio=2, max_window=20))
    states = Windows(chain.windows, np.maximum(chain.windows // 2 - 2, 0), chain.loss, np.ones((1, 1)))
    n, split = 600, 300

    def epoch(entries):
        return fast_epoch(entries, np.arange(1, 10), states, 1, 4, 0, 9)[2]

    entries = np.tile(np.exp(0.2 * np.arange(n)), (9, 1))
    tail = np.where(np.arange(n) < split, entries, 0.0)
    np.testing.assert_allclose(epoch(entries)[:, : split - 20], epoch(tail)[:, : split - 20], rtol=1e-12)


@settings(max_examples=20)
@given(queues())
def test_back_off(made):
    chain, steps_per_packet, drop, trace, rng, n = made
    inflow = rng.random(n)
    shifts = np.array([[2 + e, 3 + 2 * e] for e in range(4)])
    ways = np.array([[0.5, 0.5]] * 4)
    program = Program()
    start, visits, restart = (program.room(rows * n) for rows in (1, 4, 1))
    back_off(Playback(program, n, steps_per_packet, drop, trace), chain.loss, start, shifts, ways, visits, restart)
    program.ready()
    program.row(start, n)[:] = inflow
    program.run()
    expected = naive.back_off(inflow, chain.loss, steps_per_packet, drop, trace, shifts, ways)
    np.testing.assert_allclose(program.row(visits, 4, n), expected[0].sum(axis=0), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(program.row(restart, n), expected[1], rtol=1e-10, atol=1e-13)


@given(st.integers(-12, 12), st.integers(1, 9))
def test_put(start, length):
    mass = np.arange(1.0, length + 1)
    target, expected = np.ones(6), np.ones(6)
    put(target, mass, start, 0.5)
    for k, value in enumerate(mass):
        if k + start >= 0:
            expected[min(k + start, 5)] += 0.5 * value
    np.testing.assert_allclose(target, expected)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=3), st.integers(1, 3))
def test_gather_and_scatter(shifts, steps_per_packet):
    """Shifts are made of multiples of the stride, and right on average away from the ends."""
    n, middle = 60, 30
    shifts = np.array(shifts)
    for h, shift in enumerate(shifts):
        rows, total = np.zeros((len(shifts), n)), np.empty(n)
        rows[h, middle] = 1.0
        gather(rows, shifts, steps_per_packet, total)
        assert total.sum() == pytest.approx(1)
        assert total @ np.arange(n) == pytest.approx(middle + shift)
        assert ((np.flatnonzero(total) - middle) % steps_per_packet == 0).all()
        back = np.zeros_like(rows)
        scatter(rows[h], np.full(len(shifts), 0.5), shifts, steps_per_packet, back)
        np.testing.assert_allclose(back[h], total / 2)


def test_lengths_of_transforms():
    """Even, products of 2s and one of 1, 3, 5, 9: the next of them."""
    fast = sorted(factor << k for factor in (1, 3, 5, 9) for k in range(1, 14))
    for points in range(1, 5000):
        assert next_fast(points) == next(length for length in fast if length >= points)


@given(st.integers(0, 2**32))
def test_half_line(seed):
    """A walk with drift to 0, against its matrix."""
    rng = np.random.default_rng(seed)
    n, points, tilt = 60, 4096, 0.02
    jumps = np.arange(-8, 6)
    law = rng.random(len(jumps))
    law[:8] *= 5
    law /= law.sum()
    waves = tilt + 2j * np.pi / points * np.arange(points // 2 + 1)
    walk = HalfLine(np.exp(np.outer(waves, jumps)) @ law, tilt)
    walk.cut(n)
    far = 400
    moves = sum(weight * np.eye(far, k=jump) for jump, weight in zip(jumps, law))
    start = rng.random(n)
    visits = np.linalg.solve(np.eye(far) - moves.T, np.pad(start, (0, far - n)))
    # mass that is above n only on the way counts: the walk is not cut there
    np.testing.assert_allclose(walk.visits(start), visits[:n], rtol=1e-9)
    waiting = moves.copy()
    waiting[:, 0] += 1 - moves.sum(axis=1)
    waiting[-8:, 0] = 1 - waiting[-8:, 1:].sum(axis=1)
    balance = np.eye(far) - waiting.T
    balance[-1] = 1
    expected = np.linalg.solve(balance, np.eye(far)[-1])
    np.testing.assert_allclose(walk.stationary()[:n], expected[:n], rtol=1e-6, atol=1e-13)

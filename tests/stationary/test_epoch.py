"""The kernels of live streaming against slow twins."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from tcpstream import Path
from tcpstream.stationary.back_off import back_off
from tcpstream.stationary.epoch import climb
from tcpstream.stationary.playback import Playback
from tcpstream.stationary.program import Program
from tcpstream.stationary.windows import Windows, one_return
from tcpstream.tcp import chain_of, reno


@st.composite
def queues(draw):
    """Playback slower than the largest window, backlogs with a trace and without, and mass anywhere."""
    W, b, steps_per_packet = draw(st.integers(5, 10)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    drop, trace = draw(st.integers(2, W * steps_per_packet - 2)), draw(st.integers(0, 1))
    halving = draw(st.sampled_from(["floor", "ceil"]))
    path = Path(
        sender="classic",
        loss=draw(st.floats(0.05, 0.5)), rtt=1, timeout_ratio=2, max_window=W, rounds_per_increase=b, halving=halving,
        initial_window=draw(st.sampled_from([None, W])),
    )  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return chain_of(path), steps_per_packet, drop, trace, rng, draw(st.integers(40, 60))


def slow_epoch(entries, chain, rows, steps_per_packet, drop, trace):
    """The climb, the losses and the recoveries, each by its own slow twin."""
    p, W, n = chain.loss, chain.graph.max_window, entries.shape[1]
    cap = n - 1
    growth = list(zip(*chain.graph.growth.lists()))
    total, sending = naive.climb(entries, chain.graph.windows, growth, p, steps_per_packet, drop, trace)
    short = naive.lose(sending, chain.graph.windows, p, steps_per_packet, cap, n)
    recovered, frozen = np.zeros((rows.max() + 1, n + 2 * steps_per_packet * W)), np.zeros((rows.max() + 1, W))
    naive.recover(sending, chain.graph.windows, rows, p, steps_per_packet, -(10**6), cap, recovered, frozen)
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


@settings(max_examples=12)
@given(queues())
def test_climb(made):
    chain, steps_per_packet, drop, trace, rng, n = made
    b, W = chain.graph.rounds_per_increase, chain.graph.max_window
    entries = rng.random((chain.graph.size, n)) * (rng.random((chain.graph.size, n)) < 0.2)
    halves, inverse = np.unique(chain.recover_to[4:], return_inverse=True)
    rows = np.concatenate([np.zeros(4, dtype=int), inverse])[chain.graph.windows]
    feedback = np.linalg.inv(np.eye(b) - one_return(b, W, steps_per_packet, drop, trace, (1 - chain.loss) ** W))
    branches = {int(s): [] for s in chain.graph.branches.to_state}
    for state, target, share in zip(*chain.graph.branches.lists()):
        branches[target].append((state, share))
    states = Windows(chain.graph.windows, rows, chain.loss, feedback, (), chain.graph.n_preamble, branches)
    made = fast_epoch(entries, np.arange(chain.graph.size), states, steps_per_packet, drop, trace, len(halves))
    expected = slow_epoch(entries, chain, rows, steps_per_packet, drop, trace)
    for fast, slow in zip(made, expected):
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-11)


def test_climb_keeps_a_deep_tail():
    """What is computed of a small mass does not depend on the large masses nearer to the ceiling."""
    chain = reno(Path(sender="classic", loss=0.02, rtt=1, timeout_ratio=2, max_window=20))
    states = Windows(chain.graph.windows, np.maximum(chain.graph.windows // 2 - 2, 0), chain.loss, np.ones((1, 1)))
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

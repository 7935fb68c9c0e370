"""Players with buffer thresholds, simulated round by round from the transitions of a chain."""

from __future__ import annotations

import numpy as np
from numba import njit

from tcpstream.tcp import chain_of
from written_rows import by_source


@njit(cache=True)
def played(arrived, due, packets, begin, resume):
    """Stalls, stalled rounds, rounds before playback and rounds of playback before the first stall.

    `arrived`: packets in order by the ends of rounds 1, 2, ..., until all of them are.
    """
    stalls, stalled, joined, before, at = 0.0, 0.0, 0.0, 0.0, 0.0
    filling, first = True, True
    for i, there in enumerate(arrived):
        held = there - at
        if filling and (there >= packets or held >= (begin if first else resume) - 1e-9):
            if first:
                joined = i
            filling = first = False
        elif filling and not first:
            stalled += 1
        if not filling:
            if there >= packets:
                break
            if held >= due - 1e-9:
                at += due
            else:
                if stalls == 0:
                    before = there / due
                stalls += 1
                stalled += 1 - held / due
                at, filling = float(there), True
    return stalls, stalled, joined, before


@njit(cache=True)
def drawn(sessions, rng, starts, to, rounds, received, in_order, cumulated, start, due, packets, begin, resume):
    """What `played` returns, of each session."""
    found = np.zeros((sessions, 4))
    for session in range(sessions):
        state, arrived, wait = start, 0, 0
        by_round = [0.0 for _ in range(0)]
        while not by_round or by_round[-1] < packets:
            if wait == 0:
                u, row = rng.random(), starts[state]
                while cumulated[row] < u and row < starts[state + 1] - 1:
                    row += 1
                there, wait = arrived + in_order[row], rounds[row] - 1
                arrived, state = arrived + received[row], to[row]
            else:
                there, wait = arrived, wait - 1
            by_round.append(float(there))
        found[session] = played(np.array(by_round), due, packets, begin, resume)
    return found


@njit(cache=True)
def watched(arrived, due, packets, begin, resume):
    """What `played` returns, of each row of packets that have arrived."""
    found = np.zeros((len(arrived), 4))
    for session in range(len(arrived)):
        found[session] = played(arrived[session], due, packets, begin, resume)
    return found


def simulated(path, video, player, sessions, seed):
    rows = chain_of(path).written_out
    mu = video.packet_rate
    return drawn(
        sessions, np.random.default_rng(seed), *by_source(rows), rows.start, mu * path.rtt, video.packets,
        max(1.0, mu * player.start_buffer), max(1.0, mu * player.resume_buffer),
    )  # fmt: skip


def close(sample, value, error=0.0):
    allowed = 4 * sample.std(ddof=1) / np.sqrt(len(sample)) + error
    assert abs(sample.mean() - value) <= allowed, (sample.mean(), value, allowed)

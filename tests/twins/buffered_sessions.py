"""Players with buffer thresholds, simulated round by round from the transitions of a chain."""

from __future__ import annotations

import numpy as np
from numba import njit

from tcpstream.tcp import chain_of
from written_rows import by_source


@njit(cache=True)
def drawn(sessions, rng, starts, to, rounds, received, in_order, cumulated, start, due, packets, begin, resume):
    """Stalls, stalled rounds, rounds before playback and rounds of playback before the first stall, of each session."""
    found = np.zeros((sessions, 4))
    for session in range(sessions):
        state, arrived, wait, at, i = start, 0, 0, 0.0, 0
        filling, first = True, True
        while True:
            i += 1
            if wait == 0:
                u, row = rng.random(), starts[state]
                while cumulated[row] < u and row < starts[state + 1] - 1:
                    row += 1
                there, wait = arrived + in_order[row], rounds[row] - 1
                arrived, state = arrived + received[row], to[row]
            else:
                there, wait = arrived, wait - 1
            held = there - at
            if filling and (there >= packets or held >= (begin if first else resume) - 1e-9):
                if first:
                    found[session, 2] = i - 1
                filling = first = False
            elif filling and not first:
                found[session, 1] += 1
            if not filling:
                if there >= packets:
                    break
                if held >= due - 1e-9:
                    at += due
                else:
                    if found[session, 0] == 0:
                        found[session, 3] = there / due
                    found[session, 0] += 1
                    found[session, 1] += 1 - held / due
                    at, filling = float(there), True
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

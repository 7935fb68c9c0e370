"""Sessions of a player that pauses TCP while it holds enough, one round after another."""

from __future__ import annotations

import numpy as np
from numba import njit

from written_rows import by_source


@njit(cache=True)
def drawn(
    sessions, rng, starts, to, rounds, received, in_order, cumulated, start, due, packets, begin, resume, stop, refill,
    targets, shares,
):  # fmt: skip
    """Stalls, stalled rounds, rounds before playback, and pauses of each session.

    ``targets`` and ``shares`` are by the rounds of a pause, state, and two ways.
    """
    found = np.zeros((sessions, 4))
    for session in range(sessions):
        state, arrived, wait, at, pause = start, 0.0, 0, 0.0, 0
        filling, first, i = True, True, 0
        while True:
            i += 1
            if wait == 0 and pause == 0 and not filling and arrived - at >= stop - 1e-9:
                if refill == stop:
                    arrived = at + stop
                pause = max(1, int(np.ceil((arrived - at - refill) / due - 1e-9)))
                found[session, 3] += 1
                state = targets[pause, state, 0 if rng.random() < shares[pause, state, 0] else 1]
            there = arrived
            if pause > 0:
                pause -= 1
            elif wait > 0:
                wait -= 1
            else:
                u, row = rng.random(), starts[state]
                while cumulated[row] < u and row < starts[state + 1] - 1:
                    row += 1
                there, wait = arrived + in_order[row], rounds[row] - 1
                arrived, state = arrived + received[row], to[row]
            held = there - at
            if filling and (there >= packets or held >= (begin if first else resume) - 1e-9):
                if first:
                    found[session, 2] = i - 1
                filling = first = False
            elif filling and not first:
                found[session, 1] += 1
            if not filling:
                if there >= packets and (refill < stop or packets - at <= stop + 1e-9):
                    break
                if held >= due - 1e-9:
                    at += due
                else:
                    found[session, 0] += 1
                    found[session, 1] += 1 - held / due
                    at, filling = there, True
    return found


def simulated(path, video, player, rows, after_idle, sessions, seed):
    """Sessions of the chain whose rows these are; ``after_idle`` says where pauses of so many rounds lead."""
    mu, due = video.packet_rate, video.packet_rate * path.rtt
    longest = int(np.ceil((player.client_buffer - player.refill) * mu / due + rows.received.max() / due)) + 2
    ways = [after_idle(d) for d in range(longest + 1)]
    return drawn(
        sessions, np.random.default_rng(seed), *by_source(rows), rows.start, due, video.packets,
        max(1.0, mu * player.start_buffer), max(1.0, mu * player.resume_buffer),
        mu * player.client_buffer, mu * player.refill,
        np.array([one for one, _ in ways]), np.array([one for _, one in ways]),
    )  # fmt: skip

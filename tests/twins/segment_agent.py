"""A player that fetches segments from a sender with RACK-TLP, simulated as plainly as it can be said.

The sender is that of `sack_agent` with slow start: it remembers its threshold, sends no more than is left of a segment,
and restarts after an idle time as Linux does. It knows nothing of chains, points and ladders.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sack_agent import random_rounds, repair

NONE = 10**9


@njit(cache=True)
def download(tcp, packets, p, timer, _rtt, rng):
    """Return the rounds of a segment; tcp: window, threshold, window at the loss that is repaired (0: none)."""
    left, rounds = packets, 0
    while True:
        rounds += 1
        w, threshold, before = tcp
        could, merged = repair(before, w) if before else (w, 0.0)
        sent = min(could, left)
        lost, again, last_lost = 0, False, False
        for i in range(sent):
            if rng.random() < p:
                lost += 1
                last_lost = i == sent - 1
                again = again or rng.random() < p
        tcp[2] = 0
        grown = min(2 * w, threshold) if w < threshold else w + 1
        if lost == 0:
            if not before and rng.random() < sent / could:
                tcp[0] = grown
        elif lost == sent:  # a probe after two rounds, then timers
            rounds += 2 - 1
            tcp[1], level, again = max(w // 2, 2), 1, True
            while True:
                rounds += 1
                if rng.random() < p:
                    rounds += random_rounds(timer * 2.0 ** min(level - 1, 6), rng) - 1
                    if not again:
                        tcp[1] = 2
                    level, again = min(level + 1, 7), True
                    continue
                left -= 1
                if left == 0 or not again:
                    break
                again = False
            tcp[0] = 2
            if left == 0:
                return rounds
            continue
        elif rng.random() >= merged:
            at = max(grown if not before and rng.random() < (w - 1) / (2 * w) else w, 2)
            tcp[0], tcp[1] = at // 2, max(at // 2, 2)
            tcp[2] = at
        if sent == left:
            tcp[2] = 0
            if lost == 0:
                return rounds
            rounds += 2 if last_lost else 1
            if rng.random() < p if last_lost else again:  # the probe, or a repair, is lost
                level = 1 + last_lost
                rounds += random_rounds(timer, rng)
                tcp[0], tcp[1] = 2, max(w // 2, 2)
                while rng.random() < p:
                    rounds += random_rounds(timer * 2.0 ** min(level - 1, 6), rng)
                    level += 1
            return rounds
        left -= sent - lost


@njit(cache=True)
def restart(tcp, halvings, first_window):
    """Halve the window after an idle time."""
    w = tcp[0]
    tcp[1] = max(tcp[1], 3 * w // 4)
    tcp[0] = max(w >> min(halvings, 60), min(first_window, w))


def connection(first_window):
    """Return a new connection."""
    return np.array([first_window, NONE, 0])


@njit(cache=True)
def sessions(
    download, restart, start, runs, segments, packets, segment, most, rtt, timer, p, first_window, starts, resumes,
    restarts, rng,
):  # fmt: skip
    """Return the stalls, stalled time, join time, time of downloads and restarts of each session."""
    seen = np.zeros((runs, 5))
    for run in range(runs):
        tcp = start.copy()
        held, playing = 0.0, False
        for k in range(segments):
            took = download(tcp, packets, p, timer, rtt, rng) * rtt
            seen[run, 3] += took
            if not playing:
                seen[run, 2 if seen[run, 0] == 0 else 1] += took
                held += segment
            elif took > held + 1e-9:
                seen[run, 0] += 1
                seen[run, 1] += took - held
                held, playing = segment, False
            else:
                held += segment - took
            needed = resumes if seen[run, 0] else starts
            if not playing and held > (needed - 0.5) * segment:
                playing = True
            idle = held - (most - segment)
            if playing and idle > 1e-9 and k + 1 < segments:
                held = most - segment
                timers = (rtt + idle) / (timer * rtt)
                halvings = max(0, int(np.ceil(timers - 1e-9)) - 1)
                if restarts and halvings > 0:
                    seen[run, 4] += 1
                    restart(tcp, halvings, first_window)
    return seen


def seen_by(agent, path, rate, player, segments, runs, first_window=10):
    """Return what viewers of simulated sessions see, by the names of the answers: a value for each session."""
    drawn = sessions(
        agent.download, agent.restart, agent.connection(first_window), runs, segments,
        int(np.ceil(rate * player.segment)), player.segment, player.client_buffer, path.rtt, path.timeout_ratio,
        path.loss, first_window, player.starts_with, player.resumes_with, player.idle == "restart",
        np.random.default_rng(3),
    )  # fmt: skip
    stalls, stalled, join, fetching, restarts = drawn.T
    return {
        "stall_probability": stalls > 0,
        "mean_stalls": stalls,
        "mean_total_rebuffer": stalled,
        "mean_download_time": fetching / segments,
        "restart_share": restarts / segments,
        "mean_join_time": join,
    }

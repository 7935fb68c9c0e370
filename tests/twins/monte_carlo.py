"""The model simulated, as plainly as it can be said; written without a look at the chains that it tests.

One round after the other: draw how many packets of the round arrive before the first loss, do what TCP does,
wait where TCP waits. Independent runs for finite videos, one long run with batch means for an endless one. Every
function takes a seeded ``numpy.random.Generator`` and returns estimates with their standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

BATCHES = 64
NOISE = 1e-9  # packets: floating-point noise does not make a packet late, nor a backlog


@dataclass(frozen=True)
class Estimate:
    """Per startup delay: fraction of late packets, P(no late packet), and a row of P_i (nan after the end)."""

    f: np.ndarray
    f_se: np.ndarray
    alpha: np.ndarray | None = None
    alpha_se: np.ndarray | None = None
    late: np.ndarray | None = None
    late_se: np.ndarray | None = None


@njit(cache=True)
def arrives(sent, p, rng):
    """How many of the packets sent in a round arrive: those before the first one that is lost."""
    first_lost = int(np.log(1.0 - rng.random()) / np.log(1.0 - p))
    return min(first_lost, sent)


@njit(cache=True)
def random_rounds(wait, rng):
    """A whole number of rounds whose mean is the wait."""
    below = int(np.floor(wait + 1e-9))
    return below + (1 if rng.random() < wait - below - 1e-9 else 0)


@njit(cache=True)
def backed_off(timer, level, doubled_before, rng):
    doublings = min(level, 6) if doubled_before else level - 1
    return random_rounds(timer * 2.0**doublings, rng)


@njit(cache=True)
def round_of_tcp(tcp, tcp_path, rng):
    """Let TCP send for one round; return the packets that arrive. It must not be waiting.

    tcp: window, full rounds at this window, window before a loss (0: no short round), back-off level (0:
    none), whether the next packet is a retransmission, rounds to wait.
    """
    p, max_window, timer, b, doubled_before, ceil = tcp_path
    window, level = tcp[0], tcp[3]
    if level > 0:
        if rng.random() < p:  # lost: wait for the timer of this level, then try again a level higher
            tcp[5] = backed_off(timer, level, doubled_before > 0, rng) - 1
            tcp[3], tcp[4] = min(level + 1, 7), 1
            return 0
        if tcp[4] == 1:
            tcp[4] = 0
        else:  # recovered: slow start is over at once
            tcp[0], tcp[1], tcp[3] = min(2, int(max_window)), 0, 0
        return 1
    s = arrives(window, p, rng)
    if tcp[2] > 0:  # short round
        if s >= 3:
            tcp[0] = (tcp[2] + (1 if ceil > 0 else 0)) // 2
        else:
            tcp[3], tcp[4], tcp[5] = 1, 1, random_rounds(max(timer - 1.0, 1.0), rng) - 1
        tcp[1] = tcp[2] = 0
    elif s == window:
        tcp[1] += 1
        if tcp[1] == b:
            tcp[0], tcp[1] = min(window + 1, int(max_window)), 0
    elif s == 0:
        tcp[1] = 0
        tcp[3], tcp[4], tcp[5] = 1, 1, random_rounds(timer, rng) - 1
    else:
        tcp[0], tcp[1], tcp[2] = s, 0, window
    return s


@njit(cache=True)
def new_tcp():
    return np.array([1, 0, 0, 0, 0, 0])


@njit(cache=True)
def finite_runs(tcp_path, generated, due, runs, rng):
    """Late packets of a finite video, per run and delay, and runs with a late packet, per delay and round.

    generated[i]: packets that exist by the end of round i (infinite: all were there before). due[k, i]: B_i.
    """
    delays, rounds = due.shape[0], due.shape[1] - 1
    late = np.zeros((runs, delays))
    rounds_late = np.zeros((delays, rounds))
    never = np.ones((runs, delays))
    for run in range(runs):
        tcp = new_tcp()
        delivered = 0.0
        for i in range(1, rounds + 1):
            if tcp[5] > 0:
                tcp[5] -= 1
            elif generated[i - 1] - delivered > NOISE:  # something is left to send
                delivered = min(delivered + round_of_tcp(tcp, tcp_path, rng), generated[i])
            for k in range(delays):
                behind = due[k, i] - delivered
                if behind > NOISE:
                    late[run, k] += min(behind, due[k, i] - due[k, i - 1])
                    rounds_late[k, i - 1] += 1
                    never[run, k] = 0
    return late, rounds_late, never


@njit(cache=True)
def endless_run(tcp_path, m, ahead, batches, rounds, rng):
    """Late packets per batch and delay, of a live stream without end; the first batch is not counted."""
    late = np.zeros((batches + 1, len(ahead)))
    tcp = new_tcp()
    backlog = 0.0
    for batch in range(batches + 1):
        for _ in range(rounds):
            if tcp[5] > 0:
                tcp[5] -= 1
                backlog += m
            elif backlog < NOISE:
                backlog = m
            else:
                backlog = max(backlog + m - round_of_tcp(tcp, tcp_path, rng), 0.0)
            for k in range(len(ahead)):
                if backlog <= ahead[k]:
                    break  # delays increase: no longer one is late
                late[batch, k] += min(m, backlog - ahead[k])
    return late[1:]


def tcp_path(path):
    return (
        float(path.loss),
        float(path.max_window),
        float(path.timeout_ratio),
        float(path.rounds_per_increase),
        1.0 if path.backoff == "rfc6298" else 0.0,
        1.0 if path.halving == "ceil" else 0.0,
    )


def packets_due(path, video, tau, horizon):
    """B at the end of round 0, 1, ..., and the number of packets judged."""
    mu, duration, R = video.packet_rate, video.duration, path.rtt
    if horizon == "paper":
        L = int(duration / R + NOISE)
        rounds, judged = L, mu * R * L
    else:
        rounds, judged = int(np.ceil((duration + tau) / R - NOISE)), mu * duration
    t = np.arange(rounds + 1) * R
    return np.minimum(mu * np.maximum(t - tau, 0), mu * duration), judged


def finite(path, video, taus, runs, rng, horizon, live):
    dues, judged = zip(*(packets_due(path, video, tau, horizon) for tau in taus))
    longest = max(map(len, dues))
    due = np.array([np.concatenate((B, np.full(longest - len(B), B[-1]))) for B in dues])
    if horizon == "paper":
        assert len({len(B) for B in dues}) == 1
    t = np.arange(longest) * path.rtt
    exists = video.packet_rate * np.minimum(t, video.duration) if live else np.full(longest, np.inf)
    late, rounds_late, never = finite_runs(tcp_path(path), exists, due, runs, rng)
    f, alpha, P = late / np.array(judged), never.mean(axis=0), rounds_late / runs
    for P_i, B in zip(P, dues):
        P_i[len(B) - 1 :] = np.nan  # its video is over
    return Estimate(
        f.mean(axis=0),
        f.std(axis=0, ddof=1) / np.sqrt(runs),
        alpha,
        np.sqrt(alpha * (1 - alpha) / runs),
        P,
        np.sqrt(P * (1 - P) / runs),
    )


def stored(path, video, taus, runs, rng, horizon="end"):
    """Stored media (constant rate): f, alpha and P_i for startup delays taus [s], from independent runs."""
    return finite(path, video, taus, runs, rng, horizon, live=False)


def live_finite(path, video, taus, runs, rng, horizon="end"):
    """Live streaming of the length of the video: f, alpha and P_i, from independent runs."""
    return finite(path, video, taus, runs, rng, horizon, live=True)


def live(path, video, taus, rounds, rng):
    """Live streaming without end: f for increasing startup delays taus [s], batch means of one long run."""
    ahead = video.packet_rate * np.asarray(taus, dtype=float)
    assert (np.diff(ahead) >= 0).all()
    m = video.packet_rate * path.rtt
    size = rounds // BATCHES
    f = endless_run(tcp_path(path), m, ahead, BATCHES, size, rng) / (size * m)
    return Estimate(f.mean(axis=0), f.std(axis=0, ddof=1) / np.sqrt(BATCHES))

"""Agents that draw packets: they play a video round by round, and share no code with the solvers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tcpstream import Path, Video

from .draws import WAIT
from .reno import reno, reno_round
from .sack import sack, sack_round, unused

Floats = NDArray[np.float64]

NOISE = 1e-9
"""Packets this close to a whole number are it: rounding makes no packet late."""

PARTS = 32
"""Parts of a replication of an endless stream."""


class Finite(NamedTuple):
    """Runs of a finite video.

    Attributes
    ----------
    late, never : (runs, delays) arrays
        Late packets; 1 where none was late.
    late_at : (delays,) array
        Runs that had a late packet in the round looked at.
    received : (runs,) array
        Packets received by the end of the round looked at.
    """

    late: Floats
    never: Floats
    late_at: Floats
    received: Floats


@njit(cache=True, inline="always")
def move(state: Any, tcp: Any, law: Any, seen: Any, rng: np.random.Generator) -> Any:
    """Send for one round, not waiting; return packets received, and those in order by its end."""
    whole_round_lost, reno_numbers, sack_numbers = tcp
    if whole_round_lost:
        return reno_round(state, reno_numbers, law, seen, rng)
    return sack_round(state, sack_numbers, law, seen, rng)


@njit(cache=True)
def finite(
    start: Any, tcp: Any, law: Any, exists: Any, due: Any, ends: Any, looked: Any, watched: int, runs: int,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    delays, rounds = due.shape[0], due.shape[1] - 1
    late, never = np.zeros((runs, delays)), np.ones((runs, delays))
    late_at, received_at = np.zeros(delays), np.zeros(runs)
    seen = np.zeros(1, dtype=np.int64)
    most = due[:, -1].max()
    for run in range(runs):
        state = start.copy()
        received = 0.0
        for i in range(1, rounds + 1):
            shown = received
            if state[WAIT] > 0:
                state[WAIT] -= 1
            elif exists[i - 1] - received > NOISE:
                more, in_order = move(state, tcp, law, seen, rng)
                shown = min(received + in_order, exists[i])
                received = min(received + more, exists[i])
            for k in range(delays):
                behind = due[k, i] - shown
                if behind > NOISE and i <= ends[k]:
                    late[run, k] += min(behind, due[k, i] - due[k, i - 1])
                    never[run, k] = 0.0
                    if i == looked[k]:
                        late_at[k] += 1
            if i == watched:
                received_at[run] = received
            if shown >= most:
                if i < watched:
                    received_at[run] = received
                break
    return late, never, late_at, received_at


@njit(cache=True)
def endless(
    start: Any, tcp: Any, law: Any, m: float, ahead: Any, replications: int, rounds: int,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    late = np.zeros((replications, PARTS, len(ahead)))
    seen = np.zeros(1, dtype=np.int64)
    for one in range(replications):
        state = start.copy()
        backlog = 0.0
        for part in range(-PARTS // 2, PARTS):
            for _ in range(rounds // PARTS):
                held = 0.0
                if state[WAIT] > 0:
                    state[WAIT] -= 1
                    backlog += m
                elif backlog < NOISE:
                    backlog = m
                else:
                    more, in_order = move(state, tcp, law, seen, rng)
                    held = backlog + m - in_order
                    backlog = max(backlog + m - more, 0.0)
                behind = max(backlog, held)
                if part >= 0:
                    for k in range(len(ahead)):
                        if behind - ahead[k] <= NOISE:
                            break
                        late[one, part, k] += min(m, behind - ahead[k])
    return late


@njit(cache=True)
def always(start: Any, tcp: Any, law: Any, seen: Any, replications: int, rounds: int, rng: np.random.Generator) -> Any:
    packets = np.zeros(replications)
    for one in range(replications):
        state = start.copy()
        for i in range(-(rounds // 2), rounds):
            if state[WAIT] > 0:
                state[WAIT] -= 1
                continue
            more, _ = move(state, tcp, law, seen, rng)
            if i >= 0:
                packets[one] += more
    return packets


class Agent:
    """A sender of a path, drawn packet by packet.

    With slow start it first follows a sender that remembers its thresholds for `learning` rounds: their law is what
    the chain draws from.

    Attributes
    ----------
    thresholds : int
        Timeouts from which the law of thresholds was learnt.
    """

    def __init__(self, path: Path, rng: np.random.Generator, learning: int = 2_000_000) -> None:
        self.path = path
        start, numbers = reno(path)
        self._start, self._tcp = start, (True, numbers, unused())
        if path.tcp != "reno":
            self._start, tables = sack(path)
            self._tcp = (False, numbers, tables)
        self._law = np.zeros(0)
        self.thresholds = 0
        if path.initial_window is not None and path.max_window > 1:
            seen = np.zeros(path.max_window + 2, dtype=np.int64)
            always(self._start, self._tcp, self._law, seen, 8, learning // 12, rng)
            self.thresholds = int(seen.sum())
            seen[2] += self.thresholds == 0
            self._law = np.cumsum(seen / seen.sum())
            self._law[-1] = 2.0

    def packets_per_round(self, replications: int, rounds: int, rng: np.random.Generator) -> Floats:
        """Return the mean packets received in a round, of each replication, its first third left out."""
        unseen = np.zeros(1, dtype=np.int64)
        packets = always(self._start, self._tcp, self._law, unseen, replications, rounds, rng)
        return np.asarray(packets) / rounds

    def finite(
        self, video: Video, delays: Floats, looked: Any, watched: int, runs: int, rng: np.random.Generator, *,
        live: bool, horizon: str = "end",
    ) -> Finite:  # fmt: skip
        """Play a finite video; `looked` and `watched` are rounds, 1 the first: see `Finite`."""
        R = self.path.rtt
        dues, ends = [], []
        for tau in delays:
            rounds = rounds_judged(self.path, video, tau, horizon)
            dues.append(packets_due(self.path, video, tau, rounds))
            ends.append(rounds)
        longest = max(ends)
        due = np.array([np.pad(B, (0, longest + 1 - len(B)), mode="edge") for B in dues])
        t = np.arange(longest + 1) * R
        exists = np.full(longest + 1, math.inf)
        if live:
            exists = snapped(video.packet_rate * np.minimum(t, video.duration or math.inf))
        found = finite(
            self._start, self._tcp, self._law, exists, due, np.array(ends), np.asarray(looked), watched,
            runs, rng,
        )  # fmt: skip
        return Finite(*found)

    def endless(
        self, m: float, ahead: Floats, replications: int, rounds: int, rng: np.random.Generator
    ) -> Floats:  # fmt: skip
        """Return the fraction late by replication, part of it, and increasing packets ahead, mu tau."""
        assert (np.diff(ahead) >= 0).all()
        late = endless(self._start, self._tcp, self._law, m, ahead, replications, rounds, rng)
        return np.asarray(late) / (rounds // PARTS * m)


def snapped(packets: Floats) -> Floats:
    """Move packet counts to the whole number that they are but for rounding."""
    near = np.round(packets)
    return np.where(np.abs(packets - near) <= NOISE * np.maximum(near, 1), near, packets)


def rounds_judged(path: Path, video: Video, tau: float, horizon: str) -> int:
    """Return the number of rounds that are judged."""
    assert video.duration is not None
    if horizon == "paper":
        return math.floor(video.duration / path.rtt + NOISE)
    return math.ceil((video.duration + tau) / path.rtt - NOISE)


def packets_due(path: Path, video: Video, tau: float, rounds: int) -> Floats:
    """Return B_i for i = 0 .. `rounds` [packets]."""
    t = np.maximum(np.arange(rounds + 1) * path.rtt - tau, 0.0)
    if video.curve is not None:
        return snapped(np.interp(t, *video.curve))
    assert video.duration is not None
    return snapped(video.packet_rate * np.minimum(t, video.duration))
